import jax
import jax.numpy as jnp


def test_dtype():
    assert jnp.float64(0.1) == 0.1  # info: x64-disabled


def half():
    return jnp.float64(0.1) / 2  # warning: x64-disabled


@jax.jit
def test_many():
    x = jnp.ones(3)
    for _ in range(1000):  # info: unrolled-loop
        x = jnp.sin(x) + jnp.cos(x)
    return x


@jax.jit
def many(x):
    for _ in range(1000):  # warning: unrolled-loop
        x = jnp.sin(x) + jnp.cos(x)
    return x
