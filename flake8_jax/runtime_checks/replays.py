"""Runs of variants of a project: each in a copy of its own, with results captured and kept for comparison.

Vocabulary
----------
variant   the project with some of the fixes applied. replay: one run of the command in it.
eager     run under ``jax_disable_jit``: what the program means where jit cannot run it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from flake8_jax.runtime_checks.project_copy import ProjectCopy, copy_project
from flake8_jax.runtime_checks.sandbox import Launch, Message, describe, run_child
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


class Replay(msgspec.Struct, frozen=True):
    """What a run showed. folder: of its captured results, or empty. trouble: why there are none; refused: the command cannot
    be run at all; absent: nor can anything on that platform. Paths are original ones.

    visits: by number of the finding. raised: exceptions seen, with the user's frames. failure: the one that ended the
    command. timings: function, seconds and seconds of compiling of each call. total, compiling: seconds of the command.
    """

    folder: str = ""
    trouble: str = ""
    refused: bool = False
    absent: bool = False
    status: int = 0
    failure: Message | None = None
    raised: tuple[Message, ...] = ()
    visits: Mapping[int, int] = {}
    entered: Mapping[int, int] = {}
    timings: tuple[tuple[int, float, float], ...] = ()
    total: float = 0.0
    compiling: float = 0.0
    compilations: int = 0
    left_out: int = 0
    versions: Mapping[str, str] = {}


class Runner:
    """Runs variants. Counts them, and keeps what they captured below ``scratch`` as long as that lives."""

    def __init__(self, workload: Workload, roots: Sequence[str], functions: Sequence[Function], scratch: str) -> None:
        self.workload = workload
        self.roots = roots
        self.functions = functions
        self.scratch = scratch
        self.count = 0

    def run(self, variant: Variant, *, eager: bool = False) -> Replay:
        """Run the command. Raises OSError, CopyError."""
        self.count += 1
        home = os.path.join(self.scratch, f"copy{self.count}")
        folder = os.path.join(self.scratch, f"results{self.count}")
        os.makedirs(folder)
        try:
            return self._run(variant, copy_project(self.roots, variant.files, home), folder, eager)
        finally:
            shutil.rmtree(home, ignore_errors=True)

    def _run(self, variant: Variant, made: ProjectCopy, folder: str, eager: bool) -> Replay:
        work = self.workload
        request = {
            "roots": [list(pair) for pair in made.pairs],
            "command": made.command(work.command),
            "mode": "eager" if eager else "plain",
            "folder": folder,
            "functions": [
                {"number": number, "path": made.copied(path), "name": name}
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
        }
        outcome = run_child("replay", request, Launch(work.python, work.limits, environment, made.copied(work.cwd)))
        refused = outcome.of("refused")
        if refused:
            return Replay(trouble=refused[0]["text"], refused=True)
        said, ended = outcome.of("replayed"), outcome.of("ended")
        if outcome.state in ("timeout", "memory", "signal") or not said or not ended:
            return Replay(trouble=describe(outcome, work.limits))
        seen, end = said[0], ended[0]
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
            failure=None if failure is None else _named(failure, made),
            raised=tuple(_named(raised, made) for raised in seen["raised"]),
            visits={int(number): count for number, count in seen["visits"].items()},
            entered={int(number): count for number, count in seen["entered"].items()},
            timings=tuple((number, seconds, compiling) for number, seconds, compiling in seen["timings"]),
            total=seen["total"],
            compiling=seen["compiling"],
            compilations=seen["compilations"],
            left_out=seen["left_out"],
            versions=end["versions"],
        )

    def compare(self, pairs: Sequence[tuple[Replay, Replay, Replay | None]]) -> list[dict[int, dict[str, Any]]]:
        """What the comparison of each pair says of each function (see ``child.compare``); the third: the first again.

        Raises OSError, and RuntimeError where the comparison fails: a defect of ours.
        """
        request = {
            "pairs": [
                {"reference": a.folder, "other": b.folder, "again": again.folder if again and again.folder else None}
                for a, b, again in pairs
            ]
        }
        outcome = run_child("compare", request, Launch(self.workload.python))
        compared = outcome.of("compared")
        if len(compared) != len(pairs):
            raise RuntimeError(f"comparing the results failed: {describe(outcome, self.workload.limits)}")
        return [{int(number): found for number, found in one["functions"].items()} for one in compared]


def _named(raised: Message, made: ProjectCopy) -> Message:
    return {**raised, "stack": [[made.original(path), row, name] for path, row, name in raised["stack"]]}
