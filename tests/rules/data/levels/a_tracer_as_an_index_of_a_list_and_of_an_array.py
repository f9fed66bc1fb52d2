import jax
import numpy as np

NAMES = [1.0, 2.0]
TABLE = np.arange(3)


@jax.jit
def look(i):
    if i is None:
        return TABLE[i]
    return NAMES[i]  # error: traced-container-index


@jax.jit
def look_up(i):
    return TABLE[i]  # info: traced-container-index
