from collections import deque

import jax
import jax.numpy as jnp


def nth_leaf(tree, n):
    leaves = jax.tree.leaves(tree)
    return leaves[n]  # expect: traced-container-index


@jax.jit
def probe(tree, n):
    return nth_leaf(tree, n).sum()


@jax.jit
def delayed(x, lag):
    history = deque([x, 2 * x, 3 * x], maxlen=3)
    return history[lag]  # expect: traced-container-index
