"""Functions of Haiku that are jitted before Haiku transforms them, and others."""

import haiku as hk
import jax


@hk.transform  # expect: plain-transform-of-module
@jax.jit
def refused(x):
    return hk.Linear(2)(x)


@hk.without_apply_rng
@hk.transform
def taken(x):
    return hk.Linear(2)(x)


@jax.jit
def step(params, x):
    return taken.apply(params, x)
