import jax
import jax.numpy as jnp

product = jax.jit(lambda x, y: x @ y, donate_argnums=0)
double = jax.jit(lambda x: 2 * x, donate_argnums=0)


def run(key, shape, y):
    x = jax.random.normal(key, shape)
    product(x, y)
    return x + 1  # info: donated-reuse


def grow(key):
    x = jax.random.normal(key, (3, 3))
    double(x)
    return x + 1  # error: donated-reuse


def passed(x: jax.Array):
    double(x)
    return x + 1  # info: donated-reuse
