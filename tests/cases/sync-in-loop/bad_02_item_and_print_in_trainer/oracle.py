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

    real_item = ArrayImpl.item

    def spy_item(self, *args):
        n[0] += 1
        return real_item(self, *args)

    ArrayImpl._value, ArrayImpl.item = property(spy), spy_item
    try:
        thunk()
    finally:
        ArrayImpl._value, ArrayImpl.item = real, real_item
    return n[0]


def bad(m):
    t = m.Trainer(0.1)
    p = {"w": jnp.ones((2, 3)), "v": jnp.ones(3)}
    data = [{"x": jnp.ones((4, 2)), "y": jnp.ones(4)}] * 8
    assert syncs(lambda: t.run(p, data)) >= 8
    assert syncs(lambda: t.watch(p, data)) >= 8
