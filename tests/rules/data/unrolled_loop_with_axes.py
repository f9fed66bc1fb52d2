"""Comprehensions over the length of an array, and loops whose iterations need one another."""

import jax
import jax.numpy as jnp


def score(x):
    return jnp.sum(x**2)


@jax.jit
def scores(batch):
    return jnp.array([score(batch[i]) for i in range(batch.shape[0])])  # expect: unrolled-loop


@jax.jit
def embedded(tokens, table, positions):
    columns = [jnp.tanh(table[:, t]) + positions[i] for t, i in zip(tokens, range(len(tokens)))]  # expect: unrolled-loop
    return jnp.stack(columns)


@jax.jit
def encoded(weight, x):
    state = jnp.zeros(3)
    n = x.shape[0]
    for t in range(n):  # expect: unrolled-loop
        state = jnp.tanh(weight @ state + x[t])
    return state


@jax.jit
def applied(layers, x):
    for i in range(len(layers)):
        x = jnp.tanh(x @ layers[i]["kernel"])
    return x


@jax.jit
def called(blocks, x):
    return [blocks[i](jnp.sin(x)) for i in range(len(blocks))]


@jax.jit
def same(x):
    return jnp.stack([jnp.ones((3, 3)) for _ in range(x.shape[0])]) + jnp.sin(x)


def eager(batch):
    return [score(batch[i]) for i in range(batch.shape[0])]


@jax.jit
def repeated(x):
    for _ in range(x.shape[-1]):
        x = jnp.tanh(x)
    return x
