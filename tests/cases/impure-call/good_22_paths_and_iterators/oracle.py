import jax.numpy as jnp


def good(m):
    assert m.forward(jnp.ones(3)).shape == (3,)
    assert m.run([jnp.ones(3)] * 2).shape == (3,)
