import jax
import numpy as np


@jax.jit
def compiled(x):
    return x + np.random.normal()  # error: host-rng-in-staged


def lane(x):
    return x + np.random.normal()  # warning: host-rng-in-staged


def mapped(xs):
    return jax.vmap(lane)(xs)
