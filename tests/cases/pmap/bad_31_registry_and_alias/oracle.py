import jax.numpy as jnp


def bad(m):
    a, b = m.halves(jnp.ones(3))
    assert a.shape == b.shape == (3,)
    assert m.spread(jnp.sin, "pmap")(jnp.ones((1, 2))).shape == (1, 2)
