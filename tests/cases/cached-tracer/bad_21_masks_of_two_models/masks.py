from functools import cache

import jax.numpy as jnp


@cache
def causal(n):
    return jnp.tril(jnp.ones((n, n), bool))
