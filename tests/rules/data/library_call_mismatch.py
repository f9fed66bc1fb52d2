"""Calls of JAX that no release takes, and calls that look alike."""

from functools import partial

import jax
import jax.numpy as jnp
import pytest


def sizes(x):
    return jnp.zeros(), jnp.full((2, 2))  # expect: library-call-mismatch, library-call-mismatch


# raises TypeError: sizes(jnp.ones(2))


def draws(key):
    return jax.random.normal(key, (2,), jnp.float32, 0.0)  # expect: library-call-mismatch


def twice(x):
    return jnp.sum(x, 0, axis=0)  # expect: library-call-mismatch


def unknown(x):
    return jax.nn.one_hot(x, 3, depth=3)  # expect: library-call-mismatch


def bound(x):
    total = partial(jnp.sum, axis=0)
    return total(x), total(x, keepdims=True)


def passed_on(x, *rest, **options):
    return jnp.sum(x, *rest), jnp.sum(x, **options)


def mapped(xs):
    return list(map(jnp.sum, xs)), jax.tree.map(jnp.zeros_like, xs), jax.vmap(jnp.dot)(xs, xs)


LAYERS = [jax.nn.silu, jnp.ravel, partial(jax.nn.one_hot, num_classes=3)]


def one_of_several(x, key):
    for layer in LAYERS:
        x = layer(x) if layer is jnp.ravel else layer(x, key=key)
    for layer in LAYERS:
        if isinstance(layer, Dropout):
            x = layer(x, key=key)
    return x


class Dropout:
    def __call__(self, x, key):
        return x + jax.random.normal(key, x.shape)


def power(x):
    root = partial(jnp.power, x2=0.5)
    return root(x)  # expect: library-call-mismatch


def guarded(x):
    try:
        return jnp.sum(x, initial_value=0)
    except TypeError:
        return jnp.sum(x)


def test_it_raises():
    with pytest.raises(TypeError):
        jnp.zeros()


# runs: bound(jnp.ones(2))


def float_sizes(key, x, n: int):
    a = jax.random.normal(key, shape=(1e2,))  # expect: library-call-mismatch
    b = jnp.zeros((n / 2, 3))  # expect: library-call-mismatch
    c = jnp.linspace(0.0, 1.0, 2 * 1e1)  # expect: library-call-mismatch
    d = jax.nn.one_hot(x, 3.0)  # expect: library-call-mismatch
    return a, b, c, d


# raises TypeError: float_sizes(jax.random.key(0), jnp.arange(3), 4)


def int_sizes(n: int, scale: float):
    a = jnp.zeros((int(1e2), n // 2))
    b = jnp.arange(1e1)
    c = jnp.array_split(jnp.ones(4), 2.0)
    return a, b, c, jnp.full((n,), 1.5), jnp.linspace(0.0, scale / 2, n)


# runs: int_sizes(4, 2.0)
