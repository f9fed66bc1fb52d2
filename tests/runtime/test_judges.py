"""Verdicts on what a run showed: where an error was raised, and by which inputs. No run is made."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flake8_jax.cli.verify import place_of
from flake8_jax.core.findings import Step, Verdict
from flake8_jax.runtime_checks.attribution import without_foreign
from flake8_jax.runtime_checks.observations import Spot, Use, line_in_words
from flake8_jax.runtime_checks.oracles import all_oracles
from flake8_jax.runtime_checks.sandbox import Limits
from flake8_jax.runtime_checks.statements import rows_of_loop
from flake8_jax.runtime_checks.verify import (
    Asked,
    Run,
    Workload,
    _needing,
    judged,
    limited,
    named_by,
    verdict_of,
    whole,
)

FILE, OTHER = "/project/model.py", "/project/other.py"
BOOL = ("TracerBoolConversionError", "Attempted boolean conversion of traced array with shape float32[]")


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


def test_files_of_one_name_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own, other = str(tmp_path / "model.py"), str(tmp_path / "src" / "model.py")
    assert line_in_words(own, 3, own) == "line 3"
    assert line_in_words(other, 3, own) == f"line 3 of {Path('src') / 'model.py'}"
    assert line_in_words("/elsewhere/model.py", 3, own) == "line 3 of model.py"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([FILE], "the command ended with KeyError; fix that, or use a command that comes to the line"),
        (["/project/call.py"], "the command ended with KeyError; fix that, or use a command that comes to the line"),
        (
            [OTHER],
            "nothing of its file ran before the command ended with KeyError; fix that, or use a command that comes to its file",
        ),
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
    assert found.reason.startswith(
        "the line ran once in the first run, but was not seen in the further run (without jit"
    )


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


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (Use(), "3 times (split on line 8, then uniform here)"),
        (use_on(FILE, 9), "twice (normal on line 9, then uniform here)"),
        (use_on(OTHER, 2, (FILE, 8)), "twice (split on line 8, then uniform here)"),
    ],
)
def test_the_first_use_of_a_key_is_the_one_that_the_finding_names(first: Use, said: str) -> None:
    uses = [("split", 2, "k"), ("normal", 9, "k"), ("uniform", 10, "k")]
    (found,) = key_verdicts(uses, Asked("key-reuse", Spot(FILE, 10, 10), first=first))
    assert found.reason.replace("line 2 of other.py", "line 8") == f"the same key was consumed {said}"


def test_the_place_of_a_use_in_a_file_without_findings(tmp_path: Path) -> None:
    path = tmp_path / "lib.py"
    path.write_text("x = draw(\n    key\n)\ny = x\n")
    step = Step(str(path), 0, 2, "use", "", "")
    assert place_of(step, {}) == (str(path), 2, frozenset({1, 2, 3}))
    assert place_of(step, {str(path): "y = x\n"}) == (str(path), 1, frozenset({1}))


def test_a_draw_has_the_name_of_the_function_that_the_user_called() -> None:
    """``randint`` splits the key inside."""
    draws = [
        {"name": "split", "called": "randint", "key": "k", "made": 1, "stack": [[FILE, row, "f", 1]]} for row in (9, 10)
    ]
    watch = {"visits": {"eager": 1}, "most": {"eager": 1}}
    runs = {"keys": Run({"watches": [watch], "raised": [], "draws": draws}, {})}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked("key-reuse", Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert found.reason == "the same key was consumed twice (randint on line 9, then randint here)"


def test_a_use_that_only_another_finding_names() -> None:
    """A key that is split was drawn from on line 9; nothing of what JAX303 names ran."""
    uses = [("normal", 9, "k"), ("split", 10, "k")]
    reuse = Asked("key-reuse", Spot(FILE, 10, 10), code="JAX301", first=use_on(FILE, 9))
    after_split = Asked("key-used-after-split", Spot(FILE, 10, 10), code="JAX303", first=use_on(OTHER, 2, (FILE, 8)))
    alone = key_verdicts(uses, after_split)[0]
    said = (
        "the same key was consumed twice (normal on line 9, then split here), but not first on line 2 of other.py as the "
        "finding says"
    )
    assert alone.verdict == "inconclusive"
    assert alone.reason == f"{said}; use a command in which the lines that it names use the key"
    both = key_verdicts(uses, after_split, reuse)
    assert [one.verdict for one in both] == ["confirmed-elsewhere", "confirmed"]
    assert both[0].reason == f"{said}; JAX301 on line 10 names these uses"


@pytest.mark.parametrize(
    ("uses", "verdict"),
    [
        ([("normal", 10, "a"), ("normal", 10, "a")], "confirmed"),
        ([("normal", 9, "a"), ("normal", 10, "a")], "inconclusive"),  # before the loop, which ran once
        ([("normal", 10, "a"), ("normal", 10, "b")], "refuted"),
    ],
)
def test_a_key_of_a_loop_is_used_before_in_the_loop(uses: list[tuple[str, int, str]], verdict: str) -> None:
    asked = Asked("key-reuse-in-loop", Spot(FILE, 10, 10), first=use_on(FILE, 10))
    assert key_verdicts(uses, asked)[0].verdict == verdict


def test_the_second_use_is_the_one_that_the_finding_names_too() -> None:
    """``a(key) + (b(key) if flag else 0)``, where ``a`` draws twice."""
    uses = [("normal", 1, "k"), ("normal", 2, "k")]
    asked = Asked("key-reuse", Spot(FILE, 8, 8), first=use_on(OTHER, 1), again=use_on(FILE, 30))
    (found,) = key_verdicts(uses, asked)
    assert found.verdict == "inconclusive" and "but not by line 30 as the finding says" in found.reason, found


def test_a_first_use_that_did_not_happen_refutes_nothing() -> None:
    asked = Asked("key-reuse", Spot(FILE, 10, 10), first=use_on(FILE, 9))
    (found,) = key_verdicts([("normal", 10, "a")], asked)
    assert found.verdict == "inconclusive" and "consumed first on line 9, as the finding says" in found.reason, found
    (found,) = key_verdicts([("normal", 9, "b"), ("normal", 10, "a")], asked)
    assert (found.verdict, found.reason) == ("refuted", "every key consumed here was new")


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({"trouble": "status 1"}, "did not run; status 1; use a command that runs it"),
        ({"cut": "cut", "files": [FILE]},
         "did not run; the run was cut; use a command that comes to it sooner, or let it run longer"),
        ({"cut": "cut"}, "did not run, and nothing of its file; the run was cut; use a command that runs it"),
        ({"trouble": "it took 9 s", "stopped": True, "partial": True, "files": [FILE]},
         "was not seen to run; it took 9 s; use a command that comes to it sooner"),
        ({"trouble": "it set its own trace function", "blind": True},
         "was not seen to run; it set its own trace function; use a command that sets none"),
    ],
)  # fmt: skip
def test_what_to_do_where_the_line_did_not_run(run: dict[str, Any], said: str) -> None:
    files = run.pop("files", [OTHER])
    runs = {"plain": Run({"watches": [{"visits": {}, "functions": []}], "raised": [], "files": files}, {}, **run)}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked("traced-branch", Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert (found.verdict, found.reason) == ("inconclusive", f"the line {said}")


@pytest.mark.parametrize(
    ("states", "run", "said"),
    [
        (["eager", "concrete"], {"halted": True}, "use a command that runs the line under `jit`"),
        (["eager", "abstract"], {"halted": True}, "use a command that runs for a shorter time, or let it run longer"),
        (["eager", "concrete"], {}, "fix that first"),
    ],
)
def test_a_limit_of_time_is_nothing_to_fix(states: list[str], run: dict[str, Any], said: str) -> None:
    watch = {"visits": dict.fromkeys(states, 9), "functions": ["f"]}
    runs = {"plain": Run({"watches": [watch], "raised": []}, {}, "it took 9 s", stopped=True, **run)}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked("traced-branch", Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert found.verdict == "inconclusive" and found.reason.endswith(f" and raised nothing, but it took 9 s; {said}")
    assert ("never under `jit`" in found.reason) == ("abstract" not in states), found


@pytest.mark.parametrize("visits", [0, 1])
def test_a_run_without_jit_that_is_cut_says_what_gives_it_more_time(visits: int) -> None:
    plain = Run({"watches": [{"visits": {"eager": 3}, "functions": ["f"]}], "raised": []}, {}, wall=3.0)
    watch = {"visits": {"eager": visits} if visits else {}, "most": {"eager": visits}, "functions": ["f"]}
    draws = [{"name": "normal", "key": "a", "made": 1, "stack": [[FILE, 10, "f", 1]]}]
    keys = Run({"watches": [watch], "raised": [], "draws": draws}, {}, cut="ended after 12 s")
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    asked = Asked("key-reuse", Spot(FILE, 10, 10), code="JAX301")
    found = judged(0, asked, {"plain": plain, "keys": keys}, workload, {"backend": "cpu"})
    begins = (
        "every key consumed here was new"
        if visits
        else "the line ran 3 times in the first run, but was not seen in the further run (without jit"
    )
    assert found.verdict == "inconclusive" and found.reason.startswith(begins), found
    assert found.reason.endswith("; give that run more time with `--select JAX301 --for 4m`")


@pytest.mark.parametrize(
    ("wall", "given", "enough"),
    [(None, None, 120), (None, 240, 240), (3.0, None, 12), (30.0, None, 30), (30.0, 20, 20)],
)
def test_how_long_a_run_without_jit_may_take(wall: float | None, given: float | None, enough: float) -> None:
    plain = None if wall is None else Run(None, {}, wall=wall)
    workload = Workload(("python", "main.py"), ("/project",), "/project", limits=Limits(enough=given))
    assert limited(workload, "keys", plain).limits.enough == enough


def one_error(bases: list[str], row: int, span: list[int], *asked: Asked) -> list[Verdict]:
    """Verdicts where one exception is raised on a row, in a call that comes through line 10."""
    raised = {"type": bases[0], "bases": bases, "message": "no", "state": "abstract", "span": span}
    stack = [[FILE, row, "g", 2], [FILE, 10, "f", 1]] if row != 10 else [[FILE, 10, "f", 1]]
    watch = {"visits": {"abstract": 1}, "functions": ["f", "g"]}
    seen = {"watches": [watch] * len(asked), "raised": [{**raised, "stack": stack}]}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    runs = [{"plain": Run(without_foreign(number, asked, seen), {})} for number in range(len(asked))]
    return [judged(number, one, runs[number], workload, {"backend": "cpu"}) for number, one in enumerate(asked)]


@pytest.mark.parametrize(
    ("chain", "said"),
    [
        (((FILE, 30),), "confirmed: the line waited for the device twice in one run of `main`"),
        (((OTHER, 3),), "inconclusive: the line waited for the device once in each run of its function"),
        (
            (),
            "confirmed: the line waited for the device in 2 runs of its function",
        ),  # of a step, whose loop is not in sight
    ],
)
def test_the_loop_around_a_call_that_leads_to_the_line(chain: tuple[tuple[str, int], ...], said: str) -> None:
    waits = [
        {"name": "__bool__", "state": "eager", "ready": False, "stack": [[FILE, 10, "f", run], [FILE, 30, "main", 1]]}
        for run in (2, 3)
    ]
    runs = {"plain": Run({"watches": [{"visits": {"eager": 2}}], "raised": [], "waits": waits}, {})}
    asked = Asked("sync-in-loop", Spot(FILE, 10, 10), chain=chain)
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert f"{found.verdict}: {found.reason}".startswith(said), found


@pytest.mark.parametrize(
    ("row", "runs", "shapes", "verdict"),
    [
        (10, (1, 1), ("f32[1]", "f32[2]"), "confirmed"),
        (10, (1, 2), ("f32[1]", "f32[2]"), "inconclusive"),  # of two calls, each with arrays of one length
        (10, (1, 1), ("f32[1]", "f32[1]"), "inconclusive"),  # compiled again, but for no other length
        (12, (1, 1), ("f32[1]", "f32[2]"), "inconclusive"),  # for another line of the loop
    ],
)
def test_an_array_that_grows_is_compiled_for_several_shapes(
    row: int, runs: tuple[int, int], shapes: tuple[str, str], verdict: str
) -> None:
    compiled = [
        {"name": "concatenate", "seconds": 0.1, "reason": "no", "signature": shape, "stack": [[FILE, row, "f", run]]}
        for run, shape in zip(runs, shapes)
    ]
    watch = {"visits": {"eager": 2}, "most": {"eager": 2}, "numbers": [1]}
    asked = Asked("growing-array-in-loop", Spot(FILE, 10, 10))
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    seen = Run({"watches": [watch], "raised": [], "compilations": compiled}, {})
    found = judged(0, asked, {"plain": seen}, workload, {"backend": "cpu"})
    assert found.verdict == verdict
    if verdict == "confirmed":
        assert found.reason == "JAX compiled `concatenate` of the line for 2 shapes of its arguments"


@pytest.mark.parametrize(
    ("visits", "names", "entered", "said"),
    [
        (
            {"eager": 1},
            ["add", "dot", "tanh"],
            0,
            "confirmed: JAX compiled 3 operations of the line one by one: add, dot, tanh",
        ),
        ({"eager": 2}, ["add"], 0, "confirmed: JAX compiled an operation of the line one by one: add"),
        ({"eager": 2}, ["f because"], 0, "inconclusive: the line ran twice outside of jit, and JAX had compiled its"),
        ({"eager": 16}, [], 0, "confirmed: the line ran 16 times outside of jit, and each time"),
        ({"eager": 16}, [], 16, "confirmed: the line ran 16 times outside of jit, and each time"),  # by grad
        (
            {"eager": 16},
            [],
            1,
            "inconclusive: JAX traced the function that the line calls less often than the line ran",
        ),
        ({"eager": 2}, [], 0, "inconclusive: the line ran twice outside of jit, and JAX had compiled its"),
        (
            {"abstract": 4},
            [],
            0,
            "inconclusive: the line ran only under transforms (4 times), and JAX compiled too little of it singly",
        ),
        (  # vmap without jit
            {"abstract": 4},
            ["add", "cos", "dot", "mul", "sin"],
            0,
            "confirmed: JAX compiled 5 operations of the line one by one: add, cos, dot, mul and 1 more",
        ),
    ],
)
def test_operations_that_run_one_by_one(visits: dict[str, int], names: list[str], entered: int, said: str) -> None:
    """A reason, which JAX gives for functions of the user's, comes after the name."""
    stack = [[FILE, 10, "f", 1]]
    compiled = [
        {"name": name.split()[0], "reason": " ".join(name.split()[1:]), "seconds": 0.1, "stack": stack}
        for name in names
    ]
    watch = {"visits": visits, "most": visits, "runs": dict.fromkeys(visits, 1)}
    watch |= {"entered": entered, "entered_runs": int(entered > 0)}
    runs = {"plain": Run({"watches": [watch], "raised": [], "compilations": compiled}, {})}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked("eager-step", Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert f"{found.verdict}: {found.reason}".startswith(said), found


@pytest.mark.parametrize(
    ("left_out", "given", "verdict", "said"),
    [
        (2, 3, "confirmed", "the function was called twice without `key`"),
        (0, 3, "refuted", "the function was called 3 times, each time with `key`"),
        (0, 0, "inconclusive", "the function was not called, so the default of `key` was not used; use a command that"),
    ],
)
def test_a_key_in_a_default_is_used_by_calls_without_the_argument(
    left_out: int, given: int, verdict: str, said: str
) -> None:
    watch = {"visits": {"eager": 1}, "parameter": "key", "left_out": left_out, "given": given}
    runs = {"plain": Run({"watches": [watch], "raised": []}, {})}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked("constant-key", Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert found.verdict == verdict and found.reason.startswith(said), found


@pytest.mark.parametrize(("row", "verdict"), [(11, "confirmed"), (4, "inconclusive")])
def test_compilations_before_the_loop(row: int, verdict: str) -> None:
    again = {"name": "_uniform", "seconds": 0.1, "reason": "", "stack": [[FILE, row, "main", 1]]}
    watch = {"visits": {"eager": 3}, "most": {"eager": 3}, "numbers": [1]}
    runs = {"plain": Run({"watches": [watch], "raised": [], "compilations": [again] * 3}, {})}
    asked = Asked("jit-in-loop", Spot(FILE, 10, 10), loop=rows_of_loop("\n" * 7 + "for i in x:\n f()\n\n\n g()", 10))
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert found.verdict == verdict, found


@pytest.mark.parametrize("rule", ["jit-in-loop", "jit-per-call"])
@pytest.mark.parametrize(
    ("types", "verdict"),
    [(("f32[2]", "f32[2]"), "confirmed"), (("f32[2]", "f32[3]"), "inconclusive"), (("", ""), "confirmed")],
)
def test_a_jit_further_out_compiles_as_often_for_other_types(rule: str, types: tuple[str, str], verdict: str) -> None:
    compiled = [
        {"name": "jit(cost)", "seconds": 0.1, "reason": "", "signature": one, "stack": [[FILE, 10, "main", 1]]}
        for one in types
    ]
    watch = {"visits": {"eager": 2}, "most": {"eager": 2}, "numbers": [1]}
    runs = {"plain": Run({"watches": [watch], "raised": [], "compilations": compiled}, {})}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked(rule, Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert found.verdict == verdict, found


@pytest.mark.parametrize(("files", "used"), [([FILE], "keys"), ([OTHER], "plain"), ([], "keys")])
def test_a_run_without_jit_comes_to_no_file_that_the_first_run_did_not_load(files: list[str], used: str) -> None:
    """The first run was cut after the time of ``--for``; the second one has as much."""
    seen = {"watches": [{"visits": {}, "functions": []}], "raised": [], "files": files}
    runs = {mode: Run(seen, {}, cut=f"ended after 30 s, {mode}") for mode in ("plain", "keys")}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked("key-reuse", Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert f"ended after 30 s, {used}" in found.reason, found


@pytest.mark.parametrize(
    ("derived", "nan", "verdict", "said"),
    [
        (0, None, "inconclusive", "nothing took the gradient of the line in this run; "),
        (
            0,
            ("sqrt", "forward", 10),
            "inconclusive",
            "nothing took the gradient of the line in this run (`sqrt` on line",
        ),
        (1, None, "inconclusive", "no NaN appeared on these inputs"),
        (1, ("mul", "gradient", 10), "confirmed", "with `jax_debug_nans`, `mul` gave NaN in its gradient"),
        (1, ("mul", "gradient", 7), "confirmed-elsewhere", "line 7 of the same function: "),
        (
            1,
            ("mul", "gradient", 70),
            "inconclusive",
            "the first NaN came from other code (`mul` on line 70, where",
        ),
        (1, ("sqrt", "forward", 10), "confirmed", "with `jax_debug_nans`, `sqrt` gave NaN in the value that JAX"),
        (1, ("log", "forward", 10), "inconclusive", "the first NaN came from the line (`log` on line 10, where"),
    ],
)
def test_whether_the_first_nan_is_of_the_gradient_of_the_line(
    derived: int, nan: tuple[str, str, int] | None, verdict: str, said: str
) -> None:
    """A logarithm of a negative number is NaN, but its derivative is not."""
    nans = [] if nan is None else [{"name": nan[0], "kind": nan[1], "source": [[FILE, nan[2], "f"]]}]
    watch = {"visits": {"abstract": 1}, "derived": derived, "functions": ["f"]}
    runs = {mode: Run({"watches": [watch], "raised": [], "nans": nans}, {}) for mode in ("plain", "nans")}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked("where-nan-grad", Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert found.verdict == verdict and found.reason.startswith(said), found


@pytest.mark.parametrize(
    ("row", "verdict", "said"),
    [
        (10, "confirmed", "with `jax_debug_nans`, `exp` of the line gave NaN"),
        (20, "inconclusive", "the first NaN came from other code (`exp` on line 20, where JAX stopped)"),
        (None, "inconclusive", "no NaN appeared on these inputs"),
    ],
)
def test_a_nan_counts_where_it_comes_from(row: int | None, verdict: str, said: str) -> None:
    nans = [] if row is None else [{"name": "exp", "kind": "forward", "source": [[FILE, row, "f"]]}]
    run = Run({"watches": [{"visits": {"abstract": 1}, "functions": ["f"]}], "raised": [], "nans": nans}, {})
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    asked = Asked("inf-mask-softmax", Spot(FILE, 10, 10))
    found = judged(0, asked, {"plain": run, "nans": run}, workload, {"backend": "cpu"})
    assert found.verdict == verdict and found.reason.startswith(said), found


@pytest.mark.parametrize(
    ("rule", "visits", "verdict", "said"),
    [
        ("impure-call", {"abstract": 2}, "confirmed", "it is called once a compilation: it ran twice while JAX traced"),
        ("impure-call", {"concrete": 3}, "inconclusive", "the line ran 3 times while JAX differentiated or mapped"),
        ("print-in-staged", {"concrete": 3}, "confirmed", "it prints a tracer: it ran 3 times while JAX"),
    ],
)
def test_what_grad_runs_outside_of_jit_runs_in_every_call(
    rule: str, visits: dict[str, int], verdict: str, said: str
) -> None:
    runs = {"plain": Run({"watches": [{"visits": visits, "functions": ["f"]}], "raised": []}, {})}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked(rule, Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert found.verdict == verdict and found.reason.startswith(said), found


@pytest.mark.parametrize(
    ("cut", "stopped", "option"), [("ended after 120 s", True, "--for 4m"), ("", True, "--timeout 900")]
)
def test_what_gives_a_run_more_time(cut: str, stopped: bool, option: str) -> None:
    """A run that is cut may end without a last word."""
    plain = Run({"watches": [{"visits": {"eager": 1}}], "raised": []}, {})
    keys = Run({"watches": [{"visits": {}, "functions": []}], "raised": []}, {}, trouble="x", stopped=stopped, cut=cut)
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    asked = Asked("unstable-expression", Spot(FILE, 10, 10), code="JAX703")
    found = judged(0, asked, {"plain": plain, "keys": keys}, workload, {"backend": "cpu"})
    assert found.reason.endswith(f"give that run more time with `--select JAX703 {option}`"), found


def test_a_wait_that_cannot_be_seen_is_not_denied() -> None:
    """NumPy reads an array of JAX in ``a[i] = x`` without a word."""
    runs = {"plain": Run({"watches": [{"visits": {"eager": 2}}], "raised": [], "waits": []}, {})}
    asked = Asked("sync-in-loop", Spot(FILE, 10, 10))
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert found.verdict == "inconclusive" and "inside NumPy, as in `a[i] = x`" in found.reason, found


@pytest.mark.parametrize(
    ("ready", "said"),
    [
        ([True, False, False], "confirmed: the line waited for the device twice in one run of `f`"),
        ([True, True, True], "inconclusive: the line read arrays of JAX 3 times in one run of its function, and each"),
        ([True, True, False], "inconclusive: the line read arrays of JAX 3 times in one run of its function, and the"),
        ([None, False, False], "confirmed: the line read arrays of JAX 3 times in one run of `f`"),
    ],
)
def test_to_read_an_array_that_is_ready_is_no_wait(ready: list[bool | None], said: str) -> None:
    stack = [[FILE, 10, "f", 1]]
    waits = [{"name": "__float__", "state": "eager", "ready": one, "stack": stack} for one in ready]
    found = judged_of("sync-in-loop", {"waits": waits})
    assert f"{found.verdict}: {found.reason}".startswith(said), found


@pytest.mark.parametrize(("same", "verdict"), [(True, "confirmed"), (False, "refuted")])
def test_what_an_earlier_run_showed_counts_where_the_last_one_was_cut(same: bool, verdict: str) -> None:
    draws = [
        {"name": "normal", "key": key, "made": 1, "stack": [[FILE, row, "f", 1]]}
        for row, key in ((9, "a"), (10, "a" if same else "b"))
    ]
    seen = {"watches": [{"visits": {"eager": 1}, "most": {"eager": 1}}], "raised": [], "draws": draws}
    first = Run(seen, {})
    last = Run({**seen, "watches": [{"visits": {}, "functions": []}], "draws": []}, {}, cut="ended after 9 s")
    asked = [Asked("key-reuse", Spot(FILE, 10, 10), first=use_on(FILE, 9))]
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    assert verdict_of(0, asked, [{"keys": last}, {"keys": first}], workload, {"backend": "cpu"}).verdict == verdict


def test_keys_without_values_are_no_keys_that_are_missing() -> None:
    runs = {"keys": Run({"watches": [{"visits": {"abstract": 2}}], "raised": [], "draws": []}, {})}
    asked = Asked("key-reuse", Spot(FILE, 10, 10))
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert found.reason.startswith("the line ran only while JAX traced, where keys have no values; use a command"), (
        found
    )


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


@pytest.mark.parametrize(("words", "verdict"), [({"g"}, "confirmed"), ({"h"}, "inconclusive")])
def test_a_compilation_belongs_to_the_finding_that_names_it(words: set[str], verdict: str) -> None:
    """Two functions are compiled in a loop; ``g`` alone again and again, on line 12."""
    again = {"name": "jit(g)", "seconds": 0.2, "reason": "", "stack": [[FILE, 12, "train", 1]]}
    watch = {"visits": {"eager": 3}, "most": {"eager": 3}, "numbers": [1]}
    seen = {"watches": [watch] * 2, "raised": [], "compilations": [again] * 3}
    other = Asked("jit-in-loop", Spot(FILE, 10, 10), words=frozenset({"jit", "g"}), statement=frozenset({10}))
    mine = Asked("jit-in-loop", Spot(FILE, 9, 9), words=frozenset({"jit", *words}), statement=frozenset({9}))
    runs = {"plain": Run(without_foreign(0, (mine, other), seen), {})}
    found = judged(0, mine, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert found.verdict == verdict, found


@pytest.mark.parametrize(
    ("count", "row", "verdict"), [(100, 10, "confirmed"), (2, 10, "inconclusive"), (100, 12, "inconclusive")]
)
def test_operations_for_new_shapes_are_no_new_function_in_each_iteration(count: int, row: int, verdict: str) -> None:
    again = {"name": "jit(multiply)", "seconds": 0.2, "reason": "", "stack": [[FILE, row, "train", 1]]}
    watch = {"visits": {"eager": 100}, "most": {"eager": 100}, "numbers": [1]}
    run = Run({"watches": [watch], "raised": [], "compilations": [again] * count}, {})
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    asked = Asked("transform-in-loop", Spot(FILE, 10, 10))
    assert judged(0, asked, {"plain": run}, workload, {"backend": "cpu"}).verdict == verdict


@pytest.mark.parametrize(
    ("moments", "types", "said"),
    [
        ((1.1, 2.1, 3.1), ("f32[2]",) * 3, "confirmed: compiled in several calls: 3 times `jit(add)`"),
        (
            (1.1, 1.2, 1.3),
            ("f32[2]", "f32[3]", "f32[4]"),
            "inconclusive: the line ran 3 times, and JAX compiled nothing",
        ),
        ((1.1, 1.2, 1.3), ("f32[2]",) * 3, "inconclusive: the line ran 3 times, and JAX compiled nothing again for it"),
        (
            (1.1, 2.1, 3.1),
            ("f32[2]", "f32[3]", "f32[4]"),
            "inconclusive: JAX compiled `jit(add)` in 3 runs of the line, ",
        ),
    ],
)
@pytest.mark.parametrize("rule", ["transform-in-loop", "jit-per-call"])
def test_what_is_compiled_again_is_compiled_for_equal_types_in_another_call(
    moments: tuple[float, ...], types: tuple[str, ...], said: str, rule: str
) -> None:
    compiled = [
        {
            "name": "jit(add)",
            "seconds": 0.1,
            "signature": one,
            "moment": moment,
            "stack": [[FILE, 10, "f", int(moment)]],
        }
        for moment, one in zip(moments, types)
    ]
    watch = {"visits": {"eager": 3}, "most": {"eager": 1}, "numbers": [1, 2, 3], "moments": [1.0, 2.0, 3.0]}
    run = Run({"watches": [watch], "raised": [], "compilations": compiled}, {})
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked(rule, Spot(FILE, 10, 10)), {"plain": run}, workload, {"backend": "cpu"})
    assert f"{found.verdict}: {found.reason}".startswith(said), found


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("step id=7 defined at /project/model.py:9", "confirmed: compiled in several calls: twice `jit(scan)`"),
        ("step id=7 defined at /project/model.py:4", "confirmed: compiled in several calls: twice `jit(scan)`"),
        (
            "other id=7 defined at /project/model.py:4",
            "inconclusive: JAX compiled `jit(scan)` in 2 runs of the line (line 12",
        ),
    ],
)
def test_a_loop_of_jax_compiles_for_a_new_body(function: str, said: str) -> None:
    """The finding on ``jax.jit`` is about the body of the ``scan`` on line 12, which has a finding of its own."""
    compiled = [
        {"name": "jit(scan)", "seconds": 0.1, "signature": "f32[2]", "moment": run + 0.1,
         "stack": [[FILE, 12, "f", run]], "reason": f"never seen function:\n    {function}\n  but"}
        for run in (1, 2)
    ]  # fmt: skip
    watch = {"visits": {"eager": 2}, "most": {"eager": 1}, "numbers": [1, 2], "moments": [1.0, 2.0]}
    seen = {"watches": [watch] * 2, "raised": [], "compilations": compiled}
    mine = Asked("jit-per-call", Spot(FILE, 9, 9), words=frozenset({"jit", "step"}), statement=frozenset({9}))
    scan = Asked("transform-in-loop", Spot(FILE, 12, 12), statement=frozenset({12}))
    runs = {"plain": Run(without_foreign(0, (mine, scan), seen), {})}
    found = judged(0, mine, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert f"{found.verdict}: {found.reason}".startswith(said), found


def test_the_waits_of_a_statement_over_several_lines() -> None:
    """Python counts the tests of ``a or b``, each on a line of its own, to the first one."""
    waits = [{"name": "__bool__", "state": "eager", "ready": False, "stack": [[FILE, 9, "f", 1]]}] * 3
    run = Run({"watches": [{"visits": {"eager": 3}}], "raised": [], "waits": waits}, {})
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    asked = Asked("sync-in-loop", Spot(FILE, 10, 10), statement=frozenset({9, 10, 11}))
    found = judged(0, asked, {"plain": run}, workload, {"backend": "cpu"})
    assert found.verdict == "confirmed" and found.reason.startswith("the statement of the line waited"), found


@pytest.mark.parametrize("rule", sorted(all_oracles()))
@pytest.mark.parametrize("visits", [0, 1])
def test_a_reason_that_decides_nothing_says_what_to_do(rule: str, visits: int) -> None:
    found = judge(None, rule=rule, visits=visits)
    if found.verdict == "inconclusive":
        assert re.search(r"; (use|pass|give|read) ", found.reason), found.reason
    else:
        assert visits, found


def judged_of(rule: str, seen: dict[str, Any], name: str = "", state: str = "eager") -> Verdict:
    """The verdict on row 10, which ran three times in one call."""
    watch = {"visits": {state: 3}, "most": {state: 3}, "functions": ["f"]}
    runs = {mode: Run({"watches": [watch], "raised": [], **seen}, {}) for mode in ("plain", "keys")}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    first = Use(((FILE, 10, frozenset({10})),))
    return judged(0, Asked(rule, Spot(FILE, 10, 10), name=name, first=first, again=first), runs, workload, {})


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


@pytest.mark.parametrize(("unwatched", "verdict"), [(0, "refuted"), (7, "inconclusive")])
def test_new_keys_refute_nothing_if_some_were_not_watched(unwatched: int, verdict: str) -> None:
    stack = [[FILE, 10, "f", 1]]
    draws = [{"name": "draw", "key": str(n), "about": None, "made": 1, "stack": stack} for n in range(3)]
    found = judged_of("key-reuse-in-loop", {"draws": draws, "unwatched_draws": unwatched})
    assert found.verdict == verdict and ("7 further uses" in found.reason) == bool(unwatched), found


def test_an_error_outside_tracing_is_no_trace() -> None:
    error = {"type": "ValueError", "bases": ["ValueError"], "message": "traced", "state": "eager"}
    raised = [error | {"stack": [[FILE, 10, "f", 1]], "left": [], "span": None, "origin": "numpy"}]
    assert judged_of("impure-call", {"raised": raised}).verdict == "refuted"


def test_the_manual_names_the_rules_that_no_run_proves() -> None:
    folder = Path(__file__).parents[2]
    said = (
        (folder / "docs" / "running.md").read_text(encoding="utf-8").partition("- It can neither confirm nor refute")[2]
    )
    oracles = (folder / "flake8_jax" / "runtime_checks" / "oracles").glob("[a-z]*.py")
    unproved = {path.stem.replace("_", "-") for path in oracles if "\nUNPROVED = " in path.read_text(encoding="utf-8")}
    assert set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", said.partition("\n- ")[0])) == unproved


FORMULA = Asked("unstable-expression", Spot(FILE, 10, 10), words=frozenset({"y", "log"}))


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        (FORMULA, False),
        (msgspec.structs.replace(FORMULA, formula=("log(x)", "log1p(x)")), True),
        (msgspec.structs.replace(FORMULA, words=frozenset({"return", "log"})), True),
        (msgspec.structs.replace(FORMULA, rule="key-reuse"), True),
    ],
)
def test_a_formula_that_no_run_can_compare_needs_no_run_without_jit(asked: Asked, needed: bool) -> None:
    assert bool(_needing([asked], "keys", None)) == needed


@pytest.mark.parametrize(
    ("run", "counts"),
    [
        (Run({}, {}), True),
        (Run(None, {}), False),
        (Run({}, {}, cut="ended"), False),
        (Run({}, {}, failed=True), False),
        (Run({}, {}, trouble="status 1"), False),
    ],
)
def test_a_run_without_jit_that_came_to_its_end_shows_which_lines_no_run_comes_to(run: Run, counts: bool) -> None:
    assert (whole(run) is run) == counts


@pytest.mark.parametrize(("function", "words"), [("<module>", "the program"), ("f", "the function around the line")])
def test_traces_of_a_line_of_no_function_are_counted_in_the_program(function: str, words: str) -> None:
    watch = {"visits": {"eager": 9}, "most": {"eager": 9}, "entered": 9, "functions": [function]}
    run = Run({"watches": [watch], "raised": []}, {})
    found = judged(
        0, Asked("transform-in-loop", Spot(FILE, 10, 10)), {"plain": run}, Workload((), ("/project",), "/"), {}
    )
    assert found.reason.endswith(f"JAX traced the function 9 times in one run of {words}"), found


@pytest.mark.parametrize(("kind", "verdict"), [("OSError", "blocked"), ("SystemExit", "inconclusive")])
def test_an_error_that_ended_the_module_says_what_else_can_be_done(kind: str, verdict: str) -> None:
    error = {"type": kind, "bases": [kind], "message": "full", "state": "eager", "origin": "", "span": None}
    raised = [error | {"stack": [[FILE, 90, "<module>", 1]], "left": [[FILE, 0, 99, 90]]}]
    run = Run({"watches": [{"visits": {}, "functions": []}], "raised": raised}, {}, failed=True)
    asked = Asked("eager-step", Spot(FILE, 10, 10))
    found = judged(0, asked, {"plain": run}, Workload(("python", "main.py"), ("/project",), "/project"), {})
    assert found.verdict == verdict and " a command that " in found.reason, found
