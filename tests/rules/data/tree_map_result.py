"""Trees that are tested or taken apart, and results that may be."""

import jax
import jax.numpy as jnp


def all_finite(tree):
    if not jax.tree.map(lambda x: bool(jnp.isfinite(x).all()), tree):  # expect: tree-map-result
        return False
    return True if jax.tree.map(jnp.any, tree) else None  # expect: tree-map-result


# runs: all_finite({"a": jnp.ones(3)})


def tested(tree):
    assert jax.tree.all(jax.tree.map(lambda x: x.ndim == 1, tree))
    return bool(jax.tree.leaves(tree))


# runs: tested({"a": jnp.ones(3)})


class Bounds:
    def __init__(self, low, high):
        def of_leaf(a, b):
            if a is None:
                return b, b
            return a, b - a

        self.start, self.width = jax.tree.map(of_leaf, low, high)  # expect: tree-map-result


# runs: Bounds({"a": jnp.ones(3), "b": jnp.ones(2)}, {"a": jnp.ones(3), "b": jnp.ones(2)})


def parts(x, y, tree):
    a, b = jax.tree.map(lambda v: 2 * v, (x, y))
    c, d = jax.tree.map(lambda v, w: (v, w), [x, y], [y, x])
    *rest, last = jax.tree.map(lambda v: (v, v), [x, y])
    pairs = jax.tree.map(lambda v: (v, v), tree)
    return a, b, c, d, rest, last, pairs


# runs: parts(jnp.ones(3), jnp.ones(3), {"a": jnp.ones(2)})
