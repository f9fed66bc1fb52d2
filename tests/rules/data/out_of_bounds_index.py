"""Constant indices of arrays whose shapes the file shows."""

import jax
import jax.numpy as jnp
import numpy as np


def row():
    x = jnp.array([[1, 2, 3], [4, 5, 6]])
    return x[2, :] + x[1, :]  # expect: out-of-bounds-index


# runs: row()


def column(n):
    points = jnp.zeros((n, 1))
    return points[:, 0], points[:, 1]  # expect: out-of-bounds-index


# runs: column(4)


def before():
    x = jnp.zeros(3)
    return x[-4] + x[-3]  # expect: out-of-bounds-index


# runs: before()


def updated():
    x = jnp.zeros((3, 3))
    x = x.at[3, 0].set(1.0)  # expect: out-of-bounds-index
    return x.at[2, 0].set(1.0)


# runs: updated()


def walk(x, n):
    total = 0.0
    for i in range(n):
        total = total + x[i]  # expect: out-of-bounds-index
    return total


WALK = jax.jit(walk, static_argnums=1)
print(WALK(jnp.array([1.0, 2.0, 4.0]), 5))


def halves():
    x = jnp.linspace(0.0, 1.0, 10).reshape(2, 5)
    return x[1, 4], x[0, 5]  # expect: out-of-bounds-index


# runs: halves()


def grown(n):
    rows = []
    for i in range(n):
        rows.append(jnp.ones(2) * i)
    x = jnp.array(rows)
    return x[5]


# runs: grown(6)


def filled():
    x = jnp.zeros(3)
    return x.at[5].get(mode="fill", fill_value=0.0), x[1:9]


# runs: filled()


def on_the_host(flag):
    x = np.zeros(3)
    return x[3] if flag else x[2]


# runs: on_the_host(False)


def two_lengths(flag):
    x = jnp.zeros(3)
    if flag:
        x = jnp.zeros(9)
    return x[5]


# runs: two_lengths(True)


def shown():
    x = jnp.arange(4)
    print("out of bounds:", x[4])


# runs: shown()
