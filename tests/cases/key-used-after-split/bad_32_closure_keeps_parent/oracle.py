import jax
import jax.numpy as jnp


def raises(exc, fn, *a, **k):
    try:
        fn(*a, **k)
    except exc as e:
        return e
    raise AssertionError(f"{exc.__name__} not raised")


def bad(m):
    m.build(jax.random.key(0), 2)
    with jax.debug_key_reuse(True):
        raises(jax.errors.KeyReuseError, m.build, jax.random.key(0), 2)
