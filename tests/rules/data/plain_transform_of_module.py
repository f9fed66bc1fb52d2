"""Transforms that need no library: the rule reports nothing here."""

import jax
import jax.numpy as jnp


def rows(xs, key):
    return jax.vmap(lambda x: x + jax.random.normal(key, x.shape))(xs)


# runs: rows(jnp.ones((2, 3)), jax.random.key(0))
