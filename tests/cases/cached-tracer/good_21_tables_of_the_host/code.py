import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.cache
def kernel(n):
    x = np.exp(-(np.arange(n) ** 2))
    return x / x.sum()


@functools.lru_cache
def table(n):
    with jax.ensure_compile_time_eval():
        return jnp.linspace(0.0, 1.0, n)


@functools.cache
def compiled(mode):
    return jax.jit(functools.partial(jnp.convolve, mode=mode))


@jax.jit
def smooth(x):
    return compiled("same")(x, kernel(3)) + table(x.shape[0])


@jax.jit
def smooth_twice(x):
    return smooth(smooth(x)) + table(x.shape[0])
