import jax.numpy as jnp


def good(m):
    assert m.network(jnp.ones((2, 3))).shape == (2, 3)
    assert m.network(jnp.zeros((2, 3))).shape == (2, 3)
