"""What JAX410 advises: a function may read what changes between the iterations, which jit would keep as it first was."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.conftest import findings_of

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
