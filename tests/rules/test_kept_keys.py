"""Keys that a method or a function has used and leaves as they are for its next call: previews of JAX301."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.conftest import findings_of

from flake8_jax.semantics.analysis.request import AnalysisRequest

START = """
import jax


class Policy:
    def __init__(self, key):
        self.key = key
"""
REPORTED = {
    "a method draws": """
    def act(self, logits):
        return jax.random.categorical(self.key, logits)  # here
""",
    "a method splits": """
    def act(self, logits):
        _, key = jax.random.split(self.key)  # here
        return jax.random.categorical(key, logits)
""",
    "returned": """
def noisy(x, key):
    return x + jax.random.normal(key, x.shape), key  # here
""",
    "returned in a carry, after a condition": """
def body(x, key, flag):
    if flag:
        x = x + jax.random.normal(key, x.shape)  # here
    return (x, key), None
""",
}
SPARED = {
    "stored": """
    def act(self, logits):
        self.key, key = jax.random.split(self.key)
        return jax.random.categorical(key, logits)
""",
    "stored by another method": """
    def advance(self):
        self.key = jax.random.fold_in(self.key, 1)

    def act(self, logits):
        return jax.random.categorical(self.key, logits)
""",
    "replaced": """
    def act(self, logits):
        key, sub = jax.random.split(self.key)
        return jax.random.categorical(sub, logits), self.replace(key=key)
""",
    "held by another object of the class": """
    def draw(self, shape):
        key, sub = jax.random.split(self.key)
        return jax.random.normal(sub, shape), Policy(key)


    def next(self):
        key, sub = jax.random.split(self.key)
        return type(self)(key), jax.random.normal(sub)
""",
    "runs once": """
    def init_params(self, n):
        return jax.random.normal(self.key, (n,))
""",
    "a base class that nobody sees": """
class Other(Base):
    def __init__(self, key):
        self.own = key

    def act(self, logits):
        return jax.random.categorical(self.own, logits)
""",
    "a new key is returned": """
def noisy(x, key):
    key, sub = jax.random.split(key)
    return x + jax.random.normal(sub, x.shape), key
""",
    "returned in the other branch": """
def noisy(x, key, flag):
    if flag:
        return x + jax.random.normal(key, x.shape), None
    return x, key
""",
}


def _rows(text: str, *, preview: bool) -> list[int]:
    request = AnalysisRequest(preview=preview)
    analysis = findings_of(Path("/project"), {"a.py": text}, request=request)
    return [text.count("\n", 0, found.start) for found in analysis.findings if found.name == "key-reuse"]


@pytest.mark.parametrize("text", [*REPORTED.values(), *SPARED.values()], ids=[*REPORTED, *SPARED])
def test_keys_that_stay_the_same(text: str) -> None:
    text = START + text
    assert _rows(text, preview=True) == [row for row, line in enumerate(text.splitlines()) if line.endswith("# here")]
    assert _rows(text, preview=False) == []
