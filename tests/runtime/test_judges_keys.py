"""Verdicts on keys: which uses of one key a run showed. No run is made."""

from __future__ import annotations

from pathlib import Path

import pytest
from runtime.verdicts import FILE, OTHER, judged_of, key_verdicts, use_on

from flake8_jax.cli.verify import place_of
from flake8_jax.core.findings import Step
from flake8_jax.runtime_checks.observations import Spot, Use
from flake8_jax.runtime_checks.verify import Asked, Run, Workload, judged


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


def test_keys_without_values_are_no_keys_that_are_missing() -> None:
    runs = {"keys": Run({"watches": [{"visits": {"abstract": 2}}], "raised": [], "draws": []}, {})}
    asked = Asked("key-reuse", Spot(FILE, 10, 10))
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert found.reason.startswith("the line ran only while JAX traced, where keys have no values; use a command"), (
        found
    )


@pytest.mark.parametrize(("unwatched", "verdict"), [(0, "refuted"), (7, "inconclusive")])
def test_new_keys_refute_nothing_if_some_were_not_watched(unwatched: int, verdict: str) -> None:
    stack = [[FILE, 10, "f", 1]]
    draws = [{"name": "draw", "key": str(n), "about": None, "made": 1, "stack": stack} for n in range(3)]
    found = judged_of("key-reuse-in-loop", {"draws": draws, "unwatched_draws": unwatched})
    assert found.verdict == verdict and ("7 further uses" in found.reason) == bool(unwatched), found
