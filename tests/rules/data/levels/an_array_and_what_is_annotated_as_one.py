import jax
import jax.numpy as jnp


def fill(x: jax.Array, y):
    x[0] = 1.0  # warning: array-item-assignment
    z = 2 * x
    z[0] = 1.0  # warning: array-item-assignment
    z = jnp.sin(x)
    z[0] = 1.0  # error: array-item-assignment
    return x, z


@jax.jit
def staged(x: jax.Array):
    x[0] = 1.0  # error: array-item-assignment
    return x
