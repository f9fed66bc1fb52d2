"""Findings that are an error where the program surely fails, and a warning where it may not."""

from __future__ import annotations

import pytest

from flake8_jax.core.findings import Positions
from flake8_jax.rules import all_rules
from flake8_jax.semantics.analysis.analyze import analyze
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.syntax.lower import lower

PROGRAMS = {
    "captured-mutation": """
import jax
import jax.numpy as jnp

read = []
kept = []
counts = {"calls": 0, "prints": 0}


@jax.jit
def step(x):
    read.append(x)  # error
    kept.append(x)  # warning
    counts["calls"] += 1  # error
    return x


def mean():
    print(counts["calls"])
    return jnp.stack(read).mean()


def record(losses, x):
    @jax.jit
    def step(x):
        losses.append(x)  # warning
        return x

    return step(x)


def run(x):
    losses = []
    return record(losses, x), losses
""",
    "array-item-assignment": """
import jax
import jax.numpy as jnp


def fill(x: jax.Array, y):
    x[0] = 1.0  # warning
    z = 2 * x
    z[0] = 1.0  # warning
    z = jnp.sin(x)
    z[0] = 1.0  # error
    return x, z


@jax.jit
def staged(x: jax.Array):
    x[0] = 1.0  # error
    return x
""",
    "donated-reuse": """
import jax
import jax.numpy as jnp

product = jax.jit(lambda x, y: x @ y, donate_argnums=0)
double = jax.jit(lambda x: 2 * x, donate_argnums=0)


def run(key, shape, y):
    x = jax.random.normal(key, shape)
    product(x, y)
    return x + 1  # warning


def grow(key):
    x = jax.random.normal(key, (3, 3))
    double(x)
    return x + 1  # error


def passed(x: jax.Array):
    double(x)
    return x + 1  # warning
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_levels(name: str) -> None:
    text = PROGRAMS[name]
    tree = lower(text)
    file = SourceFile(path="/example.py", module_name="example", is_package=False, tree=tree, text=text)
    found = analyze([file], AnalysisRequest(), [rule for rule in all_rules() if rule.name == name]).findings
    positions = Positions(tree.line_starts)
    lines = text.splitlines()
    wanted = {(row, line.rpartition("# ")[2]) for row, line in enumerate(lines, 1) if line.endswith(("error", "warning"))}
    assert {(positions.row(finding.start), finding.level) for finding in found} == wanted
