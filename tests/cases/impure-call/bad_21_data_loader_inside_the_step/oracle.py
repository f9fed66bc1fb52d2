import jax.numpy as jnp


def bad(m):
    w = m.fit(jnp.zeros(2), [jnp.ones(2), jnp.full(2, 5.0), jnp.full(2, 9.0)])
    assert jnp.array_equal(w, jnp.full(2, 3.0))
