import jax
import jax.numpy as jnp


def raises(exc, fn, *a, **k):
    try:
        fn(*a, **k)
    except exc as e:
        return e
    raise AssertionError(f"{exc.__name__} not raised")


def bad(m):
    y = jnp.ones((2, 2))
    b = m.start(0)
    with jax.debug_key_reuse(True):
        raises(jax.errors.KeyReuseError, m.assimilate, b, y)
    one = m.observe(m.Belief(jnp.zeros(2), b.key), y[0]).mean
    two = m.observe(m.Belief(jnp.zeros(2), b.key), y[0]).mean
    assert jnp.array_equal(one, two)
