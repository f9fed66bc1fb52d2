import jax
import jax.numpy as jnp

rate = 0.1


@jax.jit
def step(w):
    return w - rate * jnp.ones_like(w)  # expect: stale-global


first = step(jnp.zeros(2))
rate = 0.01
second = step(first)
