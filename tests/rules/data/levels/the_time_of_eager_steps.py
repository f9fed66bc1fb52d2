import time

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def advance(x, y):
    return x + y, y


def relaxed(x, steps):
    for _ in range(steps):
        x = jnp.sin(x) + 1.0
    return x


def advanced(x, steps):
    for _ in range(steps):
        x, y = advance(x, x)
    return x


def sampled(x, steps):
    rows = np.zeros((steps, 3))
    for i in range(steps):
        x = jnp.sin(x) + 1.0
        rows[i] = x
    return rows


def time_of_operations(x, steps):
    start = time.time()
    x = relaxed(x, steps)
    return x, time.time() - start  # info: async-timing


def time_of_a_step(x, steps):
    start = time.time()
    x = advanced(x, steps)
    return x, time.time() - start  # warning: async-timing


def time_of_one_operation(x):
    start = time.time()
    q, r = jnp.linalg.qr(x)
    return q @ r, time.time() - start  # warning: async-timing


def time_of_copies(x, steps):
    start = time.time()
    rows = sampled(x, steps)
    return rows, time.time() - start


def time_of_a_call_that_raises(state, steps):
    start = time.time()
    for _ in range(steps):
        state.x, state.y = advance(state.x, state.y, 3)  # error: transform-argument-mismatch
        state.x.block_until_ready()
    return time.time() - start
