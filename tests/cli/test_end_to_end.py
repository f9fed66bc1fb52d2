"""The command as users run it, with the real analysis."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRAIN = """\
import jax
from pkg.helper import clip


@jax.jit
def step(x):
    return clip(x)
"""
HELPER = """\
def clip(x):
    if x > 1:
        return x
    return x + 1
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    for path, text in ((tmp_path / "train.py", TRAIN), (tmp_path / "pkg" / "helper.py", HELPER)):
        path.write_text(text)
        os.utime(path, (1_000_000_000, 1_000_000_000))
    return tmp_path


def python(project: Path, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=stdin,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("path", [".", "pkg/helper.py", "pkg"])
def test_a_finding_across_files_is_the_same_whatever_is_asked(project: Path, path: str) -> None:
    done = python(project, "-m", "flake8_jax", "check", path, "--output-format", "json")
    assert done.returncode == 1, done.stderr
    (item,) = [item for item in json.loads(done.stdout) if item["severity"] == "error"]
    assert (item["code"], item["filename"]) == ("JAX101", str(project / "pkg" / "helper.py"))
    assert item["location"] == {"row": 2, "column": 8}
    assert any(step["filename"] == str(project / "train.py") for step in item["evidence"])


def test_standard_input_takes_the_place_of_its_file(project: Path) -> None:
    text = HELPER.replace("x > 1", "x.ndim > 1")
    arguments = ("-m", "flake8_jax", "check", "--output-format", "json", "-", "--stdin-filename", "pkg/helper.py")
    assert [i for i in json.loads(python(project, *arguments, stdin=text).stdout) if i["severity"] == "error"] == []
    assert [i["code"] for i in json.loads(python(project, *arguments, stdin=HELPER).stdout)] == ["JAX101"]


def test_a_warm_run_loads_neither_parser_nor_interpreter(project: Path) -> None:
    code = (
        "import sys; from flake8_jax.cli import main; main(['check', '-q', '.']);"
        "print([m for m in ('libcst', 'rich', 'flake8_jax.semantics.interpreter', 'flake8_jax.rules') if m in sys.modules],"
        " file=sys.stderr)"
    )
    cold, warm = python(project, "-c", code), python(project, "-c", code)
    assert "JAX101" in cold.stdout
    assert warm.stdout == cold.stdout
    assert warm.stderr == "[]\n"


def test_fixes_are_applied(project: Path) -> None:
    path = project / "a.py"
    path.write_text("import jax\nimport numpy as np\n\n\n@jax.jit\ndef f(x):\n    return np.sin(x + 1)\n")
    done = python(project, "-m", "flake8_jax", "check", "--fix", "a.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "jnp.sin(x + 1)" in path.read_text()


def test_inspect_says_what_is_staged(project: Path) -> None:
    done = python(project, "-m", "flake8_jax", "inspect", "pkg", "--output-format", "json")
    assert done.returncode == 0, done.stderr
    (record,) = json.loads(done.stdout)
    assert (record["qualname"], record["line"], record["staged"]) == ("clip", 1, True)
    (parameter,) = record["params"]
    assert parameter["name"] == "x"
    assert {"traced", "pytree"} & set(parameter["kinds"])


def test_files_of_equal_text_have_findings_of_their_own(project: Path) -> None:
    text = "import jax\n\n\n@jax.jit\ndef f(x):\n    return float(x)\n"
    for name in ("one.py", "two.py"):
        (project / name).write_text(text)
    for _ in range(2):  # lowered, and out of the cache
        done = python(project, "-m", "flake8_jax", "one.py", "two.py", "--output-format", "json")
        assert [Path(item["filename"]).name for item in json.loads(done.stdout)] == ["one.py", "two.py"]


STEPS = """\
import flax.linen as nn
import jax

EMBED = nn.Embed(10, 10)


@jax.jit
def train_step(params, batch):
    grads = jax.grad(lambda params: (batch @ params).sum())(params)
    return params - 0.1 * grads


@jax.jit
def settle(grid):
    return grid / 2


def main(params, grid, batches):
    for batch in batches:
        params = train_step(params, batch)
        grid = settle(grid)
    return params, grid
"""


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ((), []),
        (("--preview",), [20]),
        (("--extend-select", "JAX412"), [20, 21]),
        (("--preview", "--extend-select", "JAX412"), [20, 21]),
        (("--preview", "--ignore", "JAX412"), []),
        (("--preview", "--select", "JAX1"), []),
    ],
)
def test_an_opt_in_rule_may_be_on_in_part_with_preview(
    options: tuple[str, ...], rows: list[int], project: Path
) -> None:
    (project / "steps.py").write_text(STEPS)
    done = python(project, "-m", "flake8_jax", "check", "steps.py", *options, "--output-format", "json")
    found = [item for item in json.loads(done.stdout) if item["code"] == "JAX412"]
    assert [item["location"]["row"] for item in found] == rows
