"""JAX arrays that a program pickles, of which the first counts, and values that look like them."""

import io
import pickle

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(params):
    return jax.tree.map(lambda p: p * 0.9, params)


def save_history(file):
    losses = []
    for _ in range(3):
        losses.append(jnp.sum(jnp.ones(3)))
    pickle.dump([float(loss) for loss in losses], file)
    pickle.dump(np.stack(losses), file)


# runs: save_history(io.BytesIO())


def save_given(file, params):
    pickle.dump(params, file)


# runs: save_given(io.BytesIO(), {"w": jnp.ones(3)})


def save_trained(file):
    params = step({"w": jnp.ones(3)})
    pickle.dump(jax.device_get(params), file)
    pickle.dump(jax.tree.map(np.asarray, params), file)
    pickle.dump(jax.tree.map(lambda p: np.array(p), params), file)
    pickle.dump({"epoch": 3}, file)
    pickle.dump(params, file)  # expect: pickled-array
    pickle.dump({"params": params, "epoch": 3}, file, protocol=4)


# runs: save_trained(io.BytesIO())
