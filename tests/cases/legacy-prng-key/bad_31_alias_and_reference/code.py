from functools import partial

import jax
import jax.numpy as jnp
from jax import random as jr

make_key = partial(jr.PRNGKey, impl="threefry2x32")  # expect: legacy-prng-key


def members(seeds):
    return jax.vmap(jr.PRNGKey)(seeds)  # expect: legacy-prng-key


def draw(seed, n):
    return jr.normal(make_key(seed), (n,))
