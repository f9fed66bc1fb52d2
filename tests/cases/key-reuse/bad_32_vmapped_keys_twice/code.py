import jax
import jax.numpy as jnp


def position(key):
    return jax.random.normal(key, (2,))


def velocity(key):
    return 0.1 * jax.random.normal(key, (2,))


def spawn(key, n):
    keys = jax.random.split(key, n)
    x = jax.vmap(position)(keys)
    v = jax.vmap(velocity)(keys)  # expect: key-reuse
    return x, v


def energy(key, n):
    x, v = spawn(key, n)
    return jnp.sum(x**2, -1) + jnp.sum(v**2, -1)
