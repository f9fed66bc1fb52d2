from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.vmap, in_axes=(0, None, None))
def diffuse(x, steps, key):
    def move(i, x):
        return x + jax.random.normal(jax.random.fold_in(key, i), x.shape)

    return jax.lax.fori_loop(0, steps, move, x)


def spread(key, particles, steps):
    final = diffuse(particles, steps, key)  # expect: shared-key-in-vmap
    return jnp.var(final - particles, axis=0)
