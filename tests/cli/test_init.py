"""``jaxlint init`` and ``jaxlint completion``: what helps to start."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from flake8_jax.cli import init, main
from flake8_jax.settings.tables import decoded_toml

PYPROJECT = '[project]\nname = "x"\n'
PRE_COMMIT = """\
# hooks
repos:
- repo: https://example.org/a
  rev: v1
  hooks:
  - id: a   # one

  # two
  - id: b

ci:
  autofix: false
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_new_project_gets_three_files_that_work(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--yes"]) == 0
    said = capsys.readouterr().out
    assert said.count("--- /dev/null") == 3
    assert "+++ b/jaxlint.toml" in said
    uncommented = [line.removeprefix("# ") for line in init.CONFIGURATION.splitlines() if " = " in line]
    (project / "jaxlint.toml").write_text("\n".join(uncommented), encoding="utf-8")
    (project / "a.py").write_text("import jax\n", encoding="utf-8")
    assert main(["check", "-n", "."]) == 0, capsys.readouterr().err
    (repository,) = yaml.safe_load((project / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert repository["hooks"][0]["id"] == "jaxlint"
    workflow = yaml.safe_load((project / ".github/workflows/jaxlint.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["jaxlint"]["steps"][-1]["run"] == "jaxlint check --output-format github ."
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert main(["init", "--yes"]) == 0
    assert capsys.readouterr().out.count("unchanged") == 3
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_exists_keeps_what_it_has(newline: str, project: Path) -> None:
    for name, text in (
        ("pyproject.toml", PYPROJECT),
        (".pre-commit-config.yaml", PRE_COMMIT),
        (".gitlab-ci.yml", "a:\n  script: b"),
    ):
        (project / name).write_bytes(text.replace("\n", newline).encode())
    assert main(["init", "-y"]) == 0
    written = {
        name: (project / name).read_bytes().decode()
        for name in ("pyproject.toml", ".pre-commit-config.yaml", ".gitlab-ci.yml")
    }
    assert all(text.count("\n") == text.count(newline) for text in written.values())
    assert decoded_toml(written["pyproject.toml"])["tool"]["jaxlint"] == {}
    hooks = yaml.safe_load(written[".pre-commit-config.yaml"])
    assert [hook["id"] for repository in hooks["repos"] for hook in repository["hooks"]] == ["a", "b", "jaxlint"]
    assert hooks["ci"] == {"autofix": False}
    assert "# two" in written[".pre-commit-config.yaml"]
    assert list(yaml.safe_load(written[".gitlab-ci.yml"])) == ["a", "jaxlint"]
    assert not (project / ".github").exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("pyproject.toml", "tool = { other = 1 }\n", "add `jaxlint = {}` to the table `tool` by hand"),
        (".pre-commit-config.yaml", "repos: [{repo: meta, hooks: []}]\n", "add by hand:\n- repo: local"),
        (".gitlab-ci.yml", "spec:\n  inputs: {}\n---\na: {script: b}\n", "add by hand:\n# Lint with jaxlint"),
    ],
)
def test_what_is_in_doubt_is_left_alone(
    name: str, text: str, said: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / name).write_text(text, encoding="utf-8")
    assert main(["init", "--yes"]) == 0
    assert said in capsys.readouterr().out
    assert (project / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("pyproject.toml", b"[project\n", "pyproject.toml:1: invalid TOML"),
        (".pre-commit-config.yaml", b"\xff", ".pre-commit-config.yaml: not UTF-8"),
        ("jaxlint.toml", None, "jaxlint.toml: cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    name: str, data: bytes | None, said: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / name
    path.mkdir() if data is None else path.write_bytes(data)
    assert main(["init", "--yes"]) == 2
    assert said in capsys.readouterr().err
    assert [found.name for found in project.iterdir()] == [name]
    assert main(["init", "nowhere"]) == 2


def test_nothing_is_written_without_consent(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\ny\ny\n"))
    assert main(["init"]) == 1
    assert "add --yes to write these changes" in capsys.readouterr().err
    assert not list(project.iterdir())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    answers = iter(["n", "yes"])
    assert init.run(["--skip", "ci"], ask=lambda question: next(answers)) == 1
    assert [path.name for path in project.iterdir()] == [".pre-commit-config.yaml"]


def test_a_file_that_changes_after_its_diff_is_left_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    path = project / "jaxlint.toml"

    def ask(question: str) -> str:
        path.write_text("preview = true\n", encoding="utf-8")
        return "y"

    assert init.run(["--skip", "ci", "--skip", "pre-commit"], ask=ask) == 2
    assert path.read_text(encoding="utf-8") == "preview = true\n"


BASH = """\
source {script}
complete_it() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=(); _shtab_jaxlint; echo "${{COMPREPLY[@]}}"; }}
complete_it jaxlint ch
complete_it jaxlint check --sel
complete_it jaxlint check --select JAX10
complete_it jaxlint rule traced-b
complete_it jaxlint config ""
complete -p jaxlint
"""


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_shells_complete(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert main(["completion", shell]) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    lines = ["jaxlint ch", "jaxlint check --sel", "jaxlint check --select JAX10", "jaxlint rule traced-b"]
    commands = BASH.format(script=script)
    if shell == "fish":
        commands = f"source {script}\n" + "".join(f'complete -C "{line}"\n' for line in lines)
    done = subprocess.run(
        [shell], input=commands, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60
    )
    words = {
        word
        for line in done.stdout.splitlines()
        for word in (line.split("\t")[:1] if shell == "fish" else line.split())
    }
    assert {"check", "--select", "JAX101", "JAX109", "traced-branch"} <= words, done.stderr
    assert not words & {"JAX201", "traced-range", "--ignore"}
    if shell == "bash":
        assert "-o default" in done.stdout


def test_completion_without_its_package(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "zsh"]) == 2
    assert "pip install 'flake8-jax[completion]'" in capsys.readouterr().err
