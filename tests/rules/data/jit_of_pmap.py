"""``jit`` around ``pmap``."""

from functools import partial

import jax


def drift(x, v):
    return x + 0.1 * v


advance = jax.jit(jax.pmap(drift))  # expect: pmap, jit-of-pmap
bound = jax.jit(partial(jax.pmap(drift, in_axes=(0, None)), v=1.0))  # expect: pmap, jit-of-pmap


@jax.jit  # expect: jit-of-pmap
@jax.pmap  # expect: pmap
def decorated(x):
    return 2 * x


def decay(x, rates):
    for rate in rates:
        x = jax.pmap(lambda x: rate * x)(x)  # expect: pmap, jit-of-pmap
    return x


# --- never flagged -------------------------------------------------------------

inside = jax.pmap(jax.jit(drift))  # expect: pmap
mapped = jax.jit(jax.vmap(drift))
