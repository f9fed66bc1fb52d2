import jax
import jax.numpy as jnp


def raises(exc, fn, *a, **k):
    try:
        fn(*a, **k)
    except exc as e:
        return e
    raise AssertionError(f"{exc.__name__} not raised")


def bad(m):
    s = jnp.array([1, -1] * 8)
    out = m.anneal(jax.random.key(0), s, 100)
    assert int((out != s).sum()) <= 1  # the same site is proposed 100 times
    with jax.debug_key_reuse(True):
        raises(jax.errors.KeyReuseError, m.anneal, jax.random.key(0), s, 3)


def fixed(m):
    s = jnp.array([1, -1] * 8)
    assert int((m.anneal(jax.random.key(0), s, 200) != s).sum()) > 1
