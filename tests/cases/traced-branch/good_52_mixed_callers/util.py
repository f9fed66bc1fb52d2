import jax.numpy as jnp


def clamp(x, lo=None, hi=None):
    if lo is None and hi is None:
        return x
    if lo is not None:
        x = jnp.maximum(x, lo)
    if hi is not None:
        x = jnp.minimum(x, hi)
    return x


def too_large(x, limit):
    return jnp.any(jnp.abs(x) > limit)
