"""How often ``jaxlint prove`` runs the command: as often as a verdict or a claim of speed needs it, and no more."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flake8_jax.cli.prove import run
from flake8_jax.runtime_checks.child.printed import printed_difference
from flake8_jax.runtime_checks.child.processor_time import ProcessorTime
from flake8_jax.runtime_checks.fix_verdicts import printed_in_words
from flake8_jax.runtime_checks.prove import _Proving, _Tried
from flake8_jax.runtime_checks.replays import Compared, Replay
from flake8_jax.runtime_checks.speed import compile_time, judged

KEYS = """
import jax


def noise(key):
    return jax.random.normal(key, (4,)) + jax.random.uniform(key, (4,))


print(noise(jax.random.key(0)))
"""


@pytest.mark.jax
def test_fixes_of_one_kind_that_have_run_together_do_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "main.py").write_text(KEYS)
    monkeypatch.chdir(tmp_path)
    assert run(["--no-cache", "--write", "--output-format", "concise", ".", "--", "python", "main.py"]) == 0
    said = capsys.readouterr()
    assert "1 intended-change" in said.out and "with 1 fix that change" in said.err
    assert "with all that is proved" not in said.err
    assert "split(key)" in (tmp_path / "main.py").read_text()


@pytest.mark.parametrize(
    ("seconds", "made", "claimed"),
    [((10.0,), 0, False), ((5.0, 10.0), 1, False), ((5.0, 5.0, 5.0), 2, False), ((5.0, 5.0, 10.0), 2, True)],
    ids=["no difference", "not again", "without the fixes as fast", "confirmed"],
)
def test_a_difference_that_a_further_run_does_not_show_needs_no_other(
    seconds: tuple[float, ...], made: int, claimed: bool
) -> None:
    left = list(seconds[1:])

    def replayed(*_: Any) -> Replay:
        return Replay(total=left.pop(0))

    runner: Any = SimpleNamespace(functions=[], run=replayed, workload=SimpleNamespace(title=lambda: "main.py"))
    build: Any = lambda applied: None  # noqa: E731
    proving = _Proving([], build, runner, lambda text: None, 8, {})
    proving.base, proving.reference, proving.again = frozenset(), Replay(total=10.0), Replay(total=10.0)
    whole, _ = proving.speeds(_Tried(frozenset({1}), Replay(total=seconds[0]), Compared()))
    assert (whole.claimed, len(seconds) - 1 - len(left)) == (claimed, made)


@pytest.mark.parametrize(("processor", "claimed"), [((6.0, 6.3, 6.2), False), ((6.0, 6.3, 3.0), True)])
def test_compiling_is_faster_where_the_processor_works_less(
    processor: tuple[float, float, float], claimed: bool
) -> None:
    runs = [Replay(compiling=wall, processor=used) for wall, used in zip((8.3, 6.7, 4.0), processor)]
    assert compile_time(*runs).claimed == claimed


@pytest.mark.parametrize(("calls", "seconds", "claimed"), [(2, 4e-4, False), (20, 4e-4, True), (2, 0.4, True)])
def test_two_short_calls_tell_nothing(calls: int, seconds: float, claimed: bool) -> None:
    before, after = [seconds] * calls, [seconds / 4] * calls
    assert judged("f", before, before, after).claimed == judged("f", after, after, before).claimed == claimed


def test_the_processor_counts_once_in_steps_that_contain_others() -> None:
    clock = ProcessorTime(100.0, 50.0)
    clock.add_at(103.0, 53.0, 1.0)  # one of three seconds in which the processor worked for three
    clock.add_at(104.0, 55.0, 3.0)  # contains it
    assert clock.seconds() == pytest.approx(4.0)
    clock.add_at(106.0, 56.0, 1.0)
    assert clock.seconds() == pytest.approx(4.5)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("loss 1\n", "loss 1\n", "loss 1\n"), "the same text is printed"),
        (("loss 1.0\n", "loss 1.000001\n", "loss 1.0\n"),
         "the same text is printed, with numbers that differ by rounding"),
        (("a\ntook 1 s\n", "a\ntook 2 s\n", "a\ntook 3 s\n"),
         "the same text is printed, but for 1 line that differs from run to run, such as times"),
        (("took 1 s\n", "took 2 s\n", "took 3 s\n"), "the text that is printed differs from run to run"),
        (("loss 1\n", "loss 2\n", "loss 1\n"), ""),
    ],
)  # fmt: skip
def test_what_is_said_of_the_text(texts: tuple[str, str, str], said: str) -> None:
    assert printed_in_words(Compared(printed=printed_difference(*texts, None))) == said
