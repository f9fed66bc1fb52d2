import time

import jax
import jax.numpy as jnp


def measure(x):
    step = jax.jit(lambda v: v @ v)
    start = time.time()
    out = step(x)
    took = time.time() - start  # info: async-timing
    print(f"compiled in {took:.1f} s")
    start = time.time()
    again = step(x)
    took = time.time() - start  # warning: async-timing
    print(f"ran in {took:.1f} s")
    return out, again
