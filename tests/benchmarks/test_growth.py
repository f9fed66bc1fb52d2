"""The growth benchmark's own arithmetic and table."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the limits of a child are POSIX")


@pytest.fixture
def benchmark(importable_benchmarks: None, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, under a name of its own: the tests have a package ``growth``."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = Path(__file__).parents[2] / "benchmarks" / "growth.py"
    spec = importlib.util.spec_from_file_location("growth_benchmark", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "growth_benchmark", module)
    spec.loader.exec_module(module)
    return module


def growth(benchmark: ModuleType, *seconds: float, exit_code: int = 0) -> Any:
    """Runs at sizes 100, 200, 400."""
    runs = [benchmark.Run(100 << i, s, 1 << 20, exit_code, b"") for i, s in enumerate(seconds)]
    return benchmark.Growth("sums", tuple(runs))


def test_the_larger_exponent_counts(benchmark: ModuleType) -> None:
    assert growth(benchmark, 0.5, 1.0, 4.0).exponent == pytest.approx(2)
    assert growth(benchmark, 0.5, 1.0, 2.0).exponent == pytest.approx(1)


def test_there_is_no_exponent_below_the_noise(benchmark: ModuleType) -> None:
    assert growth(benchmark, 0.01, 0.05, 0.4).exponent is None
    assert growth(benchmark, 0.01, 0.2, 0.8).exponent == pytest.approx(2)


def test_what_is_wrong_is_reported(benchmark: ModuleType) -> None:
    assert growth(benchmark, 0.5, 1.0, 1.9).failures(2, 1.3) == []
    assert growth(benchmark, 0.2, 0.6, 1.9).failures(2, 1.3) == ["exponent over 1.3"]
    assert growth(benchmark, 1.0, 1.7, 2.5).failures(2, 1.3) == ["over 2 s"]
    assert growth(benchmark, 0.5, exit_code=-9).failures(2, 1.3) == ["exit code -9"]


def test_of_two_measurements_the_smaller_values_count(benchmark: ModuleType) -> None:
    both = benchmark.least(growth(benchmark, 0.5, 1.0, 4.0), growth(benchmark, 0.6, 0.9, 2.0))
    assert [run.seconds for run in both.runs] == [0.5, 0.9, 2.0]


def test_sizes_end_with_the_whole(benchmark: ModuleType) -> None:
    assert benchmark.sizes_of(3200) == (800, 1600, 3200)
    assert benchmark.sizes_of(1) == (1,)


@pytest.mark.slow
def test_a_small_run_prints_a_table(benchmark: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark.main(["nested-parentheses", "--scale", "0.05"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "1 programs, 0 grow too fast or take too long"
    assert lines[-2].startswith("nested-parentheses")
