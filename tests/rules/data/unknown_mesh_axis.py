"""Specs and the meshes they are used with."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def grid():
    return Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))


def slip(x):
    return jax.device_put(x, NamedSharding(grid(), P("dta")))  # expect: unknown-mesh-axis


# raises ValueError: slip(np.ones((2, 2)))


def twice(x):
    mesh = jax.make_mesh((1,), ("x",))
    return NamedSharding(mesh, P("x", "x"))  # expect: unknown-mesh-axis


# raises DuplicateSpecError: twice(1)


def mapped(x):
    return jax.shard_map(abs, mesh=grid(), in_specs=P("row"), out_specs=P("data"))(x)  # expect: unknown-mesh-axis


# raises ValueError: mapped(np.ones((2, 2)))


# --- never flagged -------------------------------------------------------------


def fits(x):
    mesh = grid()
    sharded = jax.device_put(x, NamedSharding(mesh, P(("data", "model"), None)))
    return jax.shard_map(lambda v: v, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(sharded)


def from_elsewhere(x, mesh, axis="rows"):
    return jax.device_put(x, NamedSharding(mesh, P(axis)))


# runs: fits(np.ones((2, 2))), from_elsewhere(np.ones(1), jax.make_mesh((1,), ("rows",)))
