import jax
import jax.numpy as jnp


def bad(m):
    out = m.corrupted(jax.random.key(0), jnp.zeros((4, 2)))
    assert jnp.all(out == out[0])
