import jax
import jax.numpy as jnp


def rollout(x):
    for _ in range(3):
        x = jnp.tanh(x)
        yield x


def run():
    fast = jax.jit(rollout)  # expect: generator-in-jit
    return list(fast(jnp.ones(2)))
