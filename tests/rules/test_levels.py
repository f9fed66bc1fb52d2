"""Findings that are more or less certain than their rule says have a level of their own."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from rules.conftest import findings_of

import flake8_jax.rules
from flake8_jax.core.findings import Positions
from flake8_jax.semantics.analysis.request import AnalysisRequest
from flake8_jax.syntax.lower import lower

RULES = Path(flake8_jax.rules.__file__).parent
_LEVEL = re.compile(r"# (error|warning|info): ([a-z0-9-]+)$", re.MULTILINE)
PROGRAMS = sorted((Path(__file__).parent / "data/levels").glob("*.py"))
"""Each is named for what it shows; one that begins with a cell is a notebook."""


BRANCH = "def clip(x):\n    if x > 1:\n        return 1.0\n    return x\n"
JITTED = "import jax\n\n\n@jax.jit\ndef step(x):\n    return {}(x)\n"
LAYER = """\
import equinox as eqx
import jax
import jax.numpy as jnp
from far import clip


class Layer(eqx.Module):
    weight: jax.Array

    def __call__(self, x):
        return clip(jnp.dot(self.weight, x))
"""


@pytest.mark.parametrize(
    ("files", "level", "confidence"),
    [
        ({"near.py": JITTED.format("clip") + "\n\n" + BRANCH}, "error", "certain"),
        ({"near.py": "from far import clip\n" + JITTED.format("clip"), "far.py": BRANCH}, "error", "certain"),
        (
            {
                "near.py": "from middle import cut\n" + JITTED.format("cut"),
                "middle.py": "from far import clip\n\n\ndef cut(x):\n    return clip(x)\n",
                "far.py": BRANCH,
            },
            "info",
            "likely",
        ),
        ({"near.py": LAYER, "far.py": BRANCH}, "info", "likely"),
        (
            {"near.py": LAYER, "run.py": "from far import clip\n" + JITTED.format("clip"), "far.py": BRANCH},
            "error",
            "certain",
        ),
    ],
    ids=["one file", "two files", "three files", "a layer that nobody runs", "a layer, and a near one"],
)
def test_a_tracer_from_far_away_is_likely(files: dict[str, str], level: str, confidence: str) -> None:
    (found,) = findings_of(Path("/project"), files).findings
    assert (found.name, found.level, found.confidence) == ("traced-branch", level, confidence)


COMMAND = """\
import os


def main(cpu_only):
    if cpu_only:
        os.environ["JAX_PLATFORMS"] = "cpu"
"""
CALLER = """\
import sys

import jax.numpy as jnp
from command import main

ONE = jnp.ones(3)


def test_run(arguments):
    main(arguments)


test_run(sys.argv)
"""


@pytest.mark.parametrize("path", ["run.py", "test_run.py"])
def test_a_call_of_code_that_may_set_a_variable_is_a_note(path: str) -> None:
    files = {"command.py": COMMAND, path: CALLER}
    findings = findings_of(Path("/project"), files).findings
    assert [found.level for found in findings if found.name == "late-configuration"] == ["info"]


BASE = """\
import jax


class Model:
    @jax.jit
    def update(self, params, batch):
        return jax.grad(self.loss)(params, batch)
"""
HEIR = "\n\nclass Heir{}(Model):\n    def loss(self, params, batch{}):\n        return (params * batch).sum()\n"


def test_a_call_that_one_of_many_subclasses_refuses_is_likely() -> None:
    heirs = [HEIR.format(i, ", scale" if i == 3 else "") for i in range(9)]
    findings = findings_of(Path("/project"), {"models.py": BASE + "".join(heirs)}).findings
    assert [(f.level, f.confidence) for f in findings if f.name == "transform-argument-mismatch"] == [
        ("info", "likely")
    ]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_levels(program: Path) -> None:
    text = program.read_text(encoding="utf-8")
    positions = Positions(lower(text).line_starts)
    name = "a.ipynb" if text.startswith("# %%") else "a.py"
    request = AnalysisRequest(preview=True)
    found = {
        (positions.row(finding.start), finding.level, finding.name)
        for finding in findings_of(Path("/project"), {name: text}, request=request).findings
        if finding.name != "pmap"  # wherever it stands
    }
    assert found == {
        (row, *match.groups()) for row, line in enumerate(text.splitlines(), 1) if (match := _LEVEL.search(line))
    }


def test_every_rule_that_has_several_is_here() -> None:
    shown = {name for program in PROGRAMS for _, name in _LEVEL.findall(program.read_text(encoding="utf-8"))}
    several = {
        path.stem.replace("_", "-")
        for path in RULES.glob("[!_]*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Report"
        if len(node.args) > 2 or any(keyword.arg == "level" for keyword in node.keywords)
    }
    assert several <= shown
