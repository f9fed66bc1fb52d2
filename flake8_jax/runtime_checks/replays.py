"""Runs of variants of a project: each in a copy of its own, with results captured and kept for comparison.

Vocabulary
----------
variant   the project with some of the fixes applied. replay: one run of the command in it.
eager     run under ``jax_disable_jit``: what the program means where jit cannot run it.
wide      run in float64, where it does not ask for another type: what of a difference is rounding.
blind     run with draws that do not depend on their keys: what of a program keys do not decide.
meant     run with what was meant put in at some places (see ``child.meanings``).
"""

from __future__ import annotations

import ast
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from flake8_jax.runtime_checks.project_copy import ProjectCopy, copy_project
from flake8_jax.runtime_checks.sandbox import Launch, Limits, Message, describe, missing_jax, run_child
from flake8_jax.runtime_checks.verify import Workload

Function = tuple[str, str]
"""Path and qualified name; ``<module>`` for a module itself."""


class Place(msgspec.Struct, frozen=True):
    """Where a finding is in a variant. Rows and columns are 1-based."""

    path: str
    row: int
    column: int
    last_row: int


class Variant(msgspec.Struct, frozen=True):
    """files: the contents of changed files by path. applied: the numbers of the fixes. places: of the findings not fixed."""

    files: Mapping[str, bytes] = {}
    applied: frozenset[int] = frozenset()
    places: Mapping[int, Place] = {}


class Meant(msgspec.Struct, frozen=True):
    """kind: see ``child.meanings``. name: the new one, for the kind ``name``."""

    number: int
    kind: str
    name: str = ""


class Way(msgspec.Struct, frozen=True):
    """How a variant is run."""

    eager: bool = False
    wide: bool = False
    blind: bool = False
    meant: tuple[Meant, ...] = ()


AS_IT_IS = Way()
LEAST_BLIND = 60.0
"""Seconds that a run with one key everywhere gets at least; else so many times the time of the command as it is."""
_TIMES_BLIND = 10


class Replay(msgspec.Struct, frozen=True):
    """What a run showed. folder: of its captured results, or empty. trouble: why there are none; refused: the command cannot
    be run at all; absent: nor can anything on that platform. Paths are original ones.

    visits: by number of the finding. put: the findings at which what was meant was put in. raised: exceptions seen, with the
    user's frames and the captured calls around (``within``). failure: the one that ended the command; said: the last error
    in its output. timings: function, seconds and seconds of compiling of each call. total, compiling: seconds of the command;
    processor: those that the processor worked while it compiled.
    """

    folder: str = ""
    trouble: str = ""
    refused: bool = False
    absent: bool = False
    status: int = 0
    said: str = ""
    failure: Message | None = None
    raised: tuple[Message, ...] = ()
    visits: Mapping[int, int] = {}
    entered: Mapping[int, int] = {}
    timings: tuple[tuple[int, float, float], ...] = ()
    total: float = 0.0
    compiling: float = 0.0
    processor: float = 0.0
    compilations: int = 0
    left_out: int = 0
    put: tuple[int, ...] = ()
    versions: Mapping[str, str] = {}


class Pair(msgspec.Struct, frozen=True):
    """Two replays to compare. again, other_again: second runs of them. wide: the two in float64, None where that was not
    tried. allowed: see ``child.closeness`` and ``child.printed``; noise: two runs of the original."""

    reference: Replay
    other: Replay
    again: Replay | None = None
    other_again: Replay | None = None
    wide: tuple[Replay, Replay] | None = None
    allowed: tuple[str, ...] = ()
    noise: tuple[Replay, Replay] | None = None


def _unseen() -> dict[str, Any]:
    return {"status": "unseen", "what": "", "lines": 0, "noisy": 0, "numbers": "same"}


class Compared(msgspec.Struct, frozen=True):
    """What the comparison says of each function, by number, and of what was printed (see ``child.compare``)."""

    functions: Mapping[int, dict[str, Any]] = {}
    printed: Mapping[str, Any] = msgspec.field(default_factory=_unseen)


def added_names(path: str, name: str, variant: Variant) -> list[str]:
    """Return the variables of a module that a variant binds and the original does not: the original did not compute
    them.
    """
    text = variant.files.get(path)
    if name != "<module>" or text is None:
        return []
    try:
        return sorted(_bound(text) - _bound(Path(path).read_bytes()))
    except (OSError, SyntaxError, ValueError):
        return []


def _bound(text: bytes) -> set[str]:
    """Names that a module assigns anywhere."""
    names = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


class Runner:
    """Runs variants. Counts them, and keeps what they captured below ``scratch`` as long as that lives."""

    def __init__(self, workload: Workload, roots: Sequence[str], functions: Sequence[Function], scratch: str) -> None:
        self.workload = workload
        self.roots = roots
        self.functions = functions
        self.scratch = scratch
        self.count = 0
        self._longest = 0.0  # seconds of the command as it is

    def run(self, variant: Variant, way: Way = AS_IT_IS) -> Replay:
        """Run the command. Raises OSError and CopyError."""
        self.count += 1
        home = os.path.join(self.scratch, f"copy{self.count}")
        folder = os.path.join(self.scratch, f"results{self.count}")
        os.makedirs(folder)
        try:
            return self._run(variant, copy_project(self.roots, variant.files, home), folder, way)
        finally:
            shutil.rmtree(home, ignore_errors=True)

    def _limits(self, way: Way) -> Limits:
        """With one key everywhere, a loop that draws until two numbers differ never ends."""
        given = self.workload.limits
        most = max(LEAST_BLIND, _TIMES_BLIND * self._longest)
        if not way.blind or not self._longest or (given.seconds is not None and given.seconds <= most):
            return given
        return msgspec.structs.replace(given, seconds=most)

    def _run(self, variant: Variant, made: ProjectCopy, folder: str, way: Way) -> Replay:
        work = self.workload
        request = {
            "roots": [list(pair) for pair in made.pairs],
            "command": made.command(work.command),
            "eager": way.eager,
            "wide": way.wide,
            "blind": way.blind,
            "meanings": [
                {
                    "number": meant.number,
                    "kind": meant.kind,
                    "path": made.copied(place.path),
                    "row": place.row,
                    "column": place.column,
                    "name": meant.name,
                }
                for meant in way.meant
                if (place := variant.places.get(meant.number)) is not None
            ],
            "folder": folder,
            "functions": [
                {"number": number, "path": made.copied(path), "name": name, "added": added_names(path, name, variant)}
                for number, (path, name) in enumerate(self.functions)
            ],
            "places": [
                {"number": number, "path": made.copied(place.path), "row": place.row, "column": place.column}
                for number, place in variant.places.items()
            ],
        }
        # What was compiled in an earlier run would come out of the cache in a later one.
        environment = {
            **work.environment(),
            **made.environment(),
            "JAX_ENABLE_COMPILATION_CACHE": "false",
            "PYTHONHASHSEED": "0",
            **({"JAX_ENABLE_X64": "true"} if way.wide else {}),
        }
        limits = self._limits(way)
        outcome = run_child(
            "replay",
            request,
            Launch(work.python, limits, environment, made.copied(work.cwd), work.options, work.stdin),
        )
        if way == AS_IT_IS:
            self._longest = max(self._longest, outcome.wall)
        if outcome.state == "timeout" and limits is not work.limits:
            return Replay(trouble=f"it had not ended after {limits.seconds:.0f} s; such a program may never end")
        refused = outcome.of("refused")
        if refused:
            return Replay(trouble=refused[0]["text"], refused=True)
        said, ended = outcome.of("replayed"), outcome.of("ended")
        if outcome.state in ("timeout", "memory", "signal") or not said or not ended:
            return Replay(trouble=describe(outcome, work.limits))
        seen, end = said[0], ended[0]
        lacking = missing_jax(work.python, end["versions"], [raised["message"] for raised in seen["raised"]])
        if lacking:
            return Replay(trouble=lacking, refused=True)
        if not work.is_met_by(end["versions"]):
            return Replay(
                trouble=f"there is no {work.target} device here (`jaxlint env` says what there is)", absent=True
            )
        if seen["strays"]:
            stray = seen["strays"][0]
            return Replay(
                trouble=f"the command imported {stray} itself and not its copy; start it so that the project is found "
                "through its working directory or `PYTHONPATH`"
            )
        failure = end["failure"]
        return Replay(
            folder=folder,
            status=end["status"],
            said=_last_error(outcome.output),
            failure=None if failure is None else _named(failure, made),
            raised=tuple(_named(raised, made) for raised in seen["raised"]),
            visits={int(number): count for number, count in seen["visits"].items()},
            entered={int(number): count for number, count in seen["entered"].items()},
            timings=tuple((number, seconds, compiling) for number, seconds, compiling in seen["timings"]),
            total=seen["total"],
            compiling=seen["compiling"],
            processor=seen["processor"],
            compilations=seen["compilations"],
            left_out=seen["left_out"],
            put=tuple(seen["put"]),
            versions=end["versions"],
        )

    def compare(self, pair: Pair) -> Compared:
        """Compare a pair of replays.

        Raises OSError, and RuntimeError if the comparison fails, which is a defect of jaxlint.
        """
        request = {
            "pairs": [
                {
                    "reference": pair.reference.folder,
                    "other": pair.other.folder,
                    "again": _folder(pair.again),
                    "other_again": _folder(pair.other_again),
                    "wide": None if pair.wide is None else [_folder(one) for one in pair.wide],
                    "allowed": pair.allowed,
                    "noise": [None, None] if pair.noise is None else [_folder(one) for one in pair.noise],
                }
            ]
        }
        outcome = run_child("compare", request, Launch(self.workload.python))
        compared = outcome.of("compared")
        if not compared:
            raise RuntimeError(f"comparing the results failed: {describe(outcome, self.workload.limits)}")
        return Compared(
            {int(number): found for number, found in compared[0]["functions"].items()}, compared[0]["printed"]
        )


_NAMED = re.compile(r"^(?:E\s+)?([\w.]*(?:Error|Exception)\b.*)")
_SIGNS = re.compile(r"^(?:ERROR|FAILED)\b|: error: ")


def _last_error(output: str) -> str:
    """The last line that names an exception, else one that tells of an error, else the last one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    named = [found.group(1) for line in lines if (found := _NAMED.search(line)) is not None]
    signs = [line for line in lines if _SIGNS.search(line)]
    return next(iter(named[-1:] or signs[-1:] or lines[-1:]), "")[:200]


def _folder(replay: Replay | None) -> str | None:
    return replay.folder or None if replay is not None else None


def _named(raised: Message, made: ProjectCopy) -> Message:
    return {**raised, "stack": [[made.original(path), row, name] for path, row, name in raised["stack"]]}
