"""JAX's explanations of cache misses: they never fail in the program, and each stays with its own compilation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flake8_jax.runtime_checks.child.explanations import explanation_of

ROOT = Path(__file__).parents[2]

UNEXPLAINABLE = """
import jax
import jax.numpy as jnp
from jax._src import pjit, source_info_util


def fails(*_):
    raise AttributeError("an error in JAX's explanation")


source_info_util.summarize = fails
double = jax.jit(lambda x: x * 2)
print(double(jnp.ones(3)).sum(), double(jnp.ones(4)).sum())
"""

SCANS = """
import jax
import jax.numpy as jnp


def leap(x):
    def body_fn(c, _):
        return c * 2, None

    return jax.lax.scan(body_fn, x, None, length=3)[0]


def step(c, _):
    return leap(c), c


for n in (2, 20):
    jax.lax.scan(step, jnp.ones(2), None, length=n)
"""


@pytest.mark.jax
def test_an_error_in_an_explanation_does_not_reach_the_program(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(UNEXPLAINABLE)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "flake8_jax", "record", "--", "python", "main.py"]
    done = subprocess.run(command, check=False, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "6.0 8.0\n"), done.stderr
    asked = {**env, "JAX_EXPLAIN_CACHE_MISSES": "1"}
    wanted = subprocess.run(command, check=False, cwd=tmp_path, env=asked, capture_output=True, text=True)
    assert wanted.returncode == 1 and "an error in JAX's explanation" in wanted.stderr, "the user's own explanations"


@pytest.mark.jax
def test_a_scan_is_explained_by_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(SCANS)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "flake8_jax", "record", "--", "python", "main.py"]
    subprocess.run(command, check=True, cwd=tmp_path, env=env, capture_output=True)
    profile = json.loads((tmp_path / ".jaxlint" / "profile.json").read_text())
    causes = [cause for one in profile["compilations"] if "scan" in one["name"] for cause in one["causes"]]
    assert causes and all("main.py:18" in cause and "body_fn" not in cause for cause in causes), causes


@pytest.mark.parametrize(
    ("name", "row", "kept"),
    [
        ("jit(step)", 20, 1),  # by its name, although the line of the call is in a library
        ("train", 9, 0),  # a method, as JAX named it before 0.6.1
        ("jit(scan)", 7, 2),  # by its line
        ("jit(scan)", 20, None),
        ("", 20, None),
    ],
)
def test_an_explanation_stays_with_its_call(name: str, row: int, kept: int | None) -> None:
    said = [
        "TRACING CACHE MISS at main.py:9:4 (fit) because:\n  never seen function:\n    Model.train id=1 defined at m.py:3",
        "TRACING CACHE MISS at /lib/loops.py:5:4 (fit):\n  for step defined at main.py:2\n  different input types",
        "TRACING CACHE MISS at /work/main.py:7 (leap):\n  never seen function:\n    body_fn id=2 defined at main.py:6",
    ]
    assert explanation_of(name, "/work/main.py", row, said) == ("" if kept is None else said[kept])
