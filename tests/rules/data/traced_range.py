"""range() with traced bounds."""

from functools import partial

import jax
import jax.numpy as jnp


@jax.jit
def one_bound(x, n):
    for _ in range(n):  # expect: traced-range
        x = x + 1
    return x


# raises TracerIntegerConversionError: one_bound(1.0, 3)


@jax.jit
def stop_of_two(x, n):
    return sum(x * k for k in range(1, n))  # expect: traced-range


# raises TracerIntegerConversionError: stop_of_two(1.0, 3)


@jax.jit
def step_of_three(x, n):
    return [x[k] for k in range(0, 4, n)]  # expect: traced-range


# raises TracerIntegerConversionError: step_of_three(jnp.ones(4), 2)


@jax.jit
def made_inside(x):
    for _ in range(jnp.int32(3)):  # expect: traced-range
        x = x + 1
    return x


# raises TracerIntegerConversionError: made_inside(1.0)


@jax.vmap
def lanes(n):
    total = 0
    for k in range(n):  # expect: traced-range
        total = total + k
    return total


# raises TracerIntegerConversionError: lanes(jnp.arange(3))


# --- never flagged -------------------------------------------------------------


@partial(jax.jit, static_argnums=1)
def static_bound(x, n):
    for _ in range(n):
        x = x + 1
    for i in range(x.shape[0]):
        x = x.at[i].add(1)
    for i in range(len(x)):
        x = x * 2
    for i in range(x.ndim, x.ndim + 2):
        x = x[None]
    return x


# runs: static_bound(jnp.ones(2), 3)


def differentiated(x):
    n = x.astype(int)
    for _ in range(n):
        x = 2 * x
    return x


slope = jax.grad(differentiated)
# runs: slope(2.0)


def eager(n):
    return [k for k in range(jnp.asarray(n))]


# runs: eager(3)


@jax.jit
def structured(x, n):
    return jax.lax.fori_loop(0, n, lambda i, v: v + i, x)


# runs: structured(1.0, 3)
