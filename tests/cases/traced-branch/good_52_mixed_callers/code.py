import jax
import jax.numpy as jnp

import util


def pad_to(x, n):
    if x.shape[0] >= n:
        return x
    return jnp.pad(x, (0, n - x.shape[0]))


@jax.jit
def staged(x):
    return util.clamp(pad_to(x, 8), 0.0, None)


def eager(x, limit):
    y = staged(x)
    if util.too_large(y, limit):
        y = y / jnp.max(y)
    return util.clamp(y, None, limit)


@jax.jit
def jitted_flag(x):
    return util.too_large(x, 3.0)


def drive(x):
    return eager(x, 2.0) if jitted_flag(x) else x
