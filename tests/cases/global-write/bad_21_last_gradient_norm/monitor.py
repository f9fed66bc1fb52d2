import jax.numpy as jnp

_norm = None
n_steps = 0


def watch(grads):
    global _norm, n_steps
    n_steps += 1  # expect: global-write
    _norm = jnp.linalg.norm(grads)  # expect: global-write


def last_norm():
    return _norm
