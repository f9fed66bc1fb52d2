import jax
import jax.numpy as jnp


def raises(exc, fn, *a, **k):
    try:
        fn(*a, **k)
    except exc as e:
        return e
    raise AssertionError(f"{exc.__name__} not raised")


def bad(m):
    train, test = m.experiment(jax.random.key(0), 4, 4)
    assert jnp.array_equal(train[0], test[0])
    with jax.debug_key_reuse(True):
        raises(jax.errors.KeyReuseError, m.experiment, jax.random.key(0), 4, 4)
