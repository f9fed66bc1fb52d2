"""Names that Equinox removed."""

import equinox as eqx
import jax.numpy as jnp
from equinox import nn


def pooled(x):
    return eqx.nn.MaxPool2D(2)(x)  # expect: removed-api


# raises AttributeError: pooled(jnp.ones((1, 4, 4)))


def averaged(x):
    return nn.AvgPool1D(2)(x)  # expect: removed-api


# raises AttributeError: averaged(jnp.ones((1, 4)))


# --- never flagged -------------------------------------------------------------


def renamed(x):
    return eqx.nn.MaxPool2d(2)(x)


# runs: renamed(jnp.ones((1, 4, 4)))


# --- options and modules that are gone -----------------------------------------


def mapped(f):
    return eqx.filter_vmap(f, out=0)  # expect: removed-api


def linear_of():
    return eqx.nn.linear  # expect: removed-api


def mapped_again(f):
    return eqx.filter_vmap(f, out_axes=0), eqx.nn.Linear


# raises ValueError: mapped(jnp.sin)
# raises AttributeError: linear_of()
# runs: mapped_again(jnp.sin)
