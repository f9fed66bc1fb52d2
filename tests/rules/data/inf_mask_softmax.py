"""Masks that multiply zero by infinity or leave a row without an element: lines that the rule reports, and lines that look alike."""

import jax
import jax.numpy as jnp


@jax.jit
def added(scores, mask):
    return jax.nn.softmax(scores + (1 - mask) * -jnp.inf)  # expect: inf-mask-softmax


# runs: added(jnp.ones((2, 2)), jnp.array([1, 0]))


@jax.jit
def triangle_of_numbers(scores):
    return scores - jnp.triu(jnp.ones(scores.shape), k=1) * jnp.inf  # expect: inf-mask-softmax


# runs: triangle_of_numbers(jnp.ones((2, 2)))


def dropped(scores, n):
    future = jnp.triu(jnp.ones((n, n), dtype=bool))
    return jax.nn.softmax(jnp.where(future, -jnp.inf, scores))  # expect: inf-mask-softmax


# runs: dropped(jnp.ones((2, 2)), 2)


def after(scores, n):
    mask = jnp.where(jnp.triu(jnp.ones((n, n)), 1), 0.0, -jnp.inf)
    return jax.nn.log_softmax(scores + mask)  # expect: inf-mask-softmax


# runs: after(jnp.ones((2, 2)), 2)


def negated(scores):
    i = jnp.arange(scores.shape[0])
    until = i[:, None] <= i[None]
    return jax.nn.softmax(jnp.where(jnp.logical_not(until), scores, -jnp.inf))  # expect: inf-mask-softmax


# runs: negated(jnp.ones((2, 2)))


def repaired(scores, n):
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((n, n)), -1), scores, -jnp.inf))
    return jnp.nan_to_num(weights)


def other_axis(scores, n):
    return jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((n, n)), -1), scores, -jnp.inf), axis=0)


def with_some_rows(scores, n):
    i = jnp.arange(n)
    return jax.nn.softmax(jnp.where(i[1:, None] > i[None], scores, -jnp.inf))


def wide(scores, n, m):
    return jax.nn.softmax(jnp.where(jnp.triu(jnp.ones((n, m)), 1), scores, -jnp.inf))


def diagonal_kept(scores, n):
    return jax.nn.softmax(jnp.where(jnp.triu(jnp.ones((n, n)), 1), -jnp.inf, scores))


def squares(x):
    return jnp.sum((1 - x) * 1e9) + jnp.sum(jnp.ones_like(x) * -jnp.inf)
