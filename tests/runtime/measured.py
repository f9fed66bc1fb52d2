"""Shared by the tests of commands that start a process with JAX: skipping, programs, and running the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from flake8_jax.cli import main

Command = Callable[..., tuple[int, str, str]]

PROGRAM = """\
import functools
import jax
import jax.numpy as jnp


def loss(w, x):
    return jnp.sum((x @ w) ** 2)


@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)


@functools.partial(jax.jit, donate_argnums=0)
def donating(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)


@functools.partial(jax.jit, static_argnames="n")
def repeated(x, n):
    for _ in range(n):
        x = jnp.sin(x)
    return x


def long(w, x):
    for _ in range(60):
        w = jnp.tanh(w @ w)
    return w


def again(x):
    return jax.jit(lambda a: a * 2)(x)


def branch(x, n):
    return x if n > 3 else -x
"""


def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """``jaxlint`` in a folder with ``train.py``: status, output, and what it said on standard error."""
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            status = main(arguments)
        except SystemExit as error:
            status = int(error.code or 0)
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def data(run: Command, *arguments: str) -> tuple[int, Any]:
    """Status and JSON of a command that succeeds."""
    status, out, err = run(*arguments, "--output-format", "json")
    assert out, err
    return status, json.loads(out)


def remedies(case: dict[str, Any]) -> Sequence[str]:
    return [difference["remedy"] for difference in case["differences"]]
