"""What the ``reveal`` calls of a random program saw on JAX, and whether staged; see ``support/jax_child.py``."""

from __future__ import annotations

import linecache
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import jax

LIMIT = 300
"""So many calls of ``reveal`` are recorded for each program."""


def shown(value: Any, depth: int = 3) -> Any:
    """``[type, repr or parts]`` of a run-time value."""
    if isinstance(value, jax.core.Tracer):
        return ["tracer", ""]
    if isinstance(value, jax.Array):
        return ["array", ""]
    if isinstance(value, (list, tuple)) and depth:
        return [type(value).__name__, [shown(v, depth - 1) for v in value]]
    if isinstance(value, dict) and depth:
        return ["dict", {str(k): shown(v, depth - 1) for k, v in value.items()}]
    if value is None or isinstance(value, (bool, int, float, str)):
        return ["value", repr(value)]
    return ["other", ""]


def run(folder: Path, text: str) -> dict[str, Any]:
    """``{"reveals": {row: [[staged, fact]]}, "raised": row or 0, "error": name of the exception}``."""
    from jax._src import core

    reveals: dict[int, list[Any]] = {}
    total = 0

    def reveal(value: Any) -> None:
        nonlocal total
        total += 1
        if total <= LIMIT:
            facts = reveals.setdefault(sys._getframe(1).f_lineno, [])
            fact = [not core.trace_state_clean(), shown(value)]
            if fact not in facts:
                facts.append(fact)

    fake = types.ModuleType("jaxlint_testing")
    fake.reveal = reveal  # type: ignore[attr-defined]
    sys.modules["jaxlint_testing"] = fake
    linecache.cache["program.py"] = (len(text), None, text.splitlines(True), "program.py")
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, "program.py", "exec"), names)
    try:
        names["main"]()
    except Exception as error:  # programs may fail in any way; where is what counts
        rows = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == "program.py"]
        return {"reveals": reveals, "raised": rows[-1], "error": type(error).__name__}
    return {"reveals": reveals, "raised": 0, "error": ""}
