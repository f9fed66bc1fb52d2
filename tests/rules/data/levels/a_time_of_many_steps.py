import time

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return x @ x


def many(x):
    start = time.time()
    for _ in range(2000):
        x = step(x)
    print(time.time() - start)  # info: async-timing
    return x


def few(x):
    start = time.time()
    for _ in range(20):
        x = step(x)
    print(time.time() - start)  # warning: async-timing
    return x


x = step(jnp.ones((3, 3)))
many(x), few(x)
