import jax.numpy as jnp


def good(m):
    assert m.stack([[1.0, 2.0], [3.0]]).tolist() == [[1.0, 2.0], [3.0, 0.0]]
    assert m.histogram(jnp.array([0, 1, 1]), 3).tolist() == [1, 2, 0]
