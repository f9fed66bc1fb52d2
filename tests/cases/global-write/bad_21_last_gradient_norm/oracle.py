import jax
import jax.numpy as jnp


def leaks(thunk):
    try:
        thunk()
    except jax.errors.UnexpectedTracerError:
        return
    raise AssertionError("no leak")



def bad(m):
    m.fit(jnp.ones(2), [(jnp.ones((3, 2)), jnp.ones(3))] * 4)
    assert m.monitor.n_steps == 1
    leaks(lambda: m.monitor.last_norm() + 1)
