import jax.numpy as jnp


def good(m):
    out = m.noisy(jnp.zeros((4, 3)))
    assert jnp.all(out == out[0])
