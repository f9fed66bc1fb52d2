"""Loops over the leading axis of a traced array."""

import jax
import jax.numpy as jnp


@jax.jit
def looped(x):
    total = 0.0
    for row in jnp.sin(x):  # expect: traced-iteration
        total = total + row
    return total


# runs: looped(jnp.ones(3))


@jax.jit
def comprehension(x):
    return jnp.stack([row * 2 for row in jnp.sin(x)])  # expect: traced-iteration


# runs: comprehension(jnp.ones(3))


@jax.jit
def numbered(x):
    return sum(i * row for i, row in enumerate(jnp.sin(x)))  # expect: traced-iteration


# runs: numbered(jnp.ones(3))


@jax.jit
def paired(x, y):
    return [a * b for a, b in zip(jnp.sin(x), jnp.cos(y))]  # expect: traced-iteration


# runs: paired(jnp.ones(3), jnp.ones(3))


# --- never flagged -------------------------------------------------------------


@jax.jit
def containers(pairs, table):
    total = 0.0
    for a, b in [(1.0, 2.0), (3.0, 4.0)]:
        total = total + a * b
    for _name, value in table.items():
        total = total + value
    for leaf in jax.tree.leaves(pairs):
        total = total + leaf
    for item in pairs:
        total = total + item
    return total


# runs: containers([1.0, 2.0], {"a": 1.0})


@jax.jit
def short(x):
    total = 0.0
    for part in jnp.stack([x, 2 * x, 3 * x]):
        total = total + part
    for part in jnp.array([x, x]):
        total = total + part
    a, b = jnp.sin(jnp.array([x, x]))
    return total + a + b


# runs: short(1.0)


@jax.jit
def keys(key):
    k1, k2 = jax.random.split(key)
    k3, k4, k5 = jax.random.split(k2, 3)
    return [jax.random.normal(k) for k in (k1, k3, k4, k5)]


# runs: keys(jax.random.key(0))


@jax.jit
def layer_keys(key):
    return [jax.random.normal(k) for k in jax.random.split(key, 4)]


# runs: layer_keys(jax.random.key(0))


def eager(x):
    return [row.sum() for row in jnp.sin(x)]


# runs: eager(jnp.ones((2, 2)))


@jax.jit
def by_shape(x):
    return sum(n for n in x.shape) + sum(i for i in range(x.shape[0]))


# runs: by_shape(jnp.ones(3))


MOVES = jnp.array([[-1, 0], [0, 1], [1, 0], [0, -1]])


class Grid:
    STEPS = jnp.array([[0, 1], [1, 0]])

    def moved(self, position):
        return jax.vmap(lambda step: [p + s for p, s in zip(position, step)])(self.STEPS)


@jax.jit
def rows(position):
    return [sum(position + m for m in move) for move in MOVES], Grid().moved(position)


@jax.jit
def picked(c):
    names = ["xx", "yy", "xy"]
    return dict(zip(names, c[jnp.array([0, 1, 0]), jnp.array([0, 1, 1])]))


@jax.jit
def listed(c):
    return list(c[([0, 1, 0], [0, 1, 1])])


@jax.jit
def counted(x):
    length = 12
    return [x * i for i in jnp.arange(length)] + [x * i for i in jnp.arange(1, length)]


# runs: rows(jnp.ones(2)), picked(jnp.ones((2, 2))), listed(jnp.ones((2, 2))), counted(1.0)
