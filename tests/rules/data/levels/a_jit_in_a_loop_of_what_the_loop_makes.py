import functools

import jax
import jax.numpy as jnp


def make(x):
    return lambda a: a + x


def run(batches, a, n):
    out = []
    for b in batches:
        f = make(b)
        out.append(jax.jit(jax.vmap(f))(a))  # info: jit-in-loop
        g = functools.partial(jnp.add, b)
        out.append(jax.jit(jax.vmap(g))(a))  # info: jit-in-loop
        h = make(n)
        out.append(jax.jit(jax.vmap(h))(a))  # info: jit-in-loop
        out.append(jax.jit(jax.vmap(make(n)))(b))  # info: jit-in-loop
    return out
