"""``dev.py``: what it makes, what it leaves alone, and what it says where it cannot."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "dev.py"


@pytest.fixture
def dev() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dev", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def started(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The programs that were started, each with success; making an environment makes its folder."""
    commands: list[list[str]] = []

    def start(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append([part.replace("\\", "/") for part in command])
        if command[1:3] == ["-m", "venv"]:
            programs = Path(command[3]) / ("Scripts" if dev.os.name == "nt" else "bin")
            programs.mkdir(parents=True)
            for name in ("python", "jaxlint", "python.exe", "jaxlint.exe"):
                (programs / name).touch()
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(dev.subprocess, "run", start)
    return commands


def test_an_environment_is_made_and_filled_once(dev: ModuleType, started: list[list[str]], tmp_path: Path) -> None:
    dev.prepare(tmp_path / "env")
    made, installed = started
    assert made[1:3] == ["-m", "venv"]
    assert installed[1:4] == ["-m", "pip", "install"] and installed[-2:] == ["-e", ".[dev]"]
    dev.prepare(tmp_path / "env")
    assert len(started) == 2


def test_other_requirements_are_installed_again(dev: ModuleType, started: list[list[str]], tmp_path: Path) -> None:
    dev.prepare(tmp_path / "env")
    (tmp_path / "env" / dev.STAMP).write_text("of an older checkout", encoding="utf-8")
    dev.prepare(tmp_path / "env")
    assert [command[2] for command in started] == ["venv", "pip", "pip"]


def test_a_failing_environment_says_what_to_install(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "ensurepip is not available", "")

    monkeypatch.setattr(dev.subprocess, "run", fail)
    monkeypatch.setattr(sys, "argv", ["dev.py", "--environment", str(tmp_path / "env"), "demo"])
    assert dev.main() == 2
    said = capsys.readouterr().err
    assert "ensurepip is not available" in said and "apt install python3-venv" in said


def test_an_old_python_is_refused(dev: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(dev, "OLDEST", (99, 0))
    with pytest.raises(dev.CannotPrepare, match=r"use 3\.10 or newer"):
        dev.prepare(tmp_path / "env")
    assert not (tmp_path / "env").exists()


def test_findings_of_the_demo_are_a_success_and_arguments_go_to_pytest(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def run(command: list[str]) -> int:
        ran.append([Path(command[0]).stem, *command[1:]])
        return 1

    monkeypatch.setattr(dev, "prepare", lambda environment: {"jaxlint": "bin/jaxlint", "pytest": "bin/pytest"})
    monkeypatch.setattr(dev, "run", run)
    for arguments in (["demo"], ["test"], ["test", "-m", "not slow", "tests/rules"]):
        monkeypatch.setattr(sys, "argv", ["dev.py", *arguments])
        assert dev.main() == (0 if arguments == ["demo"] else 1)
    assert ran == [
        ["jaxlint", "examples/"],
        ["pytest", "-n", "auto", "-m", "not slow"],
        ["pytest", "-m", "not slow", "tests/rules"],
    ]
