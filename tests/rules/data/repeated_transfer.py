"""NumPy arrays that a loop passes to a compiled function, of which the loop changes some."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    return w - 0.1 * x.T @ (x @ w)


@jax.jit
def step_of_batch(w, batch):
    x, y = batch
    return w - 0.1 * x.T @ (x @ w - y)


@partial(jax.jit, static_argnames="n")
def walk(w, x, n):
    for _ in range(n):
        w = w - 0.1 * x.T @ (x @ w)
    return w


def fit(w, n):
    x = np.ones((4, 2))
    for _ in range(n):
        w = step(w, x)  # expect: repeated-transfer
    while jnp.sum(w) > n:
        w = step(w, x)
    return w


# runs: fit(jnp.ones(2), 3)


def fit_batch(w, n):
    x, y = np.ones((4, 2)), np.ones(4)
    batch = (x, y)
    for _ in range(n):
        w = step_of_batch(w, batch)  # expect: repeated-transfer
    return w


# runs: fit_batch(jnp.ones(2), 3)


def fit_pair(w, n):
    x, y = np.ones((4, 2)), np.ones(4)
    for _ in range(n):
        w = walk(step_of_batch(w, (x, y)), x=jnp.asarray(x), n=2)  # expect: repeated-transfer
    return w


# runs: fit_pair(jnp.ones(2), 3)


class Trainer:
    def __init__(self, w):
        self.w = w
        self.data = {"x": np.ones((4, 2))}

    def fit(self, n):
        for _ in range(n):
            self.w = step(self.w, self.data["x"])  # expect: repeated-transfer
        return self.w

    def walk(self, n):
        for _ in range(n):
            self.data = {"x": np.ones((4, 2))}
            self.w = step(self.w, self.data["x"])
        return self.w


# runs: Trainer(jnp.ones(2)).fit(3)
# runs: Trainer(jnp.ones(2)).walk(3)


def fit_changed(w, n):
    x, noise, rate = np.ones((4, 2)), np.ones((4, 2)), np.float32(0.1)
    rng = np.random.default_rng(0)
    for _ in range(n):
        x[0] = rng.normal(size=2)
        rng.standard_normal((4, 2), out=noise)
        w = rate * step(step(w, x), noise)
    for _ in range(5):
        w = step(w, np.ones((4, 2)))
    return w


# runs: fit_changed(jnp.ones(2), 3)


def fit_given(w, x: np.ndarray, n):
    for _ in range(n):
        w = step(w, x)
    return w


# runs: fit_given(jnp.ones(2), jnp.ones((4, 2)), 3)


def fit_on_device(w, n):
    x = jnp.asarray(np.ones((4, 2)))
    for k in range(n):
        w = step(w, x)
        if k % 100 == 0:
            print(step(w, np.ones((4, 2))))
    return w


# runs: fit_on_device(jnp.ones(2), 3)


def refilled(w, source, n):
    x = np.ones((4, 2))
    for _ in range(n):
        source.read_into(x)
        w = step(w, x)
    return w
