"""Comparisons with NaN in their spellings."""

import math

import jax
import jax.numpy as jnp
import numpy as np

MISSING = float("nan")


@jax.jit
def spelled(x):
    a = x == jnp.nan  # expect: nan-comparison
    b = np.nan != x  # expect: nan-comparison
    c = x == math.nan  # expect: nan-comparison
    d = x == MISSING  # expect: nan-comparison
    return a, b, c, d


def on_the_host(table):
    rows = np.asarray(table)
    return rows[rows == np.nan]  # expect: nan-comparison


# runs: spelled(jnp.array([1.0, jnp.nan])), on_the_host([1.0, float("nan")])


# --- never flagged -------------------------------------------------------------


class codes:
    nan = -1


@jax.jit
def asked(x):
    filled = jnp.where(jnp.isnan(x), 0.0, x)
    unequal_to_itself = x != x
    return jnp.where(unequal_to_itself, jnp.nan, filled), x == codes.nan


def policy(x, how="nan"):
    return jnp.nan_to_num(x, nan=0.0) if how == "nan" else x


# runs: asked(jnp.array([1.0, jnp.nan])), policy(jnp.ones(2))
