from functools import partial

import jax
import jax.numpy as jnp


class Index:
    def __init__(self, ids):
        self.ids = ids

    def missing(self, other):
        return jnp.setdiff1d(self.ids, other)  # expect: data-dependent-shape

    def rows(self):
        return jnp.flatnonzero(self.ids >= 0)  # expect: data-dependent-shape


@partial(jax.jit, static_argnames="op")
def query(ids, other, op="missing"):
    index = Index(ids)
    return index.missing(other) if op == "missing" else index.rows()


@jax.jit
def kept(x, flags):
    chosen = x.compress(flags > 0)  # expect: data-dependent-shape
    return chosen.sum()
