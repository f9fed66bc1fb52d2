"""Ways of Haiku to stage a function, without defects."""

import functools

import haiku as hk
import jax
import jax.numpy as jnp


def network(x, is_training):
    x = hk.Linear(3)(x)
    if is_training:
        x = hk.dropout(hk.next_rng_key(), 0.5, x)
    return hk.BatchNorm(True, True, 0.9)(x, is_training)


transformed = hk.transform_with_state(network)


@functools.partial(jax.jit, static_argnums=(4,))
def haiku_apply(params, state, key, x, is_training):
    return transformed.apply(params, state, key, x, is_training)


def haiku_run(x):
    params, state = transformed.init(jax.random.PRNGKey(0), x, True)
    return haiku_apply(params, state, jax.random.PRNGKey(1), x, False)


# runs: haiku_run(jnp.ones((2, 3)))
