"""``jit`` of the same function in each iteration of a loop, and of methods of unknown objects."""

import jax
import jax.numpy as jnp


def update(w, x):
    return w - 0.1 * jnp.mean(x) * w


def train(w, batches):
    for x in batches:
        w = jax.jit(update)(w, x)  # expect: jit-in-loop
    return w


# runs: train(jnp.ones(3), [jnp.ones(2)] * 3)


def all_of(w, batches):
    return [jax.jit(update)(w, x) for x in batches]  # expect: jit-in-loop


# runs: all_of(jnp.ones(3), [jnp.ones(2)] * 3)


def evolve(strategy, state, generations):
    for _ in range(generations):
        population, state = jax.jit(strategy.ask)(state)  # expect: jit-in-loop
        state = strategy.tell(population, state)
    return state


class Strategy:
    def ask(self, state):
        return state + 1.0, state

    def tell(self, population, state):
        return population


# runs: evolve(Strategy(), jnp.ones(2), 3)


def once(w, batches, functions):
    compiled = jax.jit(update)
    for x in batches:
        w = compiled(w, x)
    for _ in range(3):
        w = jax.jit(update)(w, w)
    for function in functions:
        w = jax.jit(function)(w, w)
    return w


# runs: once(jnp.ones(3), [jnp.ones(2)] * 3, [update])
