"""Compiled training step: parameters, optimizer state and the key go in, and their successors come out.

One rule keeps random numbers right: every key is used once. The step splits the key that it gets, uses one
part for dropout, and returns the other part for the next step. `jax.jit` compiles the step once, because
shapes and dtypes stay the same in every call, and `donate_argnums` lets it reuse the memory of the old state.

With Flax and Optax, `init` becomes `model.init`, and `update` becomes `optimizer.update` with
`optax.apply_updates`; the plumbing of the key stays as it is.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

LEARNING_RATE = 0.05
MOMENTUM = 0.9
DROPOUT = 0.1


class State(NamedTuple):
    """Everything that a step changes. A NamedTuple is a pytree, so JAX transforms take it as it is."""

    params: dict
    velocity: dict
    key: jax.Array
    step: jax.Array


def init(key, features, hidden):
    """Split once for each random value, and keep one key for training."""
    first_key, second_key, train_key = jax.random.split(key, 3)
    params = {
        "first": jax.random.normal(first_key, (features, hidden)) / jnp.sqrt(features),
        "second": jax.random.normal(second_key, (hidden, 1)) / jnp.sqrt(hidden),
    }
    velocity = jax.tree_util.tree_map(jnp.zeros_like, params)
    return State(params, velocity, train_key, jnp.zeros((), jnp.int32))


def loss_fn(params, x, y, dropout_key):
    hidden = jnp.tanh(x @ params["first"])
    kept = jax.random.bernoulli(dropout_key, 1 - DROPOUT, hidden.shape)
    hidden = jnp.where(kept, hidden / (1 - DROPOUT), 0.0)
    return jnp.mean((hidden @ params["second"] - y) ** 2)


@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, x, y):
    key, dropout_key = jax.random.split(state.key)
    loss, grads = jax.value_and_grad(loss_fn)(state.params, x, y, dropout_key)
    velocity = jax.tree_util.tree_map(lambda v, g: MOMENTUM * v - LEARNING_RATE * g, state.velocity, grads)
    params = jax.tree_util.tree_map(jnp.add, state.params, velocity)
    return State(params, velocity, key, state.step + 1), loss


def main():
    data_key, noise_key, init_key = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(data_key, (256, 4))
    y = x[:, :1] - 2 * x[:, 1:2] + 0.01 * jax.random.normal(noise_key, (256, 1))
    state = init(init_key, features=4, hidden=16)
    losses = []
    for _ in range(100):
        state, loss = train_step(state, x, y)
        losses.append(loss)  # a device array: reading its value here would wait for the device in every step
    first, last = float(losses[0]), float(losses[-1])
    print(f"step {int(state.step)}: loss {first:.3f} -> {last:.3f}, {train_step._cache_size()} compilation")
    assert last < first / 4


if __name__ == "__main__":
    main()
