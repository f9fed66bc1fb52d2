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
