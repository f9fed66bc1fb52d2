import jax.numpy as jnp


def good(m):
    assert m.run(jnp.ones(2), 2) is not None
