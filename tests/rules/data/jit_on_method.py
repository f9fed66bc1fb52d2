"""Jitted methods."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Layer:
    def __init__(self, w):
        self.w = w

    @jax.jit  # expect: jit-on-method
    def apply(self, x):
        return x @ self.w

    @partial(jax.jit, static_argnames="n")  # expect: jit-on-method
    def repeat(self, x, n):
        return x * n


# --- never flagged -------------------------------------------------------------


class Careful:
    def __init__(self, w):
        self.w = w
        self.fast = jax.jit(self.apply)

    @staticmethod
    @jax.jit
    def scale(x):
        return 2 * x

    @partial(jax.jit, static_argnums=(0,))
    def shift(self, x):
        return x + 1

    @partial(jax.jit, static_argnames=("self",))
    def shift_again(self, x):
        return x + 1

    def apply(self, x):
        return x @ self.w


class State(NamedTuple):
    w: jax.Array

    @jax.jit
    def norm(self):
        return jnp.sum(self.w)


# runs: Careful(jnp.eye(2)).shift(1.0), Careful.scale(1.0), State(jnp.ones(2)).norm()
