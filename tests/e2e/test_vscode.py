"""The extension for VS Code: its own tests, and that it starts the server which is there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flake8_jax import __version__

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"


def test_its_version_is_ours() -> None:
    assert json.loads((EXTENSION / "package.json").read_text())["version"] == __version__


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
@pytest.mark.skipif(not (EXTENSION / "node_modules").exists(), reason="run `npm ci` in editors/vscode first")
def test_it_builds_and_starts_the_server() -> None:
    environment = {**os.environ, "JAXLINT_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    for script in ("check", "build", "test"):
        done = subprocess.run(
            ["npm", "run", "--silent", script],
            cwd=EXTENSION,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
