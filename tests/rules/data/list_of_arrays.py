"""Lists that `jnp.array` converts: of arrays that a loop collected, and others."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def reward(x):
    return jnp.sum(x)


def collected(xs):
    rewards, rows = [], []
    for x in xs:
        rewards.append(reward(x))
        rows += [2 * jnp.asarray(x)]
    a = jnp.array([r for r in rewards])  # expect: list-of-arrays
    return a, jnp.asarray(rows, dtype=jnp.float32), jnp.stack(rewards)  # expect: list-of-arrays


# runs: collected([jnp.ones(2)] * 3)


def others(xs, given: list):
    numbers, host = [], []
    for x in xs:
        numbers.append(float(reward(x)))
        host.append(np.asarray(reward(x)))
    pair = jnp.array([reward(xs[0]), reward(xs[1])])
    return jnp.array(numbers), jnp.array(host), pair, jnp.array(given), jnp.array(xs)


@jax.jit
def traced(xs):
    return jnp.array([jnp.sum(x) for x in xs])


# runs: others([jnp.ones(2)] * 3, [1]), traced([jnp.ones(2)] * 3)


def mapped(rows):
    made = [jnp.ones(3) for _ in rows]
    return list(map(jnp.array, [made, made])), jax.tree.map(jnp.asarray, made)
