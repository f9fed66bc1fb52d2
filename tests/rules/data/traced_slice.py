"""Slices with traced bounds."""

import jax
import jax.numpy as jnp
import numpy as np

TABLE = np.arange(8.0)


@jax.jit
def window(x, i):
    return x[i : i + 2]  # expect: traced-slice


# raises IndexError: window(jnp.ones(4), 1)


@jax.jit
def prefix(x, n):
    return jnp.sin(x)[:n].sum()  # expect: traced-slice


# raises IndexError: prefix(jnp.ones(4), 1)


@jax.jit
def stride(x, k):
    return x[::k]  # expect: traced-slice


# raises IndexError: stride(jnp.ones(4), 2)


@jax.jit
def second_axis(x, n):
    return jnp.sin(x)[:, :n]  # expect: traced-slice


# raises IndexError: second_axis(jnp.ones((4, 4)), 2)


@jax.jit
def update(x, n):
    return jnp.sin(x).at[n:].set(0.0)  # expect: traced-slice


# raises IndexError: update(jnp.ones(4), 2)


@jax.jit
def of_a_list(x, n):
    parts = [x, 2 * x, 3 * x]
    return sum(parts[:n])  # expect: traced-slice


# raises TracerIntegerConversionError: of_a_list(1.0, 2)


@jax.jit
def of_a_table(n):
    return TABLE[:n].sum()  # expect: traced-slice


# raises TracerIntegerConversionError: of_a_table(2)


# --- never flagged -------------------------------------------------------------


@jax.jit
def static_bounds(x, i):
    half = x.shape[0] // 2
    return x[:half].sum() + x[half:].sum() + x[::2].sum() + x[-1] + x[i] + x.at[i].set(0.0).sum() + x[1:-1].sum()


# runs: static_bounds(jnp.ones(4), 1)


def differentiated(x):
    n = x.sum().astype(int)
    return x[:n].sum()


slope = jax.grad(differentiated)
# runs: slope(jnp.ones(4))


def eager(x, n):
    return x[: jnp.asarray(n)]


# runs: eager(jnp.ones(4), 2)


@jax.jit
def dynamic(x, i):
    return jax.lax.dynamic_slice(x, (i,), (2,)) + jax.lax.dynamic_slice_in_dim(x, i, 2)


# runs: dynamic(jnp.ones(4), 1)


# --- outside tracing: the bound is read on the host -------------------------------


def random_crop(key, x, size):
    top = jax.random.randint(key, (), 0, x.shape[0] - size)
    return x[top : top + size]  # expect: traced-slice


def crop_at(key, x, size):
    top = int(jax.random.randint(key, (), 0, x.shape[0] - size))
    return x[top : top + size], np.ones(9)[top:], x[: x.shape[0] // 2]


# runs: random_crop(jax.random.key(0), jnp.ones(9), 2), crop_at(jax.random.key(0), jnp.ones(9), 2)
