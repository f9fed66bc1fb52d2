import jax.numpy as jnp


def good(m):
    assert m.run(jnp.ones(4)).shape == (4,)
    assert m.run(jnp.zeros(4)).shape == (4,)
