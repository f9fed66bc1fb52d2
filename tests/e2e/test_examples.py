"""The example project: fixed as its README says, it runs on JAX; as it is shipped, it does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.projects import ROOT, python, run

PROGRAMS = ("train", "evaluate", "simulate")
QUICKLY = {"JAX_PLATFORMS": "cpu", "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
"""XLA would spend most of its time on code that runs once."""


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    copy = tmp_path / "examples"
    shutil.copytree(ROOT / "examples", copy, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    return copy


@pytest.mark.jax
def test_as_it_is_it_fails_where_jaxlint_says(examples: Path) -> None:
    done = run(python("-m", "spirals.train"), examples, paths=[examples], **QUICKLY)
    assert done.returncode == 1
    assert "TracerArrayConversionError" in done.stderr and 'model.py", line 30' in done.stderr


@pytest.mark.jax
@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch program")
def test_fixed_it_runs(examples: Path) -> None:
    fixed = run(python("-m", "flake8_jax", "--fix", "--unsafe-fixes", "."), examples)
    assert fixed.returncode == 1, "some repairs are left to people"
    patched = run(["patch", "-s", "-p1", "-i", "by_hand.patch"], examples)
    assert patched.returncode == 0, patched.stdout
    assert run(python("-m", "flake8_jax", "."), examples).stdout == "All checks passed!\n"
    for program in PROGRAMS:
        done = run(python("-m", f"spirals.{program}"), examples, paths=[examples], **QUICKLY)
        assert done.returncode == 0, done.stderr
        assert program != "evaluate" or "accuracy" in done.stdout
