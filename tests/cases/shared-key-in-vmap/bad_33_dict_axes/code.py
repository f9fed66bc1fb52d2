from functools import partial

import jax
import jax.numpy as jnp


def corrupt(batch):
    noise = jax.random.normal(batch["key"], batch["x"].shape)
    return {**batch, "x": batch["x"] + noise}


@jax.jit
def corrupted(key, xs):
    axes = ({"x": 0, "key": None},)
    spread = jax.vmap(corrupt, in_axes=axes, out_axes={"x": 0, "key": None})
    return spread({"x": xs, "key": key})["x"]  # expect: shared-key-in-vmap
