from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    x: jax.Array
    value: jax.Array


@partial(jax.jit, static_argnums=0)
def evaluate(f, x):
    v, g = jax.value_and_grad(f)(x)
    return State(x, v), g


def backtrack(f, state, g, t=1.0, shrink=0.5):
    trial, _ = evaluate(f, state.x - t * g)
    while trial.value > state.value - 0.5 * t * jnp.sum(g * g):
        t *= shrink
        trial, _ = evaluate(f, state.x - t * g)
    return trial


def quadratic(x):
    return 2.0 * jnp.sum(x**2)


def minimise(x, tol=1e-3):
    state, g = evaluate(quadratic, x)
    while jnp.linalg.norm(g) > tol:
        state = backtrack(quadratic, state, g)
        state, g = evaluate(quadratic, state.x)
    return state.x
