import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=0)
def scale(x, factor):
    return x * factor


def surely(n):
    x = jnp.ones(n)
    y = scale(x, 2.0)
    return y - x  # error: donated-reuse


def perhaps(fast):
    x = jnp.ones((3, 3))
    y = scale(x, 2.0) if fast else 2.0 * x
    return y - x  # warning: donated-reuse
