import jax.numpy as jnp


def bad(m):
    x = jnp.zeros((2, 3))
    assert jnp.array_equal(m.augment.jitter(x), m.augment.jitter(x))
    assert m.gradient(jnp.ones((3, 2)), jnp.ones((4, 2, 3))).shape == (3, 2)
