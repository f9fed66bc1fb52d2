# /// script
# requires-python = ">=3.10"
# dependencies = [
#     "jax[cpu]>=0.4.30",
# ]
# ///
"""Names that are newer than the oldest supported JAX."""

import functools

import jax
import jax.numpy as jnp
from jax import ffi  # expect: too-new-api
from jax.sharding import AxisType  # expect: too-new-api


@jax.jit(static_argnames="n")  # expect: too-new-api
def tiled(x, n):
    return jnp.tile(x, n)


def by_attribute(x):
    return jax.typeof(x), ffi, AxisType  # expect: too-new-api


def argument(x):
    return jax.lax.top_k(x, 2, axis=0)  # expect: too-new-api


def ambient(mesh):
    with jax.set_mesh(mesh):  # expect: too-new-api
        return jnp.ones(3)


# runs: tiled(jnp.ones(3), n=2), by_attribute(jnp.ones(3)), argument(jnp.ones(3))


# --- never flagged -------------------------------------------------------------

if hasattr(jax, "shard_map"):
    shard_map = jax.shard_map
else:
    from jax.experimental.shard_map import shard_map


@functools.partial(jax.jit, static_argnames="n")
def tiled_before(x, n):
    return jnp.tile(x, n)


def present(tree):
    return jax.tree.map(abs, tree), jnp.concat, jax.export, jax.NamedSharding, shard_map


def guarded(x):
    try:
        return jax.typeof(x)
    except AttributeError:
        return jax.core.get_aval(x)


# runs: tiled_before(jnp.ones(3), n=2), guarded(jnp.ones(3))
