from __future__ import annotations, generator_stop

from typing import NamedTuple

import equinox as eqx
import jax


class Parameters(eqx.Module):
    function: jax.linear_util.WrappedFun  # info: removed-api


class Pair(NamedTuple):
    key: jax.random.KeyArray  # info: removed-api


def of_a_module(x: jax.linear_util.WrappedFun):  # info: removed-api
    return x
