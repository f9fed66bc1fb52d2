"""Train the classifier: ``python -m spirals.train``."""

from typing import NamedTuple

import jax

from spirals import model
from spirals.data import Batch, augment, epochs, spirals


class State(NamedTuple):
    layers: list[model.Layer]
    key: jax.Array


@jax.jit
def step(state: State, batch: Batch) -> tuple[State, jax.Array]:
    """Take one step; returns the new state and the loss before it."""
    key, augment_key = jax.random.split(state.key)
    points = augment(augment_key, batch.points)
    loss, gradients = jax.value_and_grad(model.cross_entropy)(state.layers, points, batch.labels)
    rate = 0.5 if batch.labels is not None else 0.1
    return State(model.descend(state.layers, gradients, rate), key), loss


def train(seed: int = 0, size: int = 512, epoch_count: int = 60, batch_size: int = 64) -> State:
    """Train from scratch."""
    data_key, layer_key, order_key, key = jax.random.split(jax.random.key(seed), 4)
    data = spirals(data_key, size)
    state = State(model.initialise(layer_key, (2, 32, 32, 2)), key)
    losses = []
    for batch in epochs(order_key, data, epoch_count, batch_size):
        state, loss = step(state, batch)
        losses.append(float(loss))
    print(f"first loss {losses[0]:.3f}, last loss {losses[-1]:.3f}")
    return state


if __name__ == "__main__":
    train()
