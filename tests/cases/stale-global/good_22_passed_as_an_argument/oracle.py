import jax.numpy as jnp


def good(m):
    m.set_rate(0.5)
    a = m.step(jnp.ones(2))
    m.set_rate(0.25)
    assert not jnp.array_equal(m.step(jnp.ones(2)), a)
