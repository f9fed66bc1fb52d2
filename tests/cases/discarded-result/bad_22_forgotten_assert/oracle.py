import jax.numpy as jnp


def bad(m):
    assert m.check(jnp.ones(2), jnp.zeros(2)) is True
