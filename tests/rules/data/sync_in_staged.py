"""Transfers and waits while tracing."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def fetched(x):
    return jax.device_get(jnp.sin(x))  # expect: sync-in-staged


# runs: fetched(1.0)


@jax.jit
def waited(x):
    y = jnp.sin(x)
    jax.block_until_ready(y)  # expect: sync-in-staged
    return y


# runs: waited(1.0)


@jax.jit
def waited_by_method(x):
    return jnp.sin(x).block_until_ready()  # expect: sync-in-staged


# raises AttributeError: waited_by_method(1.0)


@jax.jit
def copied(x):
    y = jnp.sin(x)
    y.copy_to_host_async()  # expect: sync-in-staged
    return y


# raises AttributeError: copied(1.0)


# --- never flagged -------------------------------------------------------------

CONCRETE = jax.device_get(jnp.arange(3.0))


@jax.jit
def placed(x):
    return jax.device_put(x) + CONCRETE + np.asarray([1.0, 2.0, 3.0])


# runs: placed(jnp.ones(3))


def eager(x):
    y = placed(x)
    y.copy_to_host_async()
    return jax.device_get(jax.block_until_ready(y)), y.block_until_ready()


# runs: eager(jnp.ones(3))


@jax.jit
def in_a_callback(x):
    jax.debug.callback(lambda v: jax.device_get(v), x)
    return x


# runs: in_a_callback(1.0)


def is_eager(x):
    """Nobody traces ``x``."""
    return not isinstance(x, jax.core.Tracer)


@partial(jax.jit, static_argnums=0)
def checked_where_eager(step, x):
    valid = step(x)
    if is_eager(valid):
        if not jax.device_get(jnp.all(valid)):
            raise ValueError("invalid")
    return valid


# runs: checked_where_eager(jnp.sin, jnp.ones(2))
