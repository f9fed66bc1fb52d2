import jax.numpy as jnp

jnp.zeros(3)  # starts JAX


def shifted(x):
    jnp.sort(x)  # warning: discarded-result
    return x - x[0]


def test_shifted(x):
    jnp.sort(x)  # info: discarded-result
    return shifted(x)
