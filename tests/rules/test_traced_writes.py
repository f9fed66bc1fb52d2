"""Writes of traced functions to objects that are not in view: previews of JAX503."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.conftest import findings_of

from flake8_jax.semantics.analysis.request import AnalysisRequest

START = """
import jax


"""
REPORTED = {
    "a setter of the model": """
def loss(params, model, x):
    model.set_parameters(params)  # here
    return model.forward(x).mean()


def step(model, params, x):
    return jax.value_and_grad(loss)(params, model, x)
""",
    "a setter of a model around the function": """
def train(vit, x):
    def loss(params):
        vit.SetParameters(params)  # here
        return vit.forward(x).mean()

    return jax.grad(loss)(vit.params)
""",
    "an attribute of an argument": """
def simulate(params, system, n):
    system.controller.params = params  # here
    return sum(system.step(i) for i in range(n))


def train(system, params):
    return jax.value_and_grad(simulate)(params, system, 10)
""",
    "through a function of the file": """
def forward(params, env, x):
    env.last = params * x  # here
    return env.last


def loss(params, env, x):
    return forward(params, env, x).sum()


gradient = jax.grad(loss)
""",
}
SPARED = {
    "nothing traces it": """
def load(params, model):
    model.set_parameters(params)
    model.last = params
""",
    "an object that the function makes": """
def loss(params, make, x):
    model = make()
    model.set_parameters(params)
    model.last = params
    return model.forward(x).mean()


gradient = jax.grad(loss)
""",
    "a number": """
def loss(params, model):
    model.mode = "train"
    return model.forward(params).mean()


gradient = jax.grad(loss)
""",
}


def _rows(text: str, *, preview: bool) -> list[int]:
    analysis = findings_of(Path("/project"), {"a.py": text}, request=AnalysisRequest(preview=preview))
    return [text.count("\n", 0, found.start) for found in analysis.findings if found.name == "self-write"]


@pytest.mark.parametrize("text", [*REPORTED.values(), *SPARED.values()], ids=[*REPORTED, *SPARED])
def test_writes_of_traced_functions(text: str) -> None:
    text = START + text
    assert _rows(text, preview=True) == [row for row, line in enumerate(text.splitlines()) if line.endswith("# here")]
    assert _rows(text, preview=False) == []
