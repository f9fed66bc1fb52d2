"""The skill in ``skills/``: it is up to date, its links lead somewhere, and each command in it works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKILL = ROOT / "skills" / "jax-development"
TRAIN = """\
import jax
import jax.numpy as jnp

params = jnp.zeros(4)


@jax.jit
def step(x, w):
    return w - 0.1 * x.T @ (x @ w)


@jax.jit
def step_scan(x, w):
    return jax.lax.scan(lambda w, row: (w - 0.1 * row * (row @ w), None), w, x)[0]
"""
BROKEN = """\
import jax


@jax.jit
def relu(x):
    if x > 0:
        return x
    return x * 0


print(relu(2.0))
"""


def test_the_skill_is_what_its_sources_say() -> None:
    command = [sys.executable, ROOT / "scripts" / "skill.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    head = (SKILL / "SKILL.md").read_text(encoding="utf-8").split("---\n")[1]
    assert head.startswith("name: jax-development\ndescription:") and len(head) < 1024
    for page in SKILL.rglob("*.md"):
        for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).is_file(), f"{page.name}: {link}"


@pytest.mark.slow
@pytest.mark.jax
def test_each_command_of_the_skill_works(tmp_path: Path) -> None:
    """Commands may have findings (status 1), but none is a usage error, and nothing fails to start."""
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    pages = [SKILL / "SKILL.md", *sorted((SKILL / "references").glob("*.md"))]
    blocks = [block for page in pages for block in re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.DOTALL)]
    commands = [line for block in blocks for line in block.splitlines()]
    assert len(commands) > 20
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "JAX_PLATFORMS": "cpu",
    }
    failed = []
    for line in commands:
        ran = subprocess.run(
            line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        if ran.returncode not in (0, 1) or not ran.stdout + ran.stderr or "Traceback" in ran.stderr:
            failed.append((line, ran.returncode, ran.stdout[-500:], ran.stderr[-500:]))
    assert not failed
