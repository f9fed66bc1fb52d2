import jax
import jax.numpy as jnp


def raises(exc, fn, *a, **k):
    try:
        fn(*a, **k)
    except exc as e:
        return e
    raise AssertionError(f"{exc.__name__} not raised")


def bad(m):
    assert m.solve(jax.random.key(0), 3)[0].shape == (3,)
    with jax.debug_key_reuse(True):
        raises(jax.errors.KeyReuseError, m.make_initial_guess, jax.random.key(0), 3)
        m.make_initial_guess(jax.random.key(0), 3, warm_start=jnp.zeros(3))


def fixed(m):
    with jax.debug_key_reuse(True):
        assert m.make_initial_guess(jax.random.key(0), 3).shape == (3,)
