import jax.numpy as jnp


def bad(m):
    a = m.predict(jnp.ones(2))
    m.options.set_temperature(10.0)
    assert jnp.array_equal(m.predict(jnp.ones(2)), a)
