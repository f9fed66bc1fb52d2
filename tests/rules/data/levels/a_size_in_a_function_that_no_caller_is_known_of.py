import jax
import jax.numpy as jnp


@jax.jit
def surely(x):
    return x[: int(jnp.ceil(x.shape[0] / 2))]  # error: traced-shape


def half_loss(x):
    y = jnp.sin(x)
    return y[: int(jnp.ceil(y.shape[0] / 2))]  # warning: traced-shape
