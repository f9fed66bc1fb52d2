import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def report(x):
    lax.cond(x.sum() > 0, lambda x: jax.debug.print("{}", x), lambda x: None, x)
    return x


def run(x):
    report(x).block_until_ready()
    jnp.dot(x, x).block_until_ready()
    names = ["b", "a"]
    names.sort()
    return names


def is_valid(x):
    try:
        x.reshape(2, 2)
    except TypeError:
        return False
    return True
