"""The extension for VS Code: its own tests, that it starts the server which is there, and both in a real VS Code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flake8_jax import __version__

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"


def _missing() -> str | None:
    """What a real VS Code needs and is not here; editors/vscode/README.md says where to get it."""
    if not (EXTENSION / "node_modules" / "playwright-core").exists():
        return "run `npm ci` in editors/vscode first"
    for variable, commands in {
        "CODE_SERVER": ("code-server",),
        "CHROMIUM": ("chromium", "chromium-browser", "google-chrome"),
    }.items():
        if variable not in os.environ and not any(map(shutil.which, commands)):
            return f"{commands[0]} is not installed, and {variable} does not say where it is"
    return None


def _run(script: str) -> str:
    environment = {**os.environ, "JAXLINT_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["npm", "run", "--silent", script],
        cwd=EXTENSION,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_its_version_is_ours() -> None:
    assert json.loads((EXTENSION / "package.json").read_text())["version"] == __version__


def test_its_licence_is_ours() -> None:
    assert (EXTENSION / "LICENSE").read_text() == (ROOT / "LICENSE").read_text(), "a .vsix needs one of its own"


def test_its_readme_has_every_setting_and_command() -> None:
    contributes = json.loads((EXTENSION / "package.json").read_text())["contributes"]
    page = (EXTENSION / "README.md").read_text(encoding="utf-8")
    settings = contributes["configuration"]["properties"]
    assert [name for name in settings if f"| `{name}` |" not in page] == []
    assert [one["title"] for one in contributes["commands"] if f"jaxlint: {one['title']}" not in page] == []
    defaults = {name: setting["default"] for name, setting in settings.items() if setting["default"] is not None}
    assert [name for name, value in defaults.items() if f"| `{name}` | `{json.dumps(value)}` |" not in page] == []


def test_its_icon_is_large_enough() -> None:
    data = (EXTENSION / json.loads((EXTENSION / "package.json").read_text())["icon"]).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(data[16:20], "big") == int.from_bytes(data[20:24], "big") >= 128


def test_its_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (EXTENSION / "package-lock.json").read_text(), (
        "npm asks the one that its user has chosen"
    )


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
@pytest.mark.skipif(not (EXTENSION / "node_modules").exists(), reason="run `npm ci` in editors/vscode first")
def test_it_builds_and_starts_the_server() -> None:
    for script in ("check", "build", "test"):
        _run(script)


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
@pytest.mark.slow
@pytest.mark.skipif(_missing() is not None, reason=_missing() or "")
def test_it_works_in_a_real_vscode() -> None:
    assert "WARNING" not in _run("package")
    said = _run("test:workbench")
    assert "ok: what a user sees" in said
    counted = re.search(r"(\d+) of (\d+) inside VS Code", said)
    assert counted is not None and counted[1] == counted[2] != "0", said
