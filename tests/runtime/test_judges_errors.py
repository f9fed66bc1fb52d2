"""Verdicts on errors of a run: where one was raised, of which finding it is, and by which inputs. No run is made."""

from __future__ import annotations

from typing import Any

import pytest
from runtime.verdicts import FILE, OTHER, judge, judged_of, one_error

from flake8_jax.runtime_checks.observations import Spot
from flake8_jax.runtime_checks.verify import Asked

BOOL = ("TracerBoolConversionError", "Attempted boolean conversion of traced array with shape float32[]")


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


@pytest.mark.parametrize(
    ("message", "origin", "row", "visits", "verdict"),
    [
        ("set_ylim() got an unexpected keyword argument 'min'", "matplotlib", 9, 1, "refuted"),
        ("set_ylim() got an unexpected keyword argument 'min'", "matplotlib", 11, 0, "inconclusive"),
        ("int() got an unexpected keyword argument", "", 9, 1, "refuted"),
        ("int() got an unexpected keyword argument", "", 5, 0, "blocked"),
        ("missing a required argument: 'c'", "jax", 9, 1, "confirmed-elsewhere"),
        ("missing a required argument: 'c'", "jax", 5, 0, "confirmed-elsewhere"),
        (
            "missing a required argument: 'c'",
            "jax",
            90,
            0,
            "inconclusive",
        ),  # far below, so it kept no line from running
        ("adam() missing 1 required positional argument", "", 12, 1, "confirmed-elsewhere"),  # of the same statement
    ],
)
def test_an_error_of_another_library_beside_the_line(
    message: str, origin: str, row: int, visits: int, verdict: str
) -> None:
    error = ("TypeError", message, origin)
    found = judge(error, (FILE, row, "f"), rule="library-call-mismatch", statement=frozenset({10, 12}), visits=visits)
    assert found.verdict == verdict, found


@pytest.mark.parametrize("rule", ["removed-api", "traced-hash"])
def test_a_release_that_is_older_refutes_nothing(rule: str) -> None:
    found = judge(None, rule=rule)
    assert found.verdict == "inconclusive" and "this release" in found.reason, found
    assert judge(None, rule=rule, visits=0).reason == "the line did not run; use a command that runs it"


@pytest.mark.parametrize(
    ("error", "row", "name", "verdict"),
    [
        (("AttributeError", "module 'jax.random' has no attribute 'KeyArray'"), 10, "jax.random.KeyArray", "confirmed"),
        (("AttributeError", "jax.tree_map was removed in JAX v0.6.0: use jax.tree.map"), 10, "tree_map", "confirmed"),
        (
            ("ImportError", "cannot import name 'host_callback' from 'jax.experimental'"),
            10,
            "host_callback",
            "confirmed",
        ),
        (("ImportError", "No module named 'jax.linear_util'"), 10, "jax.linear_util", "confirmed"),
        (("AttributeError", "jax.tree_leaves was removed in JAX v0.6.0"), 10, "jax.tree_map", "blocked"),
        (("AttributeError", "jax.tree_leaves was removed in JAX v0.6.0"), 9, "jax.tree_map", "blocked"),
        (("AttributeError", "jax.tree_leaves was removed in JAX v0.6.0"), 9, "jax.tree_leaves", "confirmed-elsewhere"),
        (("AttributeError", "jax.tree_leaves was removed in JAX v0.6.0"), 9, "", "confirmed-elsewhere"),
    ],
)
def test_a_missing_name_is_that_of_the_finding(error: tuple[str, str], row: int, name: str, verdict: str) -> None:
    found = judge(error, (FILE, row, "f"), rule="removed-api", name=name, visits=int(row == 10))
    assert found.verdict == verdict, found


@pytest.mark.parametrize(
    ("message", "visits", "verdict"),
    [
        ("step() takes 1 positional argument but 2 were given", 1, "confirmed"),
        (
            "step() takes 1 positional argument but 2 were given",
            0,
            "inconclusive",
        ),  # nothing can call what was not made
        ("", 1, "inconclusive"),
        ("the folder has to be there", 1, "inconclusive"),
    ],
)
def test_an_error_elsewhere_is_about_what_the_line_makes(message: str, visits: int, verdict: str) -> None:
    error = ("AssertionError", message)
    found = judge(error, (OTHER, 3, "main"), rule="transform-argument-mismatch", visits=visits)
    assert found.verdict == verdict, found


def test_a_long_message_ends_with_a_whole_word() -> None:
    reason = judge((BOOL[0], "of shape " * 40), (FILE, 10, "f")).reason
    assert len(reason) < 240 and reason.endswith(("of …", "shape …"))


def test_another_error_on_the_line_comes_first() -> None:
    found = judge(("KeyError", "'w'"), (FILE, 10, "f"))
    assert (found.verdict, found.reason) == ("blocked", "another error comes first: KeyError: 'w'")
    assert judge(("AssertionError", ""), (FILE, 10, "f")).reason == "another error comes first: AssertionError"


def test_a_program_that_ends_earlier_raises_no_error() -> None:
    found = judge(("SystemExit", ""), (FILE, 9, "f"), visits=0)
    said = "the program ended on line 9, before the line; use a command that runs it"
    assert (found.verdict, found.reason) == ("inconclusive", said)


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
    said = "the line ran once (abstract) and raised nothing, on made-up inputs; pass a command that uses real inputs"
    assert judge(None, command=()).reason == said
    assert judge(None, command=()).verdict == "inconclusive" and judge(None).verdict == "refuted"
    infinite = {"rule": "unstable-expression", "nonfinite": 2}
    assert judge(None, command=(), **infinite).verdict == "inconclusive"  # type: ignore[arg-type]
    assert judge(None, **infinite).verdict == "confirmed"  # type: ignore[arg-type]


BRANCH_ERROR = ["TracerBoolConversionError", "ConcretizationTypeError", "TypeError"]


def test_an_error_belongs_to_one_of_two_findings_on_a_line() -> None:
    """``float(y) if x > 0 else 0.0``: the error of the condition is one that ``float`` could raise too."""
    branch = Asked("traced-branch", Spot(FILE, 10, 10), span=(10, 20, 10, 25))
    cast = Asked("host-cast", Spot(FILE, 10, 10), span=(10, 8, 10, 16))
    found = one_error(BRANCH_ERROR, 10, [10, 20, 10, 25], branch, cast)
    assert [one.verdict for one in found] == ["confirmed", "blocked"]
    assert found[1].reason == "another error comes first: TracerBoolConversionError: no"
    (alone,) = one_error(BRANCH_ERROR, 10, [10, 20, 10, 25], cast)
    assert alone.verdict == "confirmed-elsewhere" and alone.reason.startswith("another part of line 10: "), alone


def test_an_error_in_a_called_function_belongs_to_the_finding_there() -> None:
    """``inner(x) + float(x)``"""
    branch = Asked("traced-branch", Spot(FILE, 3, 3), span=(3, 7, 3, 12))
    cast = Asked("host-cast", Spot(FILE, 10, 10), span=(10, 19, 10, 27))
    found = one_error(BRANCH_ERROR, 3, [3, 7, 3, 12], branch, cast)
    assert [one.verdict for one in found] == ["confirmed", "blocked"]


@pytest.mark.parametrize(
    ("message", "stack", "verdict"),
    [
        ("jax.tree_map is deprecated", [[FILE, 10, "f", 1]], "confirmed"),
        ("jax.xla_computation is deprecated", [[FILE, 10, "f", 1]], "inconclusive"),
        ("jax.tree_map is deprecated", [[OTHER, 3, "g", 2], [FILE, 10, "f", 1]], "inconclusive"),  # of what it calls
    ],
)
def test_a_warning_of_another_name_or_line_is_none_of_the_finding(message: str, stack: list[Any], verdict: str) -> None:
    warning = {"name": "DeprecationWarning", "message": message, "stack": stack}
    assert judged_of("deprecated-api", {"warnings": [warning]}, "jax.tree_map").verdict == verdict


def test_an_error_outside_tracing_is_no_trace() -> None:
    error = {"type": "ValueError", "bases": ["ValueError"], "message": "traced", "state": "eager"}
    raised = [error | {"stack": [[FILE, 10, "f", 1]], "left": [], "span": None, "origin": "numpy"}]
    assert judged_of("impure-call", {"raised": raised}).verdict == "refuted"
