import jax
import jax.numpy as jnp


def start(shape):
    return jnp.zeros()  # error: library-call-mismatch


def labels(x):
    return jax.nn.one_hot(x, 3, depth=3)  # warning: library-call-mismatch


def roots(x):
    return jnp.sqrt(x=x)  # warning: library-call-mismatch
