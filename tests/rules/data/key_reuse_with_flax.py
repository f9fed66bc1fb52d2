"""One key for two collections of Flax."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x)


def two_collections(key, x):
    return Net().init({"params": key, "dropout": key}, x)  # expect: key-reuse


# runs: two_collections(jax.random.key(0), jnp.ones((1, 2)))


# --- never flagged -------------------------------------------------------------


def distinct_collections(key, x):
    params_key, dropout_key = jax.random.split(key)
    return Net().init({"params": params_key, "dropout": dropout_key}, x)


# runs: distinct_collections(jax.random.key(0), jnp.ones((1, 2)))
