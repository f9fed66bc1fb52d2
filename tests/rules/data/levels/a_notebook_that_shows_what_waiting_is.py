# %%
import time

import jax
import jax.numpy as jnp

x = jnp.ones((1000, 1000))

# %%
start = time.time()
y = x @ x
print(time.time() - start)  # info: async-timing

# %%
start = time.time()
y = (x @ x).block_until_ready()
print(time.time() - start)

# %%
start = time.time()
y = x @ x
print(time.time() - start)  # warning: async-timing
