"""JAX408 and JAX410: which of nested loops they tell of, and what JAX410 advises where a function reads what changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.conftest import findings_of

from flake8_jax.semantics.analysis.request import AnalysisRequest

MARKET = """
import jax


class Market:
    def __init__(self):
        self.rival = 1.0
        self.limit = 3.0

    def advance(self, d):
        self.rival = self.rival + d

    def price(self, x):
        return self.limit - x - {}


def run(x):
    market = Market()
    gradient = jax.value_and_grad(market.price)
    for d in range(1000):
        market.advance(d)
        value, slope = gradient(x)
        x = x - 0.1 * slope
    return x


run(1.0)
"""


@pytest.mark.parametrize(
    ("read", "advice"),
    [
        ("self.limit", "jit it once before the loop, or jit the whole step"),
        ("self.rival", "make `self.rival` an argument, then jit it once"),
    ],
    ids=["a constant", "what another method assigns"],
)
def test_advice(read: str, advice: str) -> None:
    found = findings_of(Path("/project"), {"market.py": MARKET.format(read)}).findings
    assert [f.message.partition("; ")[2] for f in found if f.code == "JAX410"] == [advice]


NESTED = {
    "gradients of a short loop in a long one": """
import jax
import jax.numpy as jnp


def loss(w, x):
    return jnp.sum((w * x) ** 2)


def fit(w, data):
    for epoch in range(1000):
        for i in range(50):
            w = w - 0.1 * jax.grad(loss)(w, data[i])  # JAX410
    return w


fit(jnp.ones(3), jnp.ones((50, 3)))
""",
    "a loop of known length in one that only a gradient runs": """
import jax
import jax.numpy as jnp


def run(w, n):
    for _ in range(n):  # JAX408
        for _ in range(40):
            w = jnp.sin(w) * 2.0 + jnp.cos(w)
    return jnp.sum(w)


jax.jit(run, static_argnums=1)(jnp.ones(3), 3)
jax.grad(run)(jnp.ones(3), 3)
""",
    "a comprehension of known length in a loop of unknown length": """
import jax
import jax.numpy as jnp


@jax.jit
def run(w, batches):
    for x in batches:
        w = jnp.sin(w) * 2.0 + sum([jnp.cos(w + k) for k in range(100)]) * x  # JAX408
    return w
""",
}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_a_preview_hides_no_finding_of_the_default(text: str) -> None:
    found = findings_of(Path("/project"), {"a.py": text}, request=AnalysisRequest(preview=False)).findings
    told = {(text.count("\n", 0, f.start), f.code) for f in found if f.code in ("JAX408", "JAX410")}
    lines = enumerate(text.splitlines())
    assert told == {(row, line.rpartition("# ")[2]) for row, line in lines if line.endswith(("# JAX408", "# JAX410"))}


SHARED = """
import jax
import jax.numpy as jnp


def inner(w):
    for _ in range(16):
        w = jnp.sin(w) * 2.0 + jnp.cos(w)
    return w


compiled = jax.jit(inner)


def run(w):
    for _ in range(3):
        w = CALLED(w)
    return jnp.sum(w)


jax.OUTER(run)(jnp.ones(3))
jax.OUTER(run)(jnp.ones(3))
"""


@pytest.mark.parametrize(
    ("outer", "called", "copies"),
    [("grad", "inner", "48 copies"), ("grad", "compiled", ""), ("jit", "compiled", "48 copies")],
    ids=["eager in eager", "compiled in eager", "compiled in compiled"],
)
def test_copies_of_a_called_loop(outer: str, called: str, copies: str) -> None:
    text = SHARED.replace("OUTER", outer).replace("CALLED", called)
    found = findings_of(Path("/project"), {"a.py": text}, request=AnalysisRequest(preview=True)).findings
    messages = [f.message for f in found if f.code == "JAX408"]
    assert len(messages) == bool(copies)
    assert all(copies in message for message in messages)
