import functools
import time

import jax
import jax.numpy as jnp


@jax.jit
def update(params, key):
    return params + jax.random.normal(key, params.shape)


def profile(params, key):
    start = time.perf_counter()
    for _ in range(5):
        params = update(params, key)  # info: key-reuse-in-loop
        jax.block_until_ready(params)
    seconds = (time.perf_counter() - start) / 5
    return seconds


def train(params, key):
    for _ in range(5):
        params = update(params, key)  # error: key-reuse-in-loop
    return params


def interpolate(model, key, init):
    latent = jax.random.normal(key, (1, 3))
    if init is not None:
        steps = jnp.linspace(0, 1, 5)
        latent = sample(key, init, steps)  # info: key-reuse
    return latent


def sample(key, init, steps):
    for _ in steps:
        key, sub = jax.random.split(key)
        init = init + jax.random.normal(sub, init.shape)
    return init


def shift(x, key):
    return jnp.roll(x, jax.random.randint(key, (), 0, 4))


def augment(obs, later, key):
    move = functools.partial(shift, key=key)
    return move(obs), move(later)  # info: key-reuse


def other(obs, later, key):
    return shift(obs, key), shift(later, key)  # error: key-reuse


def warm(fn, key, x):
    for _ in range(3):
        jax.block_until_ready(update(x, key))  # info: key-reuse-in-loop
    return x
