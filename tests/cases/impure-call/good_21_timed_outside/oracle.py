import jax.numpy as jnp


def good(m):
    seconds, w = m.measure(jnp.ones((4, 4)))
    assert seconds >= 0 and w.shape == (4, 4)
