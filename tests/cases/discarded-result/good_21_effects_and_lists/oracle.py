import jax.numpy as jnp


def good(m):
    assert m.run(jnp.ones(2)) == ["a", "b"]
    assert m.is_valid(jnp.ones(4)) and not m.is_valid(jnp.ones(3))
