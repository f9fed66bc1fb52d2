"""``check --profile``: what a recorded run knows and the text does not."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

pytestmark = pytest.mark.jax

ROOT = Path(__file__).parents[2]

LIBRARY = """
import jax.numpy as jnp


def repeated(x, count, check=False):
    if check:
        if jnp.isnan(x).any():
            raise ValueError
    for _ in range(count):
        x = x + 1
    if x.sum() > count:
        return x * 2
    return x


def scaled(x):
    return float(x) * 2


def eager(x):
    return float(x)
"""

# Nothing in the text says what is jitted, nor which parameters are static.
MAIN = """
import importlib
import jax
import jax.numpy as jnp

library = importlib.import_module("".join(["lib", "rary"]))
jitted = [jax.jit(getattr(library, name), static_argnums=tuple(at)) for name, at in (("repeated", [1]), ("scaled", []))]
library.eager(jnp.ones(()))
library.scaled(jnp.ones(()))
for run, arguments in zip(jitted, ((jnp.ones(3), 2), (jnp.ones(()),))):
    try:
        run(*arguments)
    except TypeError:
        pass
jax.jit(lambda x, y: x + y)(jnp.ones((2, 3)), 2.0)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "library.py").write_text(LIBRARY)
    (folder / "main.py").write_text(MAIN)
    jaxlint(folder, "record", "--", sys.executable, "main.py")
    return folder


def jaxlint(folder: Path, *arguments: str, errors: bool = False) -> str:
    """What it prints. errors: on standard error."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "flake8_jax", *arguments]
    done = subprocess.run(command, check=False, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode < 2, done.stdout + done.stderr
    return done.stderr if errors else done.stdout


def found(folder: Path, *arguments: str) -> list[tuple[int, str]]:
    report = json.loads(jaxlint(folder, "check", "library.py", "--isolated", "--output-format", "json", *arguments))
    return [(item["location"]["row"], item["name"]) for item in report]


def test_functions_that_were_traced_are_analysed_as_such(project: Path) -> None:
    """The count is static, the flag was never set, and one function ran without JAX tracing it."""
    assert found(project) == []
    assert found(project, "--profile", ".jaxlint/profile.json") == [(11, "traced-branch"), (17, "host-cast")]


def test_the_evidence_says_so(project: Path) -> None:
    text = jaxlint(project, "check", "library.py", "--isolated", "--profile", ".jaxlint/profile.json")
    assert "library.py:5: recorded: JAX traced `repeated`" in text


def test_compilations_have_their_signatures(project: Path) -> None:
    profile = json.loads((project / ".jaxlint" / "profile.json").read_text())
    signatures = {c["name"]: c["signatures"] for c in profile["compilations"]}
    assert any(found == ["f32[2,3], f32[] (weak)"] for found in signatures.values()), signatures


def test_what_a_function_was_given_while_jax_traced_stands_apart(project: Path) -> None:
    profile = json.loads((project / ".jaxlint" / "profile.json").read_text())
    functions = {f["qualname"]: f for f in profile["functions"]}
    assert functions["scaled"]["params"]["x"] == {"array": 1, "traced": 1}
    assert functions["scaled"]["ambient"] == {"observed": 1, "params": {"x": {"traced": 1}}, "avals": {"x": ["f32[]"]}}
    assert functions["repeated"]["ambient"] is None
    assert functions["repeated"]["avals"] == {"x": ["f32[3]"], "count": ["int"], "check": ["False"]}


LOOP = """
import jax
import jax.numpy as jnp
from functools import partial


@partial(jax.jit, static_argnames=("n", "mode"))
def step(x, n, mode):
    return x * n if mode else x


x = jnp.ones(3)
for epoch in range(5):
    x = step(x, epoch, "fast")
print(x)
"""


def test_compilations_and_statics_stand_at_the_lines_that_they_are_of(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(LOOP)
    jaxlint(tmp_path, "record", "--", sys.executable, "main.py")
    text = jaxlint(tmp_path, "check", "main.py", "--isolated", "--preview", "--profile", ".jaxlint/profile.json")
    assert (
        "JAX406" in text
        and f"main.py:14: recorded with JAX {version('jax')}: 5 compilations here" in text
        and "`jit(step)` 5 times" in text
    ), text
    (function,) = json.loads((tmp_path / ".jaxlint" / "profile.json").read_text())["functions"]
    assert function["statics"] == {"n": ["0", "1", "2", "3"]}
    assert "fast" not in (tmp_path / ".jaxlint" / "profile.json").read_text()


def other_python(folder: Path, jax: str) -> None:
    """The profile of a folder, as if another Python with this JAX had made it."""
    path = folder / ".jaxlint" / "profile.json"
    profile = json.loads(path.read_text())
    assert profile["interpreter"].startswith("…") and profile["versions"]["jax"] == version("jax")
    (folder / "env").mkdir(exist_ok=True)
    (folder / "env" / "python").write_text(f'#!/bin/sh\necho ran >> {folder}/env/runs\nexec {sys.executable} "$@"\n')
    (folder / "env" / "python").chmod(0o755)
    path.write_text(
        json.dumps({**profile, "interpreter": "env/python", "versions": {**profile["versions"], "jax": jax}})
    )


@pytest.mark.skipif(os.name == "nt", reason="the interpreter is a shell script")
def test_a_profile_says_which_python_runs_it_again(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(LOOP)
    jaxlint(tmp_path, "record", "--", sys.executable, "main.py")
    other_python(tmp_path, "0.4.1")
    said = jaxlint(tmp_path, "recompiles", "main.py:step", "--profile", ".jaxlint/profile.json", errors=True)
    assert (tmp_path / "env" / "runs").read_text() == "ran\n"
    assert (
        f"recorded with JAX 0.4.1 and Python {platform.python_version()}, and this run used JAX {version('jax')}"
        in said
    )
    text = jaxlint(tmp_path, "check", "main.py", "--isolated", "--preview", "--profile", ".jaxlint/profile.json")
    assert "recorded with JAX 0.4.1: 5 compilations here" in text
