import jax
import jax.numpy as jnp


@jax.jit
def top(scores):
    scores.sort()  # expect: discarded-result
    return scores[:2]


def normalise(w):
    w = jnp.asarray(w)
    jnp.divide(w, w.sum())  # expect: discarded-result
    return w
