import os
import jax.numpy as jnp


def bad(m):
    os.environ["DROP_RATE"] = "0.5"
    a = m.forward(jnp.ones(3))
    os.environ["DROP_RATE"] = "0.9"
    assert jnp.array_equal(m.forward(jnp.ones(3)), a)
