from functools import lru_cache

import jax
import jax.numpy as jnp


@lru_cache
def frequencies(n):
    return jnp.arange(n) / n


@jax.jit
def modulate(x, f):
    return x * jnp.cos(f)


def run(x):
    return modulate(x, frequencies(x.shape[0]))
