"""pmap in its spellings."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import pmap as parallel


def double(x):
    return 2 * x


called = jax.pmap(double)  # expect: pmap
renamed = parallel(double)  # expect: pmap


@partial(jax.pmap, axis_name="i")  # expect: pmap
def summed(x):
    return jax.lax.psum(x, "i")


# runs: called(jnp.ones((jax.local_device_count(), 2))), summed(jnp.ones((jax.local_device_count(), 2)))


# --- never flagged -------------------------------------------------------------


def pmap(f):
    return [f]


own = pmap(double)
text = "jax.pmap"
mapped = jax.vmap(double, axis_name="i")
# runs: own[0](1.0), mapped(jnp.ones(2))
