import contextlib
import io

import jax
import jax.numpy as jnp


def printed(thunk):
    """The lines that thunk() writes to stdout."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        thunk()
        jax.effects_barrier()
    return out.getvalue().splitlines()


def bad(m):
    lines = printed(lambda: [m.run(jnp.ones((4, 2))) for _ in range(2)])
    assert 0 < len(lines) < 4 and all("Tracer" in line for line in lines), lines
