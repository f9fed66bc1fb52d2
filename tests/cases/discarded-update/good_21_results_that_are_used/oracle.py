import jax.numpy as jnp


def good(m):
    assert m.reset(jnp.ones(3), 1).tolist() == [1.0, 0.0, 1.0]
    assert m.total(jnp.ones(3)) == 4.0
    assert len(m.several(jnp.ones(3))) == 2
