"""Verdicts on what a run showed: where an error was raised, and by which inputs. No run is made."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_jax.core.findings import Verdict
from flake8_jax.runtime_checks.observations import Spot
from flake8_jax.runtime_checks.verify import Asked, Run, Workload, judged

FILE, OTHER = "/project/model.py", "/project/other.py"
BOOL = ("TracerBoolConversionError", "Attempted boolean conversion of traced array with shape float32[]")


def judge(
    error: tuple[str, str] | None,
    *stack: tuple[str, int, str],
    rows: tuple[int, int] = (10, 10),
    statement: frozenset[int] = frozenset(),
    visits: int = 1,
    rule: str = "traced-branch",
    command: tuple[str, ...] = ("python", "main.py"),
    nonfinite: int = 0,
) -> Verdict:
    """The verdict where a run raised ``error`` (type and message). stack: path, row and function, innermost first."""
    raised: list[dict[str, Any]] = []
    if error is not None:
        frames = [[path, row, function, 1] for path, row, function in stack]
        raised = [{"type": error[0], "bases": [error[0]], "message": error[1], "state": "abstract", "stack": frames}]
    watch = {"visits": {"abstract": visits} if visits else {}, "functions": ["f"], "nonfinite": nonfinite}
    runs = {mode: Run({"watches": [watch], "raised": raised}, {}) for mode in ("plain", "keys", "nans")}
    asked = Asked(rule, Spot(FILE, *rows), statement=statement)
    return judged(0, asked, runs, Workload(command, ("/project",), "/project"), {"backend": "cpu"})


@pytest.mark.parametrize(
    ("stack", "statement", "visits", "verdict"),
    [
        ([(FILE, 10, "f"), (FILE, 20, "main")], {10}, 1, "confirmed"),
        ([(OTHER, 3, "g"), (FILE, 10, "f")], {10}, 1, "confirmed"),
        ([(FILE, 12, "f")], {9, 10, 11, 12}, 1, "confirmed-elsewhere"),  # another arm of a `match`
        ([(OTHER, 3, "g"), (FILE, 12, "h")], {9, 10, 11, 12}, 1, "confirmed-elsewhere"),
        ([(FILE, 9, "f")], {10}, 1, "confirmed-elsewhere"),  # the neighboring row
        ([(FILE, 5, "f")], {10}, 0, "confirmed-elsewhere"),  # it kept the line from running
        ([(FILE, 5, "f")], {10}, 1, "refuted"),
        ([(FILE, 9, "h")], {10}, 1, "refuted"),  # a row of another function
        ([(OTHER, 10, "f")], {10}, 1, "refuted"),
    ],
)
def test_the_same_error_beside_the_line(
    stack: list[tuple[str, int, str]], statement: set[int], visits: int, verdict: str
) -> None:
    found = judge(BOOL, *stack, statement=frozenset(statement), visits=visits)
    assert found.verdict == verdict, found
    if verdict == "confirmed-elsewhere":
        row = next(row for path, row, _ in stack if path == FILE)
        assert found.reason.startswith(f"line {row} of the same ") and found.details["exception"]["type"] == BOOL[0]


@pytest.mark.parametrize("rule", ["removed-api", "traced-hash"])
def test_a_release_that_is_older_refutes_nothing(rule: str) -> None:
    found = judge(None, rule=rule)
    assert found.verdict == "inconclusive" and "this release" in found.reason, found
    assert judge(None, rule=rule, visits=0).reason == "the line did not run"


def test_another_error_on_the_line_comes_first() -> None:
    found = judge(("KeyError", "'w'"), (FILE, 10, "f"))
    assert (found.verdict, found.reason) == ("blocked", "another error comes first: KeyError: 'w'")


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (BOOL, "confirmed"),
        (("TypeError", "'float' object is not iterable"), "inconclusive"),
        (("TypeError", "'ArrayImpl' object cannot be interpreted as an integer"), "inconclusive"),
        (("ValueError", "Incompatible shapes for broadcasting: (4,) and (5,)"), "inconclusive"),
        (
            ("TypeError", "scan body function carry input and carry output must have the same type structure"),
            "confirmed",
        ),
    ],
)
def test_errors_that_made_up_inputs_may_raise(error: tuple[str, str], verdict: str) -> None:
    rule = "traced-branch" if error is BOOL else "control-flow-signature"
    found = judge(error, (FILE, 10, "f"), rule=rule, command=())
    assert (found.verdict, found.inputs) == (verdict, "synthesised"), found
    assert judge(error, (FILE, 10, "f"), rule=rule).verdict == "confirmed", "the inputs of a command are the user's"
    assert ("that may come of the made-up inputs" in found.reason) == (verdict == "inconclusive")


def test_made_up_inputs_refute_nothing_and_their_infinities_confirm_nothing() -> None:
    assert judge(None, command=()).reason == "the line ran once (abstract) and raised nothing, on made-up inputs"
    assert judge(None, command=()).verdict == "inconclusive" and judge(None).verdict == "refuted"
    infinite = {"rule": "unstable-expression", "nonfinite": 2}
    assert judge(None, command=(), **infinite).verdict == "inconclusive"  # type: ignore[arg-type]
    assert judge(None, **infinite).verdict == "confirmed"  # type: ignore[arg-type]
