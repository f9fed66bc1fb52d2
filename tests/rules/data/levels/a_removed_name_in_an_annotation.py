from __future__ import annotations

import jax


def postponed(x: jax.tree_map):  # info: removed-api
    return x


def called(x):
    return jax.tree_map(abs, x)  # error: removed-api
