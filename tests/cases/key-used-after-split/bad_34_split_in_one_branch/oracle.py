import jax
import jax.numpy as jnp


def raises(exc, fn, *a, **k):
    try:
        fn(*a, **k)
    except exc as e:
        return e
    raise AssertionError(f"{exc.__name__} not raised")


def bad(m):
    m.model(jax.random.key(0), 2)
    m.Layer(2, False).init(jax.random.key(0))
    with jax.debug_key_reuse(True):
        raises(jax.errors.KeyReuseError, m.model, jax.random.key(0), 2)
