import jax.numpy as jnp


def good(m):
    assert m.network(jnp.ones(2)).shape == (2,)
    assert m.record(jnp.ones(2)) == 1
    m.register("cube", lambda x: x**3)
    assert m.network(jnp.ones(2)).shape == (2,)
