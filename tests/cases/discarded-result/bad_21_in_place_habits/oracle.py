import jax.numpy as jnp


def bad(m):
    assert m.top(jnp.array([1.0, 3.0, 2.0])).tolist() == [1.0, 3.0]
    assert m.normalise(jnp.array([2.0, 2.0])).tolist() == [2.0, 2.0]
