import jax.numpy as jnp


def bad(m):
    out = m.draws(jnp.zeros(3), 3)
    assert jnp.all(out == out[0])
