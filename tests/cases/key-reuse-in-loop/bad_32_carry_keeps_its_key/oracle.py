import jax
import jax.numpy as jnp


def raises(exc, fn, *a, **k):
    try:
        fn(*a, **k)
    except exc as e:
        return e
    raise AssertionError(f"{exc.__name__} not raised")


def bad(m):
    carry, _ = m.sample(jax.random.key(0), jnp.zeros(2), 4)
    assert jnp.all(jax.random.key_data(carry["key"]) == jax.random.key_data(jax.random.key(0)))
