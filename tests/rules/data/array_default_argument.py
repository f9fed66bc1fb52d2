"""Defaults of parameters that JAX computes when the file is imported, and others."""

import math

import jax.numpy as jnp
import numpy as np


class Network:
    def __init__(self, width, scale=2 * jnp.sqrt(2)):  # expect: array-default-argument
        self.scale = scale / width


# runs: Network(3)


def shifted(x, offset=np.zeros(3), factor=math.sqrt(2), limits=jnp.finfo(jnp.float32), kind=jnp.tanh):
    return kind(x + offset) * factor + limits.eps


# runs: shifted(jnp.ones(3))


def made_later(make=lambda: jnp.zeros(3)):
    def inner(y=jnp.ones(3)):
        return y

    return make() + inner()


# runs: made_later()
