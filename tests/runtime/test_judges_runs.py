"""Verdicts where a run did not come to the line, or was cut: why, and what to do. No run is made."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from runtime.verdicts import FILE, OTHER, judge, use_on

from flake8_jax.runtime_checks.observations import Spot, line_in_words
from flake8_jax.runtime_checks.oracles import all_oracles
from flake8_jax.runtime_checks.sandbox import Limits
from flake8_jax.runtime_checks.verify import Asked, Run, Workload, _needing, judged, limited, verdict_of, whole


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


@pytest.mark.parametrize(("files", "used"), [([FILE], "keys"), ([OTHER], "plain"), ([], "keys")])
def test_a_run_without_jit_comes_to_no_file_that_the_first_run_did_not_load(files: list[str], used: str) -> None:
    """The first run was cut after the time of ``--for``; the second one has as much."""
    seen = {"watches": [{"visits": {}, "functions": []}], "raised": [], "files": files}
    runs = {mode: Run(seen, {}, cut=f"ended after 30 s, {mode}") for mode in ("plain", "keys")}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked("key-reuse", Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert f"ended after 30 s, {used}" in found.reason, found


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


@pytest.mark.parametrize("rule", sorted(all_oracles()))
@pytest.mark.parametrize("visits", [0, 1])
def test_a_reason_that_decides_nothing_says_what_to_do(rule: str, visits: int) -> None:
    found = judge(None, rule=rule, visits=visits)
    if found.verdict == "inconclusive":
        assert re.search(r"; (use|pass|give|read) ", found.reason), found.reason
    else:
        assert visits, found


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


@pytest.mark.parametrize(("kind", "verdict"), [("OSError", "blocked"), ("SystemExit", "inconclusive")])
def test_an_error_that_ended_the_module_says_what_else_can_be_done(kind: str, verdict: str) -> None:
    error = {"type": kind, "bases": [kind], "message": "full", "state": "eager", "origin": "", "span": None}
    raised = [error | {"stack": [[FILE, 90, "<module>", 1]], "left": [[FILE, 0, 99, 90]]}]
    run = Run({"watches": [{"visits": {}, "functions": []}], "raised": raised}, {}, failed=True)
    asked = Asked("eager-step", Spot(FILE, 10, 10))
    found = judged(0, asked, {"plain": run}, Workload(("python", "main.py"), ("/project",), "/project"), {})
    assert found.verdict == verdict and " a command that " in found.reason, found
