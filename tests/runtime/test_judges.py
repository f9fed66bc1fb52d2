"""Verdicts on what a run showed: where an error was raised, and by which inputs. No run is made."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flake8_jax.core.findings import Verdict
from flake8_jax.runtime_checks.observations import Spot, line_in_words
from flake8_jax.runtime_checks.oracles import all_oracles
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
    name: str = "",
) -> Verdict:
    """The verdict where a run raised ``error`` (type and message). stack: path, row and function, innermost first."""
    raised: list[dict[str, Any]] = []
    if error is not None:
        frames = [[path, row, function, 1] for path, row, function in stack]
        raised = [{"type": error[0], "bases": [error[0]], "message": error[1], "state": "abstract", "stack": frames}]
    watch = {"visits": {"abstract": visits} if visits else {}, "functions": ["f"], "nonfinite": nonfinite}
    runs = {mode: Run({"watches": [watch], "raised": raised}, {}) for mode in ("plain", "keys", "nans", "replicas")}
    asked = Asked(rule, Spot(FILE, *rows), statement=statement, name=name)
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
    said = "the program ended on line 9, before the line; use a command that comes to it sooner"
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


def test_files_of_one_name_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own, other = str(tmp_path / "model.py"), str(tmp_path / "src" / "model.py")
    assert line_in_words(own, 3, own) == "line 3"
    assert line_in_words(other, 3, own) == f"line 3 of {Path('src') / 'model.py'}"
    assert line_in_words("/elsewhere/model.py", 3, own) == "line 3 of model.py"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([FILE], "the command ended with KeyError"),
        (["/project/call.py"], "the command ended with KeyError"),
        ([OTHER], "nothing of its file ran before the command ended with KeyError"),
    ],
)
def test_a_command_that_fails_says_whether_it_was_on_the_way(files: list[str], said: str) -> None:
    seen = {"watches": [{"visits": {}, "functions": []}], "raised": [], "files": files}
    runs = {"plain": Run(seen, {}, trouble="the command ended with KeyError", failed=True)}
    asked = Asked("traced-branch", Spot(FILE, 10, 10), chain=(("/project/call.py", 3),))
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert (found.verdict, found.reason) == ("blocked", f"the line did not run; {said}")


@pytest.mark.parametrize(("files", "verdict"), [([FILE, OTHER], "refuted"), ([FILE], "inconclusive")])
def test_a_run_without_the_call_chain_refutes_nothing(files: list[str], verdict: str) -> None:
    """The line ran outside tracing for a caller that the finding does not mention."""
    runs = {"plain": Run({"watches": [{"visits": {"eager": 1}}], "raised": [], "files": files}, {})}
    asked = Asked("impure-call", Spot(FILE, 10, 10), chain=((OTHER, 3), (FILE, 8)))
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert found.verdict == verdict
    if verdict == "inconclusive":
        assert "about a call from other.py, of which nothing ran; use a command that runs it" in found.reason


@pytest.mark.parametrize(
    ("row", "verdict", "said"),
    [
        (10, "confirmed", "compiled for every value: 3 times `jit(f)`, 0.6 s in all"),
        (12, "confirmed", "compiled for every value: 3 times `jit(f)`, 0.6 s in all"),  # of the same statement
        (
            8,
            "confirmed-elsewhere",
            "line 8 of the same function: compiled for every value: 3 times `jit(f)`, 0.6 s in all",
        ),
    ],
)
def test_compilations_for_another_line_of_the_loop(row: int, verdict: str, said: str) -> None:
    once = {"name": "jit(f)", "seconds": 0.2, "reason": "", "stack": [[OTHER, 3, "g", 2], [FILE, row, "train", 1]]}
    watch = {"visits": {"eager": 3}, "most": {"eager": 3}, "numbers": [1]}
    runs = {"plain": Run({"watches": [watch], "raised": [], "compilations": [once] * 3}, {})}
    asked = Asked("static-arg-in-loop", Spot(FILE, 10, 10), statement=frozenset({10, 11, 12}))
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert (found.verdict, found.reason) == (verdict, said)


def test_a_line_that_the_command_does_not_reach_waits_for_no_other_run() -> None:
    """The run without jit may be over when the others are confirmed."""
    plain = Run({"watches": [{"visits": {}, "functions": ["f"]}], "raised": []}, {})
    keys = msgspec.structs.replace(plain, cut="ended after 2 s, when all was confirmed", partial=True)
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    asked = Asked("key-reuse", Spot(FILE, 10, 10))
    found = judged(0, asked, {"plain": plain, "keys": keys}, workload, {"backend": "cpu"})
    assert found.reason == "the line did not run; use a command that runs it"
    reached = Run({"watches": [{"visits": {"abstract": 1}, "functions": ["f"]}], "raised": []}, {})
    found = judged(0, asked, {"plain": reached, "keys": keys}, workload, {"backend": "cpu"})
    assert found.reason.startswith("the line was not seen to run; the run was ended after 2 s")


@pytest.mark.parametrize(("chain", "first"), [((), "split on line 3"), (((FILE, 5),), "normal on line 5")])
def test_the_first_use_of_a_key_is_the_one_that_the_finding_names(
    chain: tuple[tuple[str, int], ...], first: str
) -> None:
    uses = [("split", 3), ("normal", 5), ("uniform", 10)]
    draws = [{"name": name, "key": "0", "made": 1, "stack": [[FILE, row, "f", 1]]} for name, row in uses]
    runs = {"keys": Run({"watches": [{"visits": {"eager": 1}}], "raised": [], "draws": draws}, {})}
    asked = Asked("key-reuse", Spot(FILE, 10, 10), chain=chain)
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert found.reason == f"the same key was consumed 3 times ({first}, then uniform here)"


@pytest.mark.parametrize("rule", sorted(all_oracles()))
@pytest.mark.parametrize("visits", [0, 1])
def test_a_reason_that_decides_nothing_says_what_to_do(rule: str, visits: int) -> None:
    found = judge(None, rule=rule, visits=visits)
    if found.verdict == "inconclusive":
        assert re.search(r"; (use|pass|give|read) ", found.reason), found.reason
    else:
        assert visits, found
