import jax
import jax.numpy as jnp


def fit(w, batches):
    stream = iter(batches)

    @jax.jit
    def step(w):
        x = next(stream)  # expect: impure-call
        return w + x

    for _ in batches:
        w = step(w)
    return w
