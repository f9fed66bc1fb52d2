import numpy as np


def bad(m):
    try:
        m.fill([1.0, 2.0])
    except TypeError as error:
        assert "immutable" in str(error)
    else:
        raise AssertionError


def fixed(m):
    memory = m.fill([1.0, 2.0])
    np.testing.assert_allclose(memory.rewards, [1.0, 2.0, 0.0])
    np.testing.assert_allclose(memory.visits, [1, 1, 0])
