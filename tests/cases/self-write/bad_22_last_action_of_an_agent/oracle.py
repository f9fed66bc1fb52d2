import jax
import jax.numpy as jnp


def leaks(thunk):
    try:
        thunk()
    except jax.errors.UnexpectedTracerError:
        return
    raise AssertionError("no leak")



def bad(m):
    agent, _ = m.main()
    leaks(lambda: agent.last_value + 1)
