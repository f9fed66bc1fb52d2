import jax.numpy as jnp


def good(m):
    params = m.init((3, 4, 2))
    before = dict(params)
    y = m.apply(params, jnp.ones(3))
    new = m.decay(params, 0.5)
    assert y.shape == (2,) and params.keys() == before.keys()
    assert all(params[k] is before[k] for k in params) and new["w0"].sum() != params["w0"].sum()
