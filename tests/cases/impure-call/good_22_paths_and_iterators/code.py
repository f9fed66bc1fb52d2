import itertools
import os

import jax
import jax.numpy as jnp

NAME = os.path.join("runs", os.environ.get("RUN", "a"))


@jax.jit
def forward(x):
    rates = itertools.cycle((0.1, 0.2))
    names = (f"layer{i}" for i in itertools.count())
    for _ in range(3):
        x = jnp.tanh(x) * next(rates) + len(next(names)) + len(NAME)
    return x


def run(batches):
    stream = iter(batches)
    x = next(stream)
    for batch in stream:
        x = forward(x) + batch
    return x
