"""``check --watch``, as a user runs it."""

from __future__ import annotations

import importlib.util
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from flake8_jax.cli import main

ROOT = Path(__file__).parents[2]
WRONG = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"


class Watching:
    """A running ``jaxlint check --watch`` whose lines can be waited for."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-u", "-m", "flake8_jax", "check", "--watch", "--output-format", "concise", "."]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            command, cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def until(self, wanted: str) -> list[str]:
        """The lines up to the first that holds this; queue.Empty if none comes."""
        seen: list[str] = []
        while not seen or wanted not in seen[-1]:
            seen.append(self._lines.get(timeout=30))
        return seen


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Watching]:
    (tmp_path / "jaxlint.toml").write_text("")
    (tmp_path / "a.py").write_text("import jax\n")
    found = Watching(tmp_path)
    yield found
    found.process.kill()
    found.process.wait()


@pytest.mark.skipif(importlib.util.find_spec("watchfiles") is None, reason="watchfiles is not installed")
def test_changes_are_linted_and_bad_settings_survived(watching: Watching, tmp_path: Path) -> None:
    watching.until("All checks passed!")
    watching.until("watching for changes")
    (tmp_path / "a.py").write_text(WRONG)
    watching.until("a.py changed")
    assert watching.until("Found 1 problem.")[0].startswith("a.py:6:8: JAX101")
    (tmp_path / "jaxlint.toml").write_text("selekt = []\n")
    watching.until("unknown key")
    (tmp_path / "jaxlint.toml").write_text("ignore = ['JAX101']\n")
    watching.until("All checks passed!")
    watching.process.send_signal(signal.SIGINT)
    assert watching.process.wait(timeout=30) == 0


def test_without_the_package(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    assert main(["check", "--watch", "."]) == 2
    assert "flake8-jax[watch]" in capsys.readouterr().err


def test_standard_input_is_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--watch", "-"]) == 2
    assert "not standard input (`-`)" in capsys.readouterr().err
