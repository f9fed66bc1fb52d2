"""What JAX shows where literate sections have marks, compared with the marks; see ``support/jax_child.py``.

``reveal(value)`` records what a value is; ``with defect():`` says that the block must raise at a line that carries an
``# expect:`` mark.
"""

from __future__ import annotations

import linecache
import sys
import traceback
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Recorder:
    """What the running section shows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reveals: dict[tuple[str, int], list[tuple[bool, Any]]] = {}
        self.raised: set[tuple[str, int]] = set()
        self.problems: list[str] = []

    def reveal(self, value: Any) -> None:
        frame = sys._getframe(1)
        place = (str(Path(frame.f_code.co_filename).relative_to(self.folder)), frame.f_lineno)
        seen = type(value)(value) if type(value) in (list, dict) else value
        self.reveals.setdefault(place, []).append((is_staged(), seen))

    @contextmanager
    def defect(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # whatever JAX raises; its place is what counts
            self._record(error)
        else:
            self.problems.append(f"nothing raised in the defect on line {sys._getframe(2).f_lineno} of the drive")

    def _record(self, error: Exception) -> None:
        own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(str(self.folder))]
        marked = [f for f in own if "# expect:" in (f.line or "")]
        if marked:
            self.raised.add((str(Path(marked[-1].filename).relative_to(self.folder)), marked[-1].lineno or 0))
        else:
            self.problems.append("raised at a line without mark\n" + "".join(traceback.format_exception(error)))


def is_staged() -> bool:
    """JAX traces something right now."""
    from jax._src import core

    return not core.trace_state_clean()


def split_top(text: str, separator: str) -> list[str]:
    """Split at separators outside of brackets."""
    parts, depth, current = [], 0, ""
    i = 0
    while i < len(text):
        depth += (text[i] == "[") - (text[i] == "]")
        if depth == 0 and text.startswith(separator, i):
            parts.append(current)
            current = ""
            i += len(separator)
            continue
        current += text[i]
        i += 1
    return [p.strip() for p in [*parts, current] if p.strip()]


def fits(kind: str, value: Any) -> bool:
    """Whether a run-time value is what a mark says."""
    import jax
    import numpy as np

    tracer = isinstance(value, jax.core.Tracer)
    choices = split_top(kind, " or ")
    if len(choices) > 1:
        return any(fits(c, value) for c in choices)
    if kind in ("unknown", "tree"):
        return True
    if kind in ("traced", "traced concretely", "traced key"):
        return tracer
    if kind == "pytree":
        return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(value))
    if kind in ("concrete", "key"):
        return isinstance(value, jax.Array) and not tracer
    if kind == "array":
        return isinstance(value, jax.Array)
    if kind == "None":
        return value is None
    if tracer:
        return False
    if kind == "host":
        return isinstance(value, (np.ndarray, np.generic))
    if kind == "static":
        return not isinstance(value, jax.Array)
    if kind.startswith("static "):
        return not isinstance(value, jax.Array) and repr(value) == kind.removeprefix("static ")
    head, _, inner = kind.partition("[")
    if head in ("tuple", "list") and inner:
        if not isinstance(value, {"tuple": tuple, "list": list}[head]):
            return False
        parts = split_top(inner[:-1], ",")
        if parts and parts[-1] == "...":
            return all(fits(parts[0], v) for v in value)
        return len(parts) == len(value) and all(fits(p, v) for p, v in zip(parts, value, strict=True))
    return not isinstance(value, jax.Array)


def compare(reveals: list[Any], expects: list[Any], recorder: Recorder) -> list[str]:
    """Where JAX shows something else than the marks say."""
    wrong = list(recorder.problems)
    for file, row, text, eager in reveals:
        seen = recorder.reveals.get((file, row), [])
        chosen = [v for staged, v in seen if staged is not eager] or ([] if eager else [v for _, v in seen])
        kinds = split_top(text, " | ")
        if not chosen:
            wrong.append(f"{file}:{row}: never ran")
        for value in chosen:
            if not any(fits(kind, value) for kind in kinds):
                wrong.append(f"{file}:{row}: JAX shows {type(value).__name__} {value!r}, not {text}")
    for file, row in expects:
        if (file, row) not in recorder.raised:
            wrong.append(f"{file}:{row}: expected here, but JAX raises nothing")
    return list(dict.fromkeys(wrong))


def run(folder: Path, drives: list[str], reveals: list[Any], expects: list[Any]) -> list[str]:
    """Drive a section. ``reveals`` and ``expects`` are lists of ``[file, row, …]``, the marks."""
    recorder = Recorder(folder)
    fake = types.ModuleType("jaxlint_testing")
    fake.reveal = recorder.reveal  # type: ignore[attr-defined]
    fake.defect = recorder.defect  # type: ignore[attr-defined]
    sys.modules["jaxlint_testing"] = fake
    try:
        for i, drive in enumerate(drives):
            name = str(folder / f"drive_{i}.py")
            linecache.cache[name] = (len(drive), None, drive.splitlines(True), name)
            exec(compile(drive, name, "exec"), {"__name__": "drive"})
    except Exception:  # the section promised that this runs
        recorder.problems.append(traceback.format_exc())
    return compare(reveals, expects, recorder)
