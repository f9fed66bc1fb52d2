from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Dims(NamedTuple):
    rows: int
    cols: int


def make_table(dims, fill):
    return jnp.full((dims.rows, dims.cols), fill)


@partial(jax.jit, static_argnames=("dims",))
def table(dims, fill):
    return make_table(dims, fill).reshape(dims.rows * dims.cols)


def make_step(n_hidden):
    init = jax.nn.initializers.normal()

    @jax.jit
    def step(key, x):
        key, sub = jax.random.split(key)
        w = init(sub, (x.shape[-1], n_hidden))
        size = int(np.prod(x.shape)) // x.ndim
        keys = jax.random.split(key, len(x))
        noise = jax.vmap(lambda k: jax.random.normal(k, (n_hidden,)))(keys)
        return (x @ w + noise).sum(axis=tuple(range(x.ndim - 1))), jnp.zeros(size)

    return step


@jax.jit
def segments(values, ids, weights):
    sums = jax.ops.segment_sum(values, ids, num_segments=len(weights))
    return sums * weights + jnp.bincount(ids, length=weights.shape[0])


@jax.jit
def choose(key, pool, p):
    k1, k2 = jax.random.split(key)
    return jax.random.choice(k1, pool, (3,), p=p), jax.random.permutation(k2, pool)
