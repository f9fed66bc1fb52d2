"""A recurrent network that wants to keep what its cells compute."""
import jax.numpy as jnp
from jax import lax


def remember(store, key, value):
    if key not in store:
        store[key] = value  # expect: captured-mutation
    return value


def unroll(w, h, xs):
    states = {}

    def cell(h, x):
        gate = remember(states, "gate", jnp.tanh(w @ h))
        h = gate * h + x
        return h, None

    h, _ = lax.scan(cell, h, xs)
    return h, states["gate"]
