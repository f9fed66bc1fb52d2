"""Data sets from files, of unknown size, that compiled functions close over."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from somewhere import load_data, load_settings

(images, labels), _ = load_data()
scaled = jnp.asarray(images).reshape(-1, 784) / 255.0
n, mean = scaled.shape[0], scaled.mean()
archive = np.load("arrays.npz")
bias = archive["bias"]
settings = load_settings()


@jax.jit
def loss(w):
    wrong = jnp.abs(scaled @ w - labels)  # expect: captured-constant
    return wrong.sum() / n - mean + bias[0] + settings.rate


def predicted(w):
    return scaled @ w


@jax.jit
def slope(w):
    return jax.grad(lambda w: predicted(w).sum())(w)


@jax.jit
def width(w):
    return w.reshape(scaled.shape[1], -1)


@jax.jit
def given(w, scaled):
    return scaled @ w


def eager(w):
    return jnp.asarray(scaled) @ w + given(w, scaled)


def train(path, w, steps):
    tokens = np.memmap(path, dtype=np.int32)
    first = tokens[0]
    held_out = jnp.array(tokens[-1000:])

    @jax.jit
    def pick(data, i):
        return jax.lax.dynamic_slice(data, (i,), (8,))

    @jax.jit
    def step(w, i):
        return w + pick(held_out, i).sum() + first  # expect: captured-constant

    for i in range(steps):
        w = step(w, i)
    return w


if __name__ == "__main__":
    print(train(sys.argv[1], jnp.ones(3), 10))
