import jax.numpy as jnp


def bad(m):
    assert m.make_key(0).dtype == jnp.uint32
    assert m.members(jnp.arange(3)).shape == (3, 2)
    assert m.draw(0, 2).shape == (2,)
