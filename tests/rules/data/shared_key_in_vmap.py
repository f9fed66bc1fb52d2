"""Keys that all lanes of a vmap share."""

from functools import partial

import jax
import jax.numpy as jnp


def noisy(key, x):
    return x + jax.random.normal(key)


def by_position(key, xs):
    return jax.vmap(noisy, in_axes=(None, 0))(key, xs)  # expect: shared-key-in-vmap


def captured(key, xs):
    return jax.vmap(lambda x: x * jax.random.uniform(key))(xs)  # expect: shared-key-in-vmap


def staged(key, xs):
    return jax.jit(jax.vmap(noisy, in_axes=(None, 0)))(key, xs)  # expect: shared-key-in-vmap


# runs: by_position(jax.random.key(0), jnp.ones(2)), captured(jax.random.key(0), jnp.ones(2)), staged(jax.random.key(0), jnp.ones(2))


# --- never flagged -------------------------------------------------------------


def split_over_axis(key, xs):
    return jax.vmap(noisy)(jax.random.split(key, xs.shape[0]), xs)


def lane(key, i, x):
    return x + jax.random.normal(jax.random.fold_in(key, i))


def folded(key, xs):
    return jax.vmap(lane, in_axes=(None, 0, 0))(key, jnp.arange(xs.shape[0]), xs)


@partial(jax.vmap, in_axes=(None, 0), axis_name="lane")
def by_axis_index(key, x):
    return x + jax.random.normal(jax.random.fold_in(key, jax.lax.axis_index("lane")))


def unused(key, xs):
    return jax.vmap(lambda k, x: x * 2, in_axes=(None, 0))(key, xs)


# runs: split_over_axis(jax.random.key(0), jnp.ones(2)), folded(jax.random.key(0), jnp.ones(2)), unused(jax.random.key(0), jnp.ones(2))
# runs: by_axis_index(jax.random.key(0), jnp.ones(2))
