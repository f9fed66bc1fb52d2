import jax
import jax.numpy as jnp

import features


def run():
    return jax.vmap(features.windows)(jnp.ones((2, 6)))  # expect: generator-in-jit
