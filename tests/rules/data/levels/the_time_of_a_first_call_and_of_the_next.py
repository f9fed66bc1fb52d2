import time

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return x @ x


x = jnp.ones((3, 3))
start = time.time()
y = step(x)
print(time.time() - start)  # info: async-timing
start = time.time()
y = step(x)
print(time.time() - start)  # warning: async-timing
