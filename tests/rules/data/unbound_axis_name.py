"""Collectives and the transforms that bind their axes."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def alone(x):
    return lax.psum(x, "i")  # expect: unbound-axis-name


# raises NameError: alone(1.0)


def helper(x):
    return x / lax.axis_size("devices")  # expect: unbound-axis-name


@jax.jit
def through_a_helper(x):
    return helper(x)


# raises NameError: through_a_helper(1.0)


@jax.jit
def other_name(x):
    return jax.vmap(lambda v: lax.pmean(v, "batch"), axis_name="rows")(x)  # expect: unbound-axis-name


# raises NameError: other_name(jnp.ones(2))


# --- never flagged -------------------------------------------------------------


@partial(jax.vmap, axis_name="i")
def centred(x):
    return x - lax.pmean(x, "i")


def shared(x):
    return lax.pmean(x, ("i", "j"))


both = jax.jit(jax.vmap(jax.vmap(shared, axis_name="j"), axis_name="i"))


def optional(x, axis=None):
    return x if axis is None else lax.psum(x, axis)


single = jax.jit(optional)


@jax.jit
def inner(x):
    return lax.psum(x, "i")


outer = jax.vmap(inner, axis_name="i")


def nobody_here_stages_this(x):
    return lax.psum(x, "unknown")


# runs: centred(jnp.ones(3)), both(jnp.ones((2, 2))), single(1.0), outer(jnp.ones(3))
