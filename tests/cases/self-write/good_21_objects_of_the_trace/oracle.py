import jax.numpy as jnp


def good(m):
    s = m.simulate(m.Particle(jnp.zeros(2), jnp.ones(2)), 0.1)
    assert float(s.x[0]) > 0
    assert m.solve(jnp.array([2.0, 3.0])).shape == (2,)
