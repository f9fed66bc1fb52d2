import jax.numpy as jnp


def bad(m):
    assert jnp.allclose(m.second, m.first - 0.1)
