"""The real flake8, in a process of its own, on a mistake that spans three files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from scripts.consoles import declare_plugin
from tests.e2e.projects import FILES, FINDING, python, run, write_project

pytestmark = pytest.mark.slow

PATH, ROW, COLUMN, CODE = FINDING
Flake8 = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project")


@pytest.fixture
def flake8(project: Path, tmp_path: Path) -> Flake8:
    """flake8 in the project, with the plugin declared as an installed distribution declares it."""
    declare_plugin(tmp_path / "site")

    def call(*arguments: str, stdin: str | None = None) -> CompletedProcess[str]:
        return run(python("-m", "flake8", *arguments), project, stdin=stdin, paths=[tmp_path / "site"])

    return call


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_finding_is_where_the_helper_is(flake8: Flake8, jobs: str) -> None:
    done = flake8("--select", "JAX", "-j", jobs, ".")
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"./{PATH}:{ROW}:{COLUMN}: {CODE} ")
    assert (done.returncode, done.stderr) == (1, "")


def test_one_file_is_enough_to_ask_for(flake8: Flake8) -> None:
    assert flake8("--select", "JAX", PATH).stdout.startswith(f"{PATH}:{ROW}:{COLUMN}: {CODE} ")
    assert flake8("--select", "JAX", "train.py").stdout == ""


def test_other_checks_still_run(flake8: Flake8, project: Path) -> None:
    (project / "other.py").write_text("import os\n")
    codes = {line.split()[1] for line in flake8(".").stdout.splitlines()}
    assert {CODE, "F401"} <= codes


def test_what_is_typed_takes_the_place_of_the_file(flake8: Flake8) -> None:
    arguments = ("--select", "JAX", "--stdin-display-name", PATH, "-")
    before = FILES[PATH]
    assert [line.split()[1] for line in flake8(*arguments, stdin=before).stdout.splitlines()] == [CODE]
    assert flake8(*arguments, stdin=before.replace("x > limit", "x is None")).stdout == ""


def test_comments_and_options_of_flake8_hold(flake8: Flake8, project: Path) -> None:
    path = project / PATH
    path.write_text(FILES[PATH].replace("if x > limit:", "if x > limit:  # noqa: JAX101"))
    assert flake8("--select", "JAX", ".").stdout == ""
    assert CODE in flake8("--select", "JAX", "--disable-noqa", ".").stdout
    assert flake8("--select", "JAX", "--disable-noqa", "--extend-ignore", "JAX101", ".").stdout == ""


def test_the_cache_may_be_turned_off(flake8: Flake8, project: Path) -> None:
    assert flake8("--select", "JAX", "--jax-no-cache", ".").returncode == 1
    assert not (project / ".jaxlint_cache").exists()
    flake8("--select", "JAX", ".")
    assert (project / ".jaxlint_cache").is_dir()
    shutil.rmtree(project / ".jaxlint_cache")


@pytest.mark.parametrize("name", ["setup.cfg", "tox.ini", ".flake8"])
def test_options_come_from_the_files_of_flake8(flake8: Flake8, project: Path, name: str) -> None:
    (project / "use.py").write_text("import jax\n\n\ndef f(tree):\n    return jax.tree_map(abs, tree)\n")
    (project / "other.toml").write_text("")
    settings = "select = JAX\njax-target = 0.4.20\njax-no-cache = true\njax-config = other.toml\n"
    (project / name).write_text(f"[flake8]\n{settings}per-file-ignores =\n    {PATH}:{CODE}\n")
    assert flake8(".").stdout == ""
    assert not (project / ".jaxlint_cache").exists()
    (project / name).write_text(f"[flake8]\n{settings.replace('0.4.20', '0.10')}")
    assert [line.split()[1] for line in flake8(".").stdout.splitlines()] == [CODE, "JAX801"]
    (project / name).write_text(f"[flake8]\n{settings.replace('other.toml', 'missing.toml')}")
    done = flake8(".")
    assert done.returncode == 1
    assert "missing.toml" in done.stdout + done.stderr


def test_workers_that_are_spawned(project: Path, tmp_path: Path) -> None:
    """As on Windows and macOS, where a worker starts from nothing; the findings are those of the whole project."""
    declare_plugin(tmp_path / "site")
    for number in range(4):
        (project / f"more{number}.py").write_text("import jax\n")
    script = tmp_path / "spawning.py"
    script.write_text(
        "import multiprocessing\nimport sys\n\nfrom flake8.main.cli import main\n\n"
        "if __name__ == '__main__':\n    multiprocessing.set_start_method('spawn')\n    sys.exit(main(sys.argv[1:]))\n"
    )
    done = run(python(str(script), "--select", "JAX", "-j", "2", "."), project, paths=[tmp_path / "site"])
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"./{PATH}:{ROW}:{COLUMN}: {CODE} ")
    assert done.stderr == ""
