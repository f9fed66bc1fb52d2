"""Shared by the tests of verdicts on what a run showed. No run is made."""

from __future__ import annotations

from typing import Any

from flake8_jax.core.findings import Verdict
from flake8_jax.runtime_checks.attribution import without_foreign
from flake8_jax.runtime_checks.observations import Spot, Use
from flake8_jax.runtime_checks.verify import Asked, Run, Workload, judged, named_by

FILE, OTHER = "/project/model.py", "/project/other.py"


def judge(
    error: tuple[str, str] | tuple[str, str, str] | None,
    *stack: tuple[str, int, str],
    rows: tuple[int, int] = (10, 10),
    statement: frozenset[int] = frozenset(),
    visits: int = 1,
    rule: str = "traced-branch",
    command: tuple[str, ...] = ("python", "main.py"),
    nonfinite: int = 0,
    name: str = "",
) -> Verdict:
    """The verdict where a run raised ``error``: type, message, and the package that raised it. stack: path, row and function,
    innermost first."""
    raised: list[dict[str, Any]] = []
    if error is not None:
        frames = [[path, row, function, 1] for path, row, function in stack]
        raised = [{"type": error[0], "bases": [error[0]], "message": error[1], "state": "abstract", "stack": frames}]
        raised[0] |= {"origin": error[2]} if len(error) > 2 else {}
    watch = {"visits": {"abstract": visits} if visits else {}, "functions": ["f"], "nonfinite": nonfinite}
    runs = {mode: Run({"watches": [watch], "raised": raised}, {}) for mode in ("plain", "keys", "nans", "replicas")}
    asked = Asked(rule, Spot(FILE, *rows), statement=statement, name=name)
    return judged(0, asked, runs, Workload(command, ("/project",), "/project"), {"backend": "cpu"})


def key_verdicts(uses: list[tuple[str, int, str]], *asked: Asked) -> list[Verdict]:
    """Verdicts where one key is consumed by ``uses``: what each is, and its row and key. ``g`` is called on row 8."""
    draws = [
        {
            "name": name,
            "key": key,
            "made": 1,
            "stack": [*[[OTHER, row, "g", 2]] * (row < 3), [FILE, max(row, 8), "f", 1]],
        }
        for name, row, key in uses
    ]
    watch = {"visits": {"eager": 2}, "most": {"eager": 2}}
    runs = {"keys": Run({"watches": [watch] * len(asked), "raised": [], "draws": draws}, {})}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = [judged(number, one, runs, workload, {"backend": "cpu"}) for number, one in enumerate(asked)]
    return [named_by(asked, one, verdict) for one, verdict in zip(asked, found)]


def use_on(path: str, row: int, more: tuple[str, int] | None = None) -> Use:
    places = [(path, row), *([] if more is None else [more])]
    return Use(tuple((path, row, frozenset({row})) for path, row in places))


def one_error(bases: list[str], row: int, span: list[int], *asked: Asked) -> list[Verdict]:
    """Verdicts where one exception is raised on a row, in a call that comes through line 10."""
    raised = {"type": bases[0], "bases": bases, "message": "no", "state": "abstract", "span": span}
    stack = [[FILE, row, "g", 2], [FILE, 10, "f", 1]] if row != 10 else [[FILE, 10, "f", 1]]
    watch = {"visits": {"abstract": 1}, "functions": ["f", "g"]}
    seen = {"watches": [watch] * len(asked), "raised": [{**raised, "stack": stack}]}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    runs = [{"plain": Run(without_foreign(number, asked, seen), {})} for number in range(len(asked))]
    return [judged(number, one, runs[number], workload, {"backend": "cpu"}) for number, one in enumerate(asked)]


def judged_of(rule: str, seen: dict[str, Any], name: str = "", state: str = "eager") -> Verdict:
    """The verdict on row 10, which ran three times in one call."""
    watch = {"visits": {state: 3}, "most": {state: 3}, "functions": ["f"]}
    runs = {mode: Run({"watches": [watch], "raised": [], **seen}, {}) for mode in ("plain", "keys")}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    first = Use(((FILE, 10, frozenset({10})),))
    return judged(0, Asked(rule, Spot(FILE, 10, 10), name=name, first=first, again=first), runs, workload, {})
