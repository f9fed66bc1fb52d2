from functools import partial

import jax
import jax.numpy as jnp

from base import Stateful


class RunningNorm(Stateful):
    def __init__(self, n, momentum=0.9):
        self.momentum = momentum
        self.mean = jnp.zeros(n)

    @partial(jax.jit, static_argnames=("self",))
    def __call__(self, x):
        self.set_state("mean", self.momentum * self.mean + (1 - self.momentum) * x.mean(axis=0))
        return x - self.mean
