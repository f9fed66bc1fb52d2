import jax
import jax.numpy as jnp


@jax.jit
def scaled(x, scale=None):
    return jnp.where(scale is None, jnp.sin(x), jnp.cos(x))  # warning: where-on-static


@jax.jit
def masked(x, mask=None):
    return jnp.where(mask is None, x, x * mask)  # error: where-on-static
