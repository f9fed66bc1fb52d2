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

pytestmark = pytest.mark.slow

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


def test_words_of_the_action_are_quoted_as_in_a_shell(project: Path) -> None:
    lint = action(project, paths="'a b.py' \"right.py\"", args="--config 'select = [\"JAX1\"]'")[-1]
    assert lint.returncode == 1, lint.stderr
    assert lint.stdout.count("::error ") == 1 and "file=a b.py" in lint.stdout
    assert action(project, paths="a\\ b.py")[-1].returncode == 1
    assert action(project, paths="r*.py\n")[-1].returncode == 0
    assert action(project, paths="*.py")[-1].returncode == 1
    # What is quoted is no pattern's business, and an option's value is not made of file names.
    assert action(project, args="--exclude *b.py")[-1].returncode == 0


@pytest.mark.parametrize("sarif", ["", "out.sarif"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"paths": "'a b.py"}, "input `paths`: No closing quotation: 'a b.py"),
        ({"args": '--select "JAX1'}, "input `args`: No closing quotation"),
        ({"paths": "no.py"}, "no.py: there is no such file"),
        ({"paths": "-o right.py"}, "-o: there is no such file"),
        ({"since": "no-such"}, "git knows no revision `no-such`"),
        ({"since": "--output=made"}, "git knows no revision `--output=made`"),
        ({"args": "--no-such-flag"}, "--no-such-flag"),
    ],
)
def test_the_action_fails_where_it_cannot_lint(project: Path, given: dict[str, str], said: str, sarif: str) -> None:
    """In the first step that lints, with a status of its own: no green check mark, and no empty upload."""
    *_, last = action(project, sarif=sarif, **given)
    assert last.returncode == 2
    assert said in last.stderr
    assert (project / "right.py").read_text() == RIGHT
    assert not (project / "made").exists()


def test_since_says_that_a_checkout_is_shallow(project: Path) -> None:
    (project / "more.py").write_text("")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "c")
    clone = project.parent / "clone"
    git(project, "clone", "-q", "--depth", "1", project.as_uri(), str(clone))
    *_, lint = action(clone, since="HEAD~1")
    assert lint.returncode == 2
    assert "`fetch-depth: 0`" in lint.stderr


@pytest.mark.parametrize("code", ["$(touch made)`touch made`", "x; touch made\ntouch made", "'; touch made; '"])
def test_inputs_of_the_action_are_no_code(project: Path, code: str) -> None:
    for name in ("paths", "args", "since", "sarif"):
        steps = action(project, **{name: code})
        assert not (project / "made").exists()
        assert len(steps) > 1


def filled(value: Any, inputs: dict[str, str]) -> Any:
    """A part of a component with its inputs, which GitLab puts into the values, not into the text of the file."""
    if isinstance(value, dict):
        return {key: filled(item, inputs) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, inputs) for item in value]
    return re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda m: inputs[m[1]], value) if isinstance(value, str) else value


def gitlab(folder: Path, **given: str) -> list[subprocess.CompletedProcess[str]]:
    head, body = (ROOT / "templates" / "jaxlint.yml").read_text().split("---\n")
    inputs = {name: given.get(name, what["default"]) for name, what in yaml.safe_load(head)["spec"]["inputs"].items()}
    job = filled(yaml.safe_load(body)["jaxlint"], inputs)
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


def test_words_of_the_gitlab_component(project: Path) -> None:
    """They are part of the script, as everything that is written into .gitlab-ci.yml."""
    assert gitlab(project, paths='"a b.py"', args="--config 'select = [\"JAX3\"]'")[-1].returncode == 0
    *steps, lint = gitlab(project, paths='"a b.py"', args="--select JAX1  # c: d")
    assert [done.returncode for done in (*steps, lint)] == [0, 0, 1]
    *_, report = gitlab(project, paths="no.py")
    assert report.returncode == 2 and "no.py: there is no such file" in report.stderr


def test_the_files_are_what_their_services_read(tmp_path: Path) -> None:
    """The schemas that the services publish, which come with check-jsonschema."""
    pytest.importorskip("check_jsonschema")
    examples = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(encoding="utf-8"), re.DOTALL)
    component = (ROOT / "templates" / "jaxlint.yml").read_text(encoding="utf-8").split("---\n")
    texts = {
        "vendor.github-actions": [(ROOT / "action.yml").read_text(encoding="utf-8")],
        "vendor.github-workflows": [text for text in examples if "runs-on" in text],
        "vendor.gitlab-ci": [*component, *(text for text in examples if "include:" in text)],
    }
    assert [len(given) for given in texts.values()] == [1, 1, 3]
    for schema, given in texts.items():
        paths = [tmp_path / f"{schema}{number}.yml" for number in range(len(given))]
        for path, text in zip(paths, given):
            path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
