import jax


def raises(exc, fn, *a, **k):
    try:
        fn(*a, **k)
    except exc as e:
        return e
    raise AssertionError(f"{exc.__name__} not raised")


def bad(m):
    draws = m.sample_mixture(jax.random.key(1), 0.3, n=2000)
    left = draws[draws < -0.9]
    # noise and choice come from the same bits: the left component never gets noise above weight - 0.5
    assert left.max() <= -2.0 + 0.3 - 0.5 + 1e-5
    with jax.debug_key_reuse(True):
        raises(jax.errors.KeyReuseError, m.sample_mixture, jax.random.key(0), 0.3, n=8)


def fixed(m):
    with jax.debug_key_reuse(True):
        draws = m.sample_mixture(jax.random.key(1), 0.3, n=2000)
    left = draws[draws < -0.9]
    assert left.max() > -1.6
