import jax
import jax.numpy as jnp


@jax.jit
def waits(x):
    y = jnp.sin(x)
    return jax.block_until_ready(y) + 1.0  # info: sync-in-staged


@jax.jit
def raises(x):
    y = jnp.cos(x)
    y.copy_to_host_async()  # warning: sync-in-staged
    return y
