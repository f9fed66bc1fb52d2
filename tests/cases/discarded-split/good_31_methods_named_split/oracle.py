import jax


def good(m):
    out, keys = m.setup(0)
    assert len(out) == 1 and keys.shape == (2,)
    assert len(list(m.pieces(jax.random.key(0), 3))) == 3
