import jax
import jax.numpy as jnp


def raises(exc, fn, *a, **k):
    try:
        fn(*a, **k)
    except exc as e:
        return e
    raise AssertionError(f"{exc.__name__} not raised")


def bad(m):
    steps = jnp.diff(m.random_walk(0, 4), axis=0)
    assert jnp.allclose(steps, steps[0], atol=1e-5)
    with jax.debug_key_reuse(True):
        raises(jax.errors.KeyReuseError, m.random_walk, 0, 3)


def fixed(m):
    steps = jnp.diff(m.random_walk(0, 4), axis=0)
    assert jnp.unique(steps[:, 0]).size == 4
    with jax.debug_key_reuse(True):
        m.random_walk(0, 3)
