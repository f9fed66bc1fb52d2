"""Shared by the tests of ``verify``: a project with two findings, and the command in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import jax
import jax.numpy as jnp


@jax.jit
def clip(x, limit):
    if limit > 0:
        x = jnp.minimum(x, limit)
    return x


@jax.jit
def half(x):
    if x > 0:
        return x / 2
    return x
"""


def project(tmp_path: Path, main: str) -> Path:
    (tmp_path / "lib.py").write_text(PROGRAM)
    (tmp_path / "main.py").write_text(main)
    (tmp_path / "jaxlint.toml").write_text("")
    return tmp_path


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "flake8_jax", "verify", "--no-cache", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
