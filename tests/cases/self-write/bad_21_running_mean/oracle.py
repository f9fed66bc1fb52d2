import jax
import jax.numpy as jnp


def leaks(thunk):
    try:
        thunk()
    except jax.errors.UnexpectedTracerError:
        return
    raise AssertionError("no leak")



def bad(m):
    norm = m.RunningNorm(2)
    for _ in range(3):
        norm(jnp.ones((4, 2)))
    leaks(lambda: norm.mean + 1)
