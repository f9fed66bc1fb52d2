"""Measure the classifier: ``python -m spirals.evaluate``."""

from functools import partial

import jax
import jax.numpy as jnp

from spirals import model
from spirals.data import Batch, spirals
from spirals.train import train


@jax.jit
def accuracy(layers: list[model.Layer], batch: Batch) -> jax.Array:
    """The share of points that are told right."""
    guesses = model.logits(layers, batch.points).argmax(axis=1)
    right = (guesses == batch.labels).sum()
    return float(right) / len(batch.points)


@jax.jit
def confusion(layers: list[model.Layer], batch: Batch, classes: int) -> jax.Array:
    """How often class i is taken for class j."""
    guesses = model.logits(layers, batch.points).argmax(axis=1)
    return jnp.zeros((classes, classes), int).at[batch.labels, guesses].add(1)


@partial(jax.jit, static_argnames="activation")
def hardest(layers: list[model.Layer], batch: Batch, activation: str = "tanh") -> jax.Array:
    """The mean of the points that are told wrong."""
    wrong = model.logits(layers, batch.points, activation).argmax(axis=1) != batch.labels
    print(f"told wrong: {wrong.sum()}")
    return batch.points[wrong].mean(axis=0)


def report(seed: int = 1) -> None:
    """Train and print what came of it. Outside of a trace, arrays have values, so all of this is fine."""
    layers = train().layers
    batch = spirals(jax.random.key(seed), 256)
    share = accuracy(layers, batch)
    if share < 0.9:
        print("that is not much")
    print(f"accuracy {float(share):.2%}")
    print(confusion(layers, batch, 2))
    print(hardest(layers, batch))


if __name__ == "__main__":
    report()
