import time

import jax
import jax.numpy as jnp
from jax import block_until_ready


@jax.jit
def train(key):
    key, sub = jax.random.split(key)
    return jax.random.normal(sub, (3,)), key


def measure(key):
    out = train(key)
    jax.block_until_ready(out)
    start = time.time()
    out = train(key)  # info: key-used-after-split
    jax.block_until_ready(out)
    return out, time.time() - start


def measure_apart(key):
    if key.size:
        warm = train(key)
        block_until_ready(warm)
        start = time.time()
        out = train(key)  # info: key-used-after-split
        block_until_ready(out)
        return out, time.time() - start


def twice(key):
    first = train(key)
    jax.block_until_ready(first)
    second = train(key)  # error: key-used-after-split
    return first, second
