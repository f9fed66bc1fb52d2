"""The flake8 plugin, run by flake8 itself."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNNER = """
import sys
import flake8_jax.flake8_plugin as plugin
from support.backend import Recorder, fake_backend

class Counting(Recorder):
    def __call__(self, files, request):
        with open("analyses.txt", "a") as stream:
            stream.write("x")
        return super().__call__(files, request)

plugin.default_backend = lambda: fake_backend(Counting())
from flake8.main.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    installed = any(entry.name == "JAX" for entry in importlib.metadata.entry_points(group="flake8.extension"))
    local = "" if installed else "[flake8:local-plugins]\nextension =\n  JAX = flake8_jax.flake8_plugin:JaxChecker\n"
    (tmp_path / ".flake8").write_text(f"[flake8]\nexclude = analyses.txt\n{local}")
    (tmp_path / "a.py").write_text("import jax\nBAD\nOLD\n")
    (tmp_path / "b.py").write_text("import a\nnp.sin\nx = BAD  # noqa\n")
    return tmp_path


def flake8(project: Path, *arguments: str, stdin: str | None = None) -> tuple[int, list[str], str]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": paths},
        input=stdin,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_name_in_a_comment_is_reported(project: Path, jobs: str) -> None:
    (project / "b.py").write_text("import a\nx = BAD  # noqa: traced-branch\n")
    status, lines, errors = flake8(project, "--select", "JAX1", "-j", jobs, "a.py", "b.py")
    assert (status, lines) == (1, ["a.py:2:1: JAX101 found BAD in a"])
    assert errors.count("\n") == 1
    assert "b.py:2: `# noqa: traced-branch` suppresses all findings on its line" in errors


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_findings_of_the_project_come_file_by_file(project: Path, jobs: str) -> None:
    status, lines, errors = flake8(project, "--select", "JAX1,JAX2", "-j", jobs, ".")
    assert lines == ["./a.py:2:1: JAX101 found BAD in a", "./b.py:2:1: JAX203 found np.sin in b"]
    assert (status, errors) == (1, "")
    assert (project / "analyses.txt").read_text() == "x", "one analysis serves every file and process"


def test_opt_in_rules_are_ignored_by_default(project: Path) -> None:
    _, lines, _ = flake8(project, "--extend-ignore", "E,F,W,JAX2", ".")
    assert [line.split()[1] for line in lines] == ["JAX101"]
    _, lines, _ = flake8(project, "--select", "JAX306", ".")
    assert [line.split()[1] for line in lines] == ["JAX306"]


@pytest.mark.parametrize("options", [("--select", "JAX"), ("--ignore", "E,F,W")], ids=["prefix", "defaults replaced"])
def test_only_a_code_turns_opt_in_rules_on(project: Path, options: tuple[str, str]) -> None:
    _, lines, _ = flake8(project, *options, ".")
    assert [line.split()[1] for line in lines] == ["JAX101", "JAX203"]
    (project / "jaxlint.toml").write_text('extend-select = ["JAX306"]\n')
    _, lines, _ = flake8(project, *options, ".")
    assert [line.split()[1] for line in lines] == ["JAX101", "JAX306", "JAX203"]


def test_disable_noqa(project: Path) -> None:
    _, lines, _ = flake8(project, "--select", "JAX", "--disable-noqa", "b.py")
    assert [line.split()[1] for line in lines] == ["JAX203", "JAX101"]


def test_standard_input_goes_in_place_of_the_file(project: Path) -> None:
    _, lines, _ = flake8(project, "--select", "JAX1", "--stdin-display-name", "a.py", "-", stdin="import jax\n\nBAD\n")
    assert lines == ["a.py:3:1: JAX101 found BAD in a"]
    _, lines, _ = flake8(project, "--select", "JAX1", "-", stdin="import jax\nBAD\n")
    assert [line.partition(":")[2] for line in lines] == ["2:1: JAX101 found BAD in stdin"]


def test_other_selections_cost_nothing(project: Path) -> None:
    flake8(project, "--select", "E501", ".")
    assert not (project / "analyses.txt").exists()


def test_the_configuration_counts(project: Path) -> None:
    (project / "jaxlint.toml").write_text("per-file-ignores = { 'a.py' = ['JAX1'] }\n")
    _, lines, _ = flake8(project, "--select", "JAX", ".")
    assert [line.split()[1] for line in lines] == ["JAX203"]
    (project / "jaxlint.toml").write_text("slect = []\n")
    status, lines, errors = flake8(project, "--select", "JAX", ".")
    assert status == 1
    assert "jaxlint.toml:1: unknown key `slect`" in "\n".join([*lines, errors])


def test_carriage_returns_and_marks_do_not_matter(project: Path) -> None:
    (project / "c.py").write_bytes(b"\xef\xbb\xbfimport jax\r\nx = '\xc3\xa9'; BAD\r\n")
    _, lines, _ = flake8(project, "--select", "JAX", "c.py")
    assert lines == ["c.py:2:10: JAX101 found BAD in c"]
    assert (project / "analyses.txt").read_text() == "x"


def test_syntax_errors_are_left_to_flake8(project: Path) -> None:
    (project / "c.py").write_text("import jax\ndef f(:\n")
    _, lines, _ = flake8(project, "--select", "E9,JAX", "c.py")
    assert [line.split()[1] for line in lines] == ["E999"]
