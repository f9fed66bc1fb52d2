import jax.numpy as jnp


def bad(m):
    out = m.noisy(jnp.zeros((4, 3)))
    assert jnp.all(out == out[0])
