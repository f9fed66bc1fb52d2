"""The real pre-commit runs our hooks."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.e2e.projects import FILES, FINDING, ROOT, python, run, write_project

pytest.importorskip("pre_commit")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="pre-commit needs git"),
]

HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
IDENTITY = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.invalid", "-c", "commit.gpgsign=false")


def repository(directory: Path, files: dict[str, str]) -> Path:
    """A git repository with the files in its first commit."""
    directory.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=directory, check=True)
    write_project(directory, files)
    subprocess.run(["git", "add", "-A"], cwd=directory, check=True)
    subprocess.run(["git", *IDENTITY, "commit", "-q", "-m", "all", "--no-verify"], cwd=directory, check=True)
    return directory


def installed(hook: dict[str, object]) -> dict[str, object]:
    """The hook as it is when its environment has been made: that of the tests."""
    program, _, rest = str(hook["entry"]).partition(" ")
    assert program == "jaxlint"
    return {**hook, "language": "system", "entry": f"{sys.executable} -m flake8_jax {rest}"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    hooks = {"repos": [{"repo": "local", "hooks": [installed(hook) for hook in HOOKS]}]}
    configuration = yaml.safe_dump(hooks)
    return repository(tmp_path / "project", {**FILES, ".pre-commit-config.yaml": configuration})


def test_the_hooks_are_a_manifest(tmp_path: Path) -> None:
    done = run(python("-m", "pre_commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_changed_helper_is_judged_by_the_whole_project(project: Path, tmp_path: Path) -> None:
    path, row, _, code = FINDING
    home = str(tmp_path / "home")
    command = python("-m", "pre_commit", "run", "jaxlint", "--files")
    clean = run([*command, "train.py"], project, PRE_COMMIT_HOME=home)
    assert clean.returncode == 0, clean.stdout + clean.stderr
    done = run([*command, path], project, PRE_COMMIT_HOME=home)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{path}:{row}" in done.stdout and code in done.stdout


def test_fixes_fail_the_commit_so_that_they_are_looked_at(project: Path, tmp_path: Path) -> None:
    path = project / "pkg" / "clip.py"
    path.write_text("import numpy as np\n\n\ndef clip(x, limit):\n    return np.sin(x)\n")
    command = python("-m", "pre_commit", "run", "jaxlint-fix", "--files", "pkg/clip.py")
    done = run(command, project, PRE_COMMIT_HOME=str(tmp_path / "home"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "jnp.sin(x)" in path.read_text()


def write_notebook(path: Path, *cells: str) -> str:
    """A notebook with a text before its code, laid out as Jupyter does."""
    made: list[dict[str, object]] = [{"cell_type": "markdown", "metadata": {}, "source": ["# ein Täst"]}]
    for cell in cells:
        source = cell.splitlines(keepends=True)
        made.append({"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source})
    metadata = {"kernelspec": {"display_name": "K", "language": "python", "name": "k"}}
    notebook = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")
    return text


def test_a_notebook_is_linted(project: Path, tmp_path: Path) -> None:
    """What the notebook stages is judged, and so is what it calls in files that are not part of the commit."""
    write_notebook(
        project / "a b.ipynb", "import jax", "@jax.jit\ndef f(x):\n    if x > 0:\n        x = -x\n    return x"
    )
    command = python("-m", "pre_commit", "run", "jaxlint", "--files", "a b.ipynb")
    done = run(command, project, PRE_COMMIT_HOME=str(tmp_path / "home"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "a b.ipynb:cell 3:3:8: JAX101" in done.stdout


def test_a_commit_fails_where_a_notebook_was_fixed(project: Path, tmp_path: Path) -> None:
    """The real commit: refused with the notebook fixed on disk, accepted when that is staged."""
    environment = {"PRE_COMMIT_HOME": str(tmp_path / "home"), "SKIP": "jaxlint"}
    installed_hook = run(python("-m", "pre_commit", "install"), project, **environment)
    assert installed_hook.returncode == 0, installed_hook.stdout + installed_hook.stderr
    cell = "@jax.jit\ndef f(x):\n    return {}.sin(x)"
    setup = "%matplotlib inline\nimport jax\nimport jax.numpy as jnp\nimport numpy as np"
    before = write_notebook(project / "a.ipynb", setup, cell.format("np"))
    commit = ["git", *IDENTITY, "commit", "-m", "a notebook"]
    for path, accepted in (("a.ipynb", False), ("a.ipynb", True)):
        run(["git", "add", path], project)
        done = run(commit, project, **environment)
        assert (done.returncode == 0) is accepted, done.stdout + done.stderr
        after = (project / "a.ipynb").read_text(encoding="utf-8")
        assert after == before.replace("return np.sin", "return jnp.sin") != before
    assert run(["git", "show", "HEAD:a.ipynb"], project).stdout == after


def test_the_hook_installs_itself(tmp_path: Path) -> None:
    """``try-repo`` makes an environment and installs this package with what it depends on: it needs an index."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "flake8_jax", "*.toml", ".pre-commit-hooks.yaml", "README.md",
         "LICENSE", "hatch_build.py"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("the sources are no git repository")
    names = [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    source = repository(tmp_path / "source", {name: (ROOT / name).read_text(encoding="utf-8") for name in names})
    project = repository(tmp_path / "project", dict(FILES))
    path, row, _, code = FINDING
    command = python("-m", "pre_commit", "try-repo", str(source), "jaxlint", "--files", path)
    done = run(command, project, PRE_COMMIT_HOME=str(tmp_path / "home"))
    said = done.stdout + done.stderr
    if "No matching distribution" in said or "Failed to establish" in said or "Could not fetch" in said:
        pytest.skip("no package index to install from")
    assert done.returncode == 1, said
    assert f"{path}:{row}" in said and code in said
