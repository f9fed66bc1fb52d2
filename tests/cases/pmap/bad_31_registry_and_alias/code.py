import functools

import jax
import jax.numpy as jnp
from jax import pmap as replicate

MAPPERS = {
    "vmap": jax.vmap,
    "pmap": jax.pmap,  # expect: pmap
}


def spread(f, how="vmap"):
    return MAPPERS[how](f)


mean = functools.partial(replicate, axis_name="i")(lambda x: jax.lax.pmean(x, "i"))  # expect: pmap


def halves(x):
    n = jax.local_device_count()
    return mean(jnp.broadcast_to(x, (n, *x.shape)))[0] / 2, spread(jnp.sin)(x)
