import jax
import jax.numpy as jnp

HANDLERS = {0: jnp.sin, 1: jnp.cos}


def handle(kind, x):
    return HANDLERS[kind](x)  # expect: traced-hash


def run(kinds, xs):
    return jax.lax.map(lambda kx: handle(*kx), (kinds, xs))
