"""Names that JAX deprecated."""

import functools
import os

os.environ["JAX_PLATFORM_NAME"] = "cpu"  # expect: deprecated-api
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax.experimental import pjit
from jax.experimental.pjit import pjit as compiled  # expect: deprecated-api
from jax.experimental.shard_map import shard_map  # expect: deprecated-api


def by_attribute(f):
    return pjit.pjit(f)  # expect: deprecated-api


def by_import(f):
    return compiled(f)


def host():
    return jax.host_id()  # expect: deprecated-api


def on_backend(f):
    return jax.jit(f, backend="cpu")  # expect: deprecated-api


def spread(f, mesh, spec):
    return shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec)


# runs: by_attribute(abs)(1), by_import(abs)(1), on_backend(abs)(1)


# --- never flagged -------------------------------------------------------------


def handed_on(f, backend=None):
    return jax.jit(f, backend=backend)


def present(f, x):
    return jax.jit(f)(x), jax.process_index(), functools.partial(jax.jit, donate_argnums=0), jnp.trunc(x)


def guarded():
    return jax.process_index() if hasattr(jax, "process_index") else jax.host_id()


# runs: handed_on(abs)(1), present(abs, jnp.ones(3)), guarded()
