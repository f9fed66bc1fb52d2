from functools import partial

import jax
import jax.numpy as jnp

triple = partial(jax.random.split, num=3)


def init(key, width, bias):
    if bias:
        triple(key)  # expect: discarded-split
        offset = jnp.ones(width)
    else:
        offset = jnp.zeros(width)
    return jnp.eye(width), offset
