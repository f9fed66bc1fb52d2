import numpy as np


def bad(m):
    try:
        m.solve(4, 2)
    except TypeError as error:
        assert "immutable" in str(error)
    else:
        raise AssertionError


def fixed(m):
    u = np.asarray(m.solve(4, 2))
    assert u[0].tolist() == [1.0] * 4 and u[1, 1] > 0
