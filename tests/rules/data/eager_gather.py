"""JAX arrays that a loop outside tracing indexes, by arrays and by other indices."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    return w - 0.1 * x.T @ (x @ w)


@jax.jit
def step_at(w, x, index):
    x = x[index]
    return w - 0.1 * x.T @ (x @ w)


def fit(w, n):
    x, y = jnp.ones((40, 2)), jnp.ones(40)
    for _ in range(n):
        index = np.random.choice(len(x), 8)
        w = step(w, x[index]) * y[index].mean()  # expect: eager-gather
    return w


# runs: fit(jnp.ones(2), 3)


def fit_shuffled(w, key, n):
    data = {"x": jnp.ones((40, 2)), "y": jnp.ones(40)}
    order = jax.random.permutation(key, 40)
    for start in range(0, n, 8):
        index = order[start : start + 8]
        batch = {k: v[index] for k, v in data.items()}  # expect: eager-gather
        w = step(w, batch["x"])
    return w


# runs: fit_shuffled(jnp.ones(2), jax.random.key(0), 16)


def loader(x, size):
    rng = np.random.default_rng(0)
    while True:
        order = rng.permutation(len(x))
        for start in range(0, len(x), size):
            yield x[order[start : start + size]]  # expect: eager-gather


def fit_loaded(w, n):
    for _, x in zip(range(n), loader(jnp.ones((40, 2)), 8)):
        w = step(w, x)
    return w


# runs: fit_loaded(jnp.ones(2), 3)


def drawn(x, rng):
    return x[rng.integers(0, 40, size=8), :]  # expect: eager-gather


def fit_drawn(w, n):
    x = jnp.ones((40, 2))
    for _ in range(n):
        w = step(w, drawn(x, np.random.default_rng(0)))
    return w


# runs: fit_drawn(jnp.ones(2), 3)


def fit_inside(w, n):
    x, rows, first = jnp.ones((40, 2)), np.ones((40, 2)), np.arange(8)
    for i in range(n):
        index = np.random.permutation(40)
        w = step_at(w, x, index[:8])
        w = step(w, rows[index[:8]])
        x = x.at[index[:8]].set(0.5)
        w = step(w, x[i : i + 8]) * x[np.random.randint(0, 40)] + x[first].mean()
        if i % 100 == 0:
            print(x[index].mean())
    for _ in range(5):
        index = np.random.permutation(40)
        w = step(w, x[index])
    return w


# runs: fit_inside(jnp.ones(2), 3)
