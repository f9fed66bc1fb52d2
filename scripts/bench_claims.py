"""How often ``jaxlint bench`` claims a difference: of equal functions, and of two of which one does 1.2 times as much.

    python scripts/bench_claims.py [--pairs N] [--seconds S]

Each pair is compiled and timed as ``bench --vs`` does it, on one processor. Needs JAX, and about (12 + 2 S) seconds a pair.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from typing import Any

from flake8_jax.runtime_checks.child import timing

SHAPES = {"sin of 20,000 numbers": (20_000,), "products of 96 x 96": (96, 96), "products of 300 x 300": (300, 300)}
MEASURES = ("wall", "processor")
MOST_ROUNDS = 80


def function(shape: tuple[int, ...], steps: int) -> Any:
    """A function of that many steps."""
    import jax
    import jax.numpy as jnp

    def run(x: Any) -> Any:
        for _ in range(steps):
            x = jnp.tanh(x @ x) if len(shape) == 2 else jnp.sin(x)
        return x

    return jax.jit(run)


def claim(shape: tuple[int, ...], steps: tuple[int, int], seconds: float) -> str:
    """What is claimed of two functions of so many steps each."""
    import jax
    import jax.numpy as jnp

    pair = [function(shape, count) for count in steps]
    epochs = []
    for _ in range(timing.EPOCHS):
        jax.clear_caches()
        x = jnp.full(shape, 0.01)

        def side(call: Any, x: Any = x) -> timing.Side:
            return timing.Side(lambda count: [x] * count, lambda item: call(item).block_until_ready())

        sides = [side(call) for call in pair]
        calls = [timing.calls_for(one)[0] for one in sides]
        first, second = timing.rounds(sides, calls, MOST_ROUNDS, seconds / timing.EPOCHS, MEASURES)
        epochs.append((first, second))
    return str(timing.compare(epochs, MEASURES)["claim"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10, metavar="N", help="of each kind (default: 10)")
    parser.add_argument("--seconds", type=float, default=4.0, metavar="S", help="of timing each pair (default: 4)")
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    for name, shape in SHAPES.items():
        for what, steps in (("equal", (12, 12)), ("1.2 times", (12, 10))):
            claims = Counter(claim(shape, steps, args.seconds) for _ in range(args.pairs))
            print(f"{name}, {what}: {dict(claims)}", flush=True)


if __name__ == "__main__":
    main()
