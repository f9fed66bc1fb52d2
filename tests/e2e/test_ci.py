"""The GitHub Action and the GitLab component: the commands that they run, run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WRONG = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
RIGHT = "import jax\n\n\n@jax.jit\ndef f(x):\n    return abs(x)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository; in its ``bin`` a Python that installs nothing, and writes down what it was to install."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(
        f'#!/bin/sh\nif [ "$2" = pip ]; then echo "$@" >> "{tmp_path}/installed"; exit; fi\n'
        f'PYTHONPATH="{ROOT}" exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in (("a b.py", WRONG), ("right.py", RIGHT), ("jaxlint.toml", "")):
        (folder / name).write_text(text)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "c")
    return folder


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@x", *words], cwd=folder, check=True)


def shell(folder: Path, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder.parent / "bin"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, **variables}
    command = ["bash", "-e", "-o", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def action(folder: Path, **given: str) -> list[subprocess.CompletedProcess[str]]:
    """The steps of the action, as GitHub runs them: up to the first that fails."""
    made: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    inputs = {name: str(given.get(name, what["default"])) for name, what in made["inputs"].items()}
    done = []
    for step in made["runs"]["steps"]:
        if "if" in step and not inputs["sarif"]:
            continue
        values = {
            k: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: inputs[m[1]], v) for k, v in step.get("env", {}).items()
        }
        done.append(shell(folder, step["run"], GITHUB_ACTION_PATH=str(ROOT), **values))
        if done[-1].returncode:
            break
    return done


def test_the_action_annotates_and_fails(project: Path) -> None:
    *_, lint = action(project, sarif="out.sarif")
    assert lint.returncode == 1, lint.stderr
    assert lint.stdout.startswith("::error title=jaxlint (JAX101),file=a b.py,line=6,")
    assert (project.parent / "installed").read_text().split() == ["-m", "pip", "install", "--quiet", str(ROOT)]
    assert [result["ruleId"] for result in json.loads((project / "out.sarif").read_text())["runs"][0]["results"]] == [
        "JAX101"
    ]


def test_the_action_takes_options(project: Path) -> None:
    assert action(project, paths="right.py")[-1].returncode == 0
    assert action(project, args="--ignore JAX101 --isolated")[-1].returncode == 0
    assert action(project, since="HEAD")[-1].returncode == 0
    (project / "right.py").write_text(WRONG)
    assert "file=right.py" in action(project, since="HEAD")[-1].stdout


def test_inputs_of_the_action_are_no_code(project: Path) -> None:
    action(project, paths="$(touch made); touch made", since="x; touch made")
    assert not (project / "made").exists()


def gitlab(folder: Path, **given: str) -> list[subprocess.CompletedProcess[str]]:
    head, body = (ROOT / "templates" / "jaxlint.yml").read_text().split("---\n")
    inputs = {name: given.get(name, what["default"]) for name, what in yaml.safe_load(head)["spec"]["inputs"].items()}
    job = yaml.safe_load(re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda m: inputs[m[1]], body))["jaxlint"]
    assert job["artifacts"]["reports"]["codequality"] == "gl-code-quality-report.json"
    done = []
    for line in job["script"]:
        done.append(shell(folder, line))
        if done[-1].returncode:
            break
    return done


def test_the_gitlab_component_reports_and_fails(project: Path) -> None:
    *_, lint = gitlab(project, package="flake8-jax==0.2.0")
    assert lint.returncode == 1, lint.stderr
    assert "a b.py:6:8: JAX101" in lint.stdout
    report = json.loads((project / "gl-code-quality-report.json").read_text())
    assert [(item["check_name"], item["location"]["path"]) for item in report] == [("JAX101", "a b.py")]
    assert (project.parent / "installed").read_text().split()[-1] == "flake8-jax==0.2.0"


def test_the_gitlab_component_passes(project: Path) -> None:
    assert gitlab(project, paths="right.py")[-1].returncode == 0
