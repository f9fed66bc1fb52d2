"""A few inputs of every kind, always the same ones. ``benchmarks/fuzz.py`` runs as many more as there is time for."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from fuzz import broke, running
from fuzz.case import Broken, Case, Failure, Tally
from fuzz.shrinking import shrunk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the children have limits of POSIX"),
]

SAMPLES = {
    "programs": 150,
    "texts": 15,
    "configurations": 12,
    "ignore_files": 40,
    "caches": 6,
    "notebooks": 15,
    "generated": 10,
    "kills": 1,
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_nothing_breaks(kind: str) -> None:
    if kind == "generated":
        pytest.importorskip("hypothesmith")
    counts = importlib.import_module(f"fuzz.{kind}").run(seed=0, count=SAMPLES[kind])
    assert sum(counts.values())


def test_what_once_broke_does_not_break_again() -> None:
    assert broke.run(seed=0, count=10**6)


@pytest.mark.parametrize("program", broke.programs(), ids=lambda program: program.name)
def test_the_corpus_says_what_broke(program: Path) -> None:
    files = sorted(program.rglob("*.py")) if program.is_dir() else [program]
    assert any(b"# Broke: " in file.read_bytes() for file in files)


# --- the suite itself: a hang, a death and an exception are reported, and belong to their case ------------------


_KIND = """\
from collections import Counter

from fuzz.case import Broken, Case, Kind


def judge(case):
    number = int(case.files["n"].split()[-1])
    while number == 1:
        pass
    if number == 3:
        os._exit(7)
    if number == 5:
        raise Broken("it broke")
    return Counter(fine=1)


KIND = Kind("some", lambda rng, number: Case({"n": b"a\\nb\\n%d" % number}), judge, seconds=1)
"""


@pytest.fixture
def broken_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A kind whose cases 1, 3 and 5 hang, end the process and raise."""
    (tmp_path / "fuzz_kinds").mkdir()
    (tmp_path / "fuzz_kinds" / "some.py").write_text(_KIND)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "fuzz_kinds.some"


def test_failures_belong_to_their_cases(broken_kind: str) -> None:
    tally = Tally()
    failures = [(failure.number, failure.label) for failure in running.cases(broken_kind, 0, range(7), tally)]
    assert failures == [(1, "hang"), (3, "the process died"), (5, "it broke")]
    assert (tally.counts["fine"], tally.counts["BROKEN"]) == (4, 3)


def test_a_failing_case_is_made_small(broken_kind: str) -> None:
    (failure,) = running.cases(broken_kind, 0, range(5, 6), Tally())
    assert shrunk(broken_kind, failure, 20.0).case.files == {"n": b"5"}
    whole = Failure(0, "another class", "", Case({"n": b"a\n5"}))
    assert shrunk(broken_kind, whole, 20.0) == whole


def test_a_class_is_an_exception_in_a_function() -> None:
    trace = 'File "/x/flake8_jax/semantics/a.py", line 3, in go\n    f()\nIndexError: list index out of range\n'
    assert Broken("engine failed on m.py", trace).label == "IndexError in semantics/a.py:go"
    assert Broken("a second --fix changes more", "text").label == "a second fix changes more"
