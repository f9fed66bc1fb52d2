import jax.numpy as jnp


def good(m):
    _, history = m.fit(jnp.ones(2), [jnp.ones((3, 2))] * 4)
    assert m.n_batches == 4 and len(history) == 4
    m.configure(0.5)
    assert m.rate == 0.5
