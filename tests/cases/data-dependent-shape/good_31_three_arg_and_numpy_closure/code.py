import functools

import jax
import jax.numpy as jnp
import numpy as np


class Graph:
    def __init__(self, edges):
        self.edges = np.asarray(edges)
        self.loops = self.edges[self.edges[:, 0] == self.edges[:, 1]]
        self.nodes = np.unique(self.edges)

    @functools.partial(jax.jit, static_argnums=0)
    def degree(self, weights):
        deg = jnp.zeros(len(self.nodes)).at[self.edges[:, 0]].add(weights)
        own = np.nonzero(self.edges[:, 0] == self.edges[:, 1])[0]
        return deg.at[self.edges[own, 0]].add(weights[own])

    def heavy(self, weights):
        deg = self.degree(weights)
        return deg[deg > 1.0], jnp.argwhere(deg > 1.0)


@jax.jit
def clamp(x, mask):
    safe = jnp.where(mask, x, 0.0)
    idx = jnp.nonzero(mask, size=2, fill_value=-1)[0]
    total = jnp.sum(x, where=mask)
    top = jnp.argsort(x)[-2:]
    return safe.at[idx].set(total) + x[top].sum() + jnp.extract(mask, x, size=2, fill_value=0).sum()


def threshold(values, frac):
    cut = np.quantile(np.asarray(values), frac)
    return values[values > cut]
