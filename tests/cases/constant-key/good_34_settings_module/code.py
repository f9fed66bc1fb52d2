import jax
import jax.numpy as jnp

import settings


def lane(x):
    key = jax.random.key(settings.SEED)
    return x + settings.NOISE * jax.random.normal(key, x.shape)


noisy = jax.vmap(lane)
