import jax.numpy as jnp
import numpy as np


def bad(m):
    q = m.learn(3, [(0, 1.0), (2, 2.0)])
    np.testing.assert_array_equal(q.values, 0.0)


def fixed(m):
    q = m.learn(3, [(0, 1.0), (2, 2.0)])
    np.testing.assert_allclose(q.values, [0.5, 0.0, 1.0])
