"""Derivatives by whole numbers."""

import jax
import jax.numpy as jnp


def energy(x, n):
    return 0.5 * n * jnp.sum(x**2)


def literal():
    return jax.grad(energy)(3, 1.0)  # expect: integer-grad


# raises TypeError: literal()


COUNTS = jnp.array([3, 1, 4, 1, 5])
WEIGHTS = jnp.array([[3, 1.0], [4, 1]])


def by_counts():
    return jax.grad(lambda c: jnp.sum(c * 2.0))(COUNTS)  # expect: integer-grad


# raises TypeError: by_counts()


def by_weights():
    return jax.grad(lambda w: jnp.sum(w * 2.0))(WEIGHTS)


# runs: by_weights()


def spins():
    start = jnp.where(jnp.arange(4) % 2 == 0, 1, -1)
    return jax.value_and_grad(energy)(start, 1.0)  # expect: integer-grad


# raises TypeError: spins()


@jax.jit
def by_mask(w):
    mask = w > 0
    return jax.grad(lambda m: jnp.sum(m * w))(mask)  # expect: integer-grad


# raises TypeError: by_mask(jnp.ones(2))


def in_a_dict():
    return jax.grad(lambda p: p["w"] * 2.0 * p["n"])({"w": 1.0, "n": 3})  # expect: integer-grad


# raises TypeError: in_a_dict()


# --- never flagged -------------------------------------------------------------


def fine(x):
    a = jax.grad(energy)(x, 3)
    b = jax.grad(energy, argnums=1)(jnp.arange(3), 2.0)
    c = jax.grad(energy, allow_int=True)(jnp.arange(3), 1)
    d = jax.vmap(jax.grad(energy), in_axes=(0, None))(jnp.ones((2, 3)), 1)
    e = jax.grad(energy)(jnp.arange(3.0), 1)
    return a, b, c, d, e


# runs: fine(jnp.ones(3))
