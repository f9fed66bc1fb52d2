import jax.numpy as jnp


def good(m):
    a = m.smooth(jnp.ones(4))
    b = m.smooth_twice(jnp.ones(4))
    assert a.shape == b.shape == (4,)
