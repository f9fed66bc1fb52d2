"""Static arguments with and without a hash."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

CONFIG = {"scale": 2.0}


@partial(jax.jit, static_argnames=("axes",))
def standardise(x, axes=(0,)):
    return x - x.mean(tuple(axes))


scaled = jax.jit(lambda x, config: x * config["scale"], static_argnums=1)


@partial(jax.jit, static_argnames="by")
def shifted(x, by):
    return x + by


def listed(x):
    return standardise(x, axes=[0])  # expect: unhashable-static


# raises ValueError: listed(jnp.ones(2))


def positional(x):
    return standardise(x, [0])  # expect: unhashable-static


# raises ValueError: positional(jnp.ones(2))


def configured(x):
    return scaled(x, CONFIG)  # expect: unhashable-static


# raises ValueError: configured(jnp.ones(2))


def array(x):
    return shifted(x, by=jnp.array(1))  # expect: unhashable-static


# raises ValueError: array(jnp.ones(2))


# --- never flagged -------------------------------------------------------------


@jax.jit
def total(arrays, weights):
    return sum(a.sum() for a in arrays) * weights["w"]


def fine(x):
    return standardise(x, axes=(0,)), standardise(x), total([x, x], {"w": 2.0}), standardise(x, axes=tuple([0]))


# runs: fine(jnp.ones(2))


class Bounds(NamedTuple):
    low: jax.Array
    high: jax.Array


@partial(jax.jit, static_argnums=1)
def clipped(x, bounds: Bounds):
    return jnp.clip(x, bounds.low, bounds.high)


@partial(jax.jit, static_argnames="bounds")  # expect: unhashable-static
def clipped_by_any(x, bounds: Bounds):
    return jnp.clip(x, bounds.low, bounds.high)


def clip(x, low, high):
    return clipped(x, Bounds(0.0, 1.0)) + clipped_by_any(x, bounds=Bounds(low, 1.0))


# runs: clip(jnp.ones(2), 0.0, 1.0)
