import jax
import jax.numpy as jnp

from masks import causal


@jax.jit
def encode(x):
    return jnp.where(causal(x.shape[0]), x, 0.0)  # expect: cached-tracer


@jax.jit
def decode(x):
    return jnp.where(causal(x.shape[0]), 0.0, x)  # expect: cached-tracer
