'''Not: from __future__ import annotations'''

import jax


def evaluated(x: jax.tree_map, y: "jax.tree_map"):  # error: removed-api
    local: jax.tree_map = x
    return local


def of_a_module(x: jax.linear_util.WrappedFun):  # error: removed-api
    return x
