import jax.numpy as jnp
import numpy as np


def bad(m):
    np.testing.assert_array_equal(m.pad(jnp.ones((2, 3)), 1), 1.0)


def fixed(m):
    np.testing.assert_array_equal(m.pad(jnp.ones((2, 3)), 1), [[1, 0, 0], [1, 0, 0]])
