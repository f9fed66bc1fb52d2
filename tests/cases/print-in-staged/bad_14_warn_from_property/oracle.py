import warnings

import jax.numpy as jnp


def bad(m):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        m.mixture(m.Gaussian(jnp.zeros(3), jnp.ones(3)), 0.5)
    assert any("Tracer" in str(w.message) for w in seen)
