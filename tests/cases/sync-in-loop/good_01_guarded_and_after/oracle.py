import os
import traceback

import jax
import jax.numpy as jnp

jax.config.update("jax_traceback_filtering", "off")
HERE = os.path.dirname(os.path.abspath(__file__))


def raises(exc, thunk, anchored=True):
    """thunk() must raise exc, from a line of the case that carries `# expect:`."""
    try:
        thunk()
    except exc as e:
        frames = [
            f
            for f in traceback.extract_tb(e.__traceback__)
            if os.path.dirname(os.path.abspath(f.filename)) == HERE and not f.filename.endswith("oracle.py")
        ]
        assert frames, "no frame of the case in the traceback"
        if anchored:
            assert "# expect:" in frames[-1].line, f"raised at an unlabelled line: {frames[-1].line!r}"
        return e
    raise AssertionError(f"no {exc} raised")


def syncs(thunk):
    from jax._src.array import ArrayImpl

    real, n = ArrayImpl._value, [0]

    def spy(self):
        n[0] += 1
        return real.fget(self)

    ArrayImpl._value = property(spy)
    try:
        thunk()
    finally:
        ArrayImpl._value = real
    return n[0]


def good(m):
    data = [(jnp.ones((4, 2)), jnp.ones(4))] * 40
    m.fit(jnp.zeros(2), data[:1])
    assert syncs(lambda: m.fit(jnp.zeros(2), data)) <= 5
