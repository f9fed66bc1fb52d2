import os
import traceback

import jax
import jax.numpy as jnp
import numpy as np

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


def good(m):
    t = {k: jnp.ones(2) for k in "abc"}
    assert m.by_name(t).shape == (2,) and m.by_name(t, kind=2).shape == (2,)
    assert m.run([{"k": jnp.eye(2)}] * 2, jnp.ones(2))[1].shape == (2,)
    assert m.pick_all(jnp.ones((2, 3)), 1).shape == (2,)
    assert float(m.slope(3.0, 1)) == 6.0
    assert float(m.switch(1, 0.0)) == 1.0
