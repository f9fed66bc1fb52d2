import jax
import jax.numpy as jnp


def run(batches, scale):
    for x in batches:
        y = jax.jit(lambda v: v * scale)(x)  # info: jit-in-loop
        z = jax.jit(lambda: jnp.sin(x) * scale)()  # info: jit-in-loop
        z = jax.jit(lambda v, n=len(x): jnp.sin(v) * n)(z)  # info: jit-in-loop
        scale = jax.jit(lambda v: jnp.sin(v))(scale)  # warning: jit-in-loop
    return y, z
