# %%
import jax
import numpy as np


def warp(samples):
    return np.tanh(samples)


def bend(samples):
    return np.sin(samples)  # info: numpy-on-tracer


# %%
warp_on_the_device = jax.jit(warp)

# %%
bend_on_the_device = jax.jit(bend)
bend_on_the_device(np.ones(3))
