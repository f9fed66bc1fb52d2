import jax
import jax.numpy as jnp


def raises(exc, fn, *a, **k):
    try:
        fn(*a, **k)
    except exc as e:
        return e
    raise AssertionError(f"{exc.__name__} not raised")


def bad(m):
    out = m.play(jax.random.key(0), jnp.zeros((3, 5)), 4)
    assert jnp.all(out == out[0])
