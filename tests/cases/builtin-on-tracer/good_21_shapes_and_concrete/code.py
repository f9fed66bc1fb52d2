import math
from functools import partial

import jax
import jax.numpy as jnp


def fan_in_scale(shape, gain=1.0):
    fan = max(1, math.prod(shape[:-1]))
    return gain / math.sqrt(fan)


@partial(jax.jit, static_argnames="width")
def init(key, width, gain=2.0):
    shape = (width, min(width, 4))
    return gain * fan_in_scale(shape) * jax.random.normal(key, shape)


def relu_like(x):
    return jnp.maximum(x, 0.0) + jnp.minimum(x, 1.0)


slope = jax.grad(relu_like)


@jax.jit
def combine(params):
    biggest = max(params, key=lambda k: params[k].size)
    order = sorted(params, key=len)
    ok = all(p.ndim == 1 for p in params.values()) and any(k for k in params)
    total = sum(p.sum() for p in params.values())
    return abs(total) + round(params[biggest][0]) + pow(total, 2) + len(order) * ok
