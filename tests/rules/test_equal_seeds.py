"""Draws from one constant seed in statements that stand apart: previews of JAX309."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.conftest import findings_of

from flake8_jax.semantics.analysis.request import AnalysisRequest

START = """
import jax
import jax.numpy as jnp


"""
REPORTED = {
    "a data set and its weights": """
x = jax.random.normal(jax.random.PRNGKey(0), (100, 3))
y = load(x)
w = jax.random.uniform(jax.random.PRNGKey(0), (3,))  # here


def loss(f):
    return f(x, w, y)
""",
    "in a function": """
def make(n, build):
    w = jax.random.normal(jax.random.key(1), (n, n))
    b = jax.random.normal(jax.random.key(1), (n,))  # here
    return build(w, b)
""",
    "noise on what has the same noise": """
def predict(guide, dist, params):
    samples = guide.sample_posterior(jax.random.PRNGKey(0), params)
    rate = jnp.exp(samples)
    return dist(rate).sample(jax.random.PRNGKey(0))  # here
""",
    "through the state of an object": """
def fit(mcmc, predict, y):
    mcmc.run(jax.random.key(1), y)
    samples = mcmc.get_samples()
    key = jax.random.key(1)
    return predict(key, samples)  # here
""",
}
SPARED = {
    "inputs for two checks": """
def check(layer, build):
    x = jax.random.normal(jax.random.key(1), (3,))
    return build(layer(x)).fit(jax.random.key(1), x)
""",
    "two arrays that are shuffled alike": """
def shuffled(x, y):
    x = jax.random.permutation(jax.random.PRNGKey(0), x)
    y = jax.random.permutation(jax.random.PRNGKey(0), y)
    return x, y
""",
    "a second experiment": """
def fit(first, second, y):
    first.run(jax.random.key(1), y)
    second.run(jax.random.key(1), y)
    return second.get_samples()
""",
    "one of two branches with results": """
def fit(flag, guide, x):
    if flag:
        x = guide.sample(jax.random.key(1), x)
    else:
        x = guide.draw(jax.random.key(1), x)
    return x
""",
    "other seeds": """
def make(n, build):
    w = jax.random.normal(jax.random.key(1), (n, n))
    b = jax.random.normal(jax.random.key(2), (n,))
    return build(w, b)
""",
    "nothing reads both": """
def make(n, build):
    w = build(jax.random.normal(jax.random.key(1), (n, n)))
    b = build(jax.random.normal(jax.random.key(1), (n,)))
    print(w, b)
""",
    "a comparison": """
def is_reproducible(n, build):
    a = build(jax.random.normal(jax.random.key(1), (n,)))
    b = build(jax.random.normal(jax.random.key(1), (n + 0,)))
    return jnp.allclose(a, b)
""",
    "two branches": """
def make(flag, n, build):
    if flag:
        w = jax.random.normal(jax.random.key(1), (n, n))
        b = 0
    else:
        b = jax.random.normal(jax.random.key(1), (n,))
        w = 0
    return build(w, b)
""",
}


def _rows(text: str, *, preview: bool) -> list[int]:
    analysis = findings_of(Path("/project"), {"a.py": text}, request=AnalysisRequest(preview=preview))
    return [text.count("\n", 0, found.start) for found in analysis.findings if found.name == "same-constant-key"]


@pytest.mark.parametrize("text", [*REPORTED.values(), *SPARED.values()], ids=[*REPORTED, *SPARED])
def test_draws_from_one_seed(text: str) -> None:
    text = START + text
    assert _rows(text, preview=True) == [row for row, line in enumerate(text.splitlines()) if line.endswith("# here")]
    assert _rows(text, preview=False) == []
