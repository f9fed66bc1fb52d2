"""Functions that compile in each call: by their names, programs call some of them again and again."""

import functools

import jax
import jax.numpy as jnp


def loss(w, x, scale=1.0):
    return scale * jnp.mean((x @ w - 1.0) ** 2)


def train_step(w, x):
    return w - 0.1 * jax.jit(jax.grad(loss))(w, x)  # expect: jit-per-call


# runs: train_step(jnp.ones(3), jnp.ones((2, 3)))


def predict(w, x, scale):
    return jax.jit(functools.partial(loss, scale=scale))(w, x)  # expect: jit-per-call


# runs: predict(jnp.ones(3), jnp.ones((2, 3)), 2.0)


class Agent:
    def __init__(self):
        self.w = jnp.ones(3)

    def _choose(self, w, x):
        return jnp.argmax(x * w)

    def act(self, x):
        return jax.jit(self._choose)(self.w, x)  # expect: jit-per-call

    def start(self, x):
        return jax.jit(self._choose)(self.w, x)


# runs: Agent().act(jnp.ones(3)), Agent().start(jnp.ones(3))
