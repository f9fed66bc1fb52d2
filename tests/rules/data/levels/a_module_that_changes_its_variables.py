import jax
import jax.numpy as jnp

scale = 2.0


@jax.jit
def scaled(x):
    return x * scale  # warning: stale-global


a = scaled(jnp.ones(3))
scale = 3.0
b = scaled(jnp.ones(3))
