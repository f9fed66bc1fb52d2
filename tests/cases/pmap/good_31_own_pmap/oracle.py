import jax.numpy as jnp


def good(m):
    a, b, c = m.run(jnp.ones(4))
    assert a.shape == c.shape == (4,) and b == 4.0
