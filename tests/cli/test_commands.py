"""The other commands, and how a command line is understood."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.version import Version

from flake8_jax.cli import _split, main

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("given", "command", "rest"),
    [
        (["a.py"], "check", ["a.py"]),
        (["--fix", "a.py"], "check", ["--fix", "a.py"]),
        (["check", "a.py"], "check", ["a.py"]),
        (["-q", "check", "a.py"], "check", ["-q", "a.py"]),
        (["--explain", "JAX101"], "rule", ["JAX101"]),
        (["--explain=JAX101"], "rule", ["JAX101"]),
        ([], "check", []),
    ],
)
def test_which_command_is_meant(given: list[str], command: str, rest: list[str]) -> None:
    assert _split(given) == (command, rest)


def test_version_is_bare(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert Version(capsys.readouterr().out.strip()) > Version("0.0")
    assert main(["version"]) == 0
    assert capsys.readouterr().out.startswith("jaxlint ")


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "jaxlint [check] [options] PATH" in capsys.readouterr().out


def test_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    assert "JAX001  invalid-syntax" in capsys.readouterr().out
    assert main(["rules", "--output-format", "json"]) == 0
    assert {"code", "name", "level", "summary", "opt_in", "fixable"} == set(json.loads(capsys.readouterr().out)[0])


def test_rules_that_are_off_by_default_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    marked = {line[:6]: line[:70].split() for line in capsys.readouterr().out.splitlines() if line.startswith("JAX")}
    assert {
        mark: [mark in marked[code] for code in ("JAX306", "JAX511", "JAX101")] for mark in ("opt-in", "preview")
    } == {
        "opt-in": [True, False, False],
        "preview": [False, True, False],
    }


@pytest.mark.parametrize("name", ["JAX101", "jax101", "traced-branch"])
def test_rule(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", name]) == 0
    assert capsys.readouterr().out.startswith("# traced-branch (JAX101)\n\nLevel: error (JAX raises an error")


def test_texts_call_the_lowest_level_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "pmap"]) == 0
    assert "\nLevel: note (" in capsys.readouterr().out
    assert main(["rules"]) == 0
    assert {line.split()[2] for line in capsys.readouterr().out.splitlines() if line.startswith("JAX")} == {
        "error",
        "warning",
        "note",
    }
    assert main(["rules", "--output-format", "json"]) == 0
    assert {rule["level"] for rule in json.loads(capsys.readouterr().out)} == {"error", "warning", "info"}


def test_rule_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "traced-brunch"]) == 2
    assert "did you mean `traced-branch`" in capsys.readouterr().err
    assert main(["rule", "JAX1"]) == 2
    with pytest.raises(SystemExit) as info:
        main(["rule"])
    assert info.value.code == 2


def test_all_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "--all"]) == 0
    assert capsys.readouterr().out.count("\nLevel: ") > 1


def test_config(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config"]) == 0
    assert "per-file-ignores" in capsys.readouterr().out
    assert main(["config", "src"]) == 0
    assert main(["config", "scr"]) == 2
    assert "did you mean `src`" in capsys.readouterr().err


def jaxlint(*arguments: str, stdin: bytes = b"", cwd: Path = ROOT) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "flake8_jax", *arguments],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_format_echoes() -> None:
    done = jaxlint("format", "--force-exclude", "--quiet", "--stdin-filename", "a.py", stdin=b"x=1\r\n\xff")
    assert (done.returncode, done.stdout) == (0, b"x=1\r\n\xff")


def test_a_closed_pipe_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "flake8_jax", "rule", "--all"],
            stdout=write,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    finally:
        os.close(write)
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["chek", "."], "there is no command `chek`, and no such file or directory; did you mean `check`?"),
        (["explain", "JAX101"], "did you mean `jaxlint rule`?"),
        (["check", "--selct", "JAX1"], "jaxlint check: there is no option `--selct`; did you mean `--select`?"),
        (["rules", "all"], "jaxlint rules: `all` is one argument too many"),
        (["help", "nothing"], "there is no command `nothing`"),
    ],
)
def test_a_wrong_call_is_reported_in_one_line(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        status = main(given)
    except SystemExit as error:
        status = int(str(error.code))
    captured = capsys.readouterr()
    assert (status, captured.out, captured.err.count("\n")) == (2, "", 1)
    assert said in captured.err


def test_a_directory_may_be_called_like_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chek").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["chek"]) == 0


def test_help_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["help", "check"])
    assert capsys.readouterr().out.startswith("usage: jaxlint [check] [options] [PATH ...]\n")
