"""Calls of JAX that no release takes, and calls that look alike."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def sizes(x):
    return jnp.zeros(), jnp.full((2, 2))  # expect: library-call-mismatch, library-call-mismatch


# raises TypeError: sizes(jnp.ones(2))


def device():
    return jax.default_device()  # expect: library-call-mismatch


# raises TypeError: device()


def quiet():
    with jax.debug_nans(), jax.default_device(jax.devices()[0]), jax.numpy_rank_promotion("allow"):
        return jnp.ones(2)


# runs: quiet()


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


# --- methods and attributes of arrays --------------------------------------------


def of_torch(x):
    y = jnp.sin(x).unsqueeze(0)  # expect: library-call-mismatch
    return y.detach()


# raises AttributeError: of_torch(jnp.ones(2))


def hashed(x):
    return hash(jnp.sin(x).round(8).tostring())  # expect: library-call-mismatch


# raises AttributeError: hashed(jnp.ones(2))


def stepped(x):
    return jnp.sin(x).strides  # expect: library-call-mismatch


# raises AttributeError: stepped(jnp.ones(2))


def as_bytes(x):
    return hash(jnp.sin(x).round(8).tobytes()), np.asarray(x).strides


# runs: as_bytes(jnp.ones(2))


def size_of(x):
    y = jnp.sin(x)
    return y.size(0)  # expect: library-call-mismatch


# raises TypeError: size_of(jnp.ones(2))


def called(x):
    y = jnp.sin(x)
    return y(0)  # expect: library-call-mismatch


# raises TypeError: called(jnp.ones(2))


def unknown_axis(x):
    y = jnp.sin(x)
    return y.sum(dim=0)  # expect: library-call-mismatch


# raises TypeError: unknown_axis(jnp.ones(2))


def in_a_helper(key, n):
    def show(values):
        return values.numpy()  # expect: library-call-mismatch

    table = {"draws": jax.random.normal(key, (n,))}
    return show(table["draws"])


# raises AttributeError: in_a_helper(jax.random.key(0), 2)


def either(x, on_host):
    y = np.array(x) if on_host else jnp.sin(x)
    y.fill(0)
    z = jnp.cos(x)
    if hasattr(z, "numpy"):
        z = z.numpy()
    try:
        z = z.numpy()
    except AttributeError:
        z = np.array(z)
    z.fill(0)
    return z


# runs: either(jnp.ones(2), True)


def annotated(x: jax.Array, rows):
    y = jnp.sin(rows).at[0].set(1.0)
    return x.numpy(), y.T.mT.real.sum(axis=0, keepdims=True), y.size, y.devices(), y.astype(int).item


def of_unknown(batch, state):
    return batch.x.numpy(), state.size(0), batch(jnp.ones(2))


def halves(network, xp, line, x):
    first, second = network(x).split(2, axis=-1)  # expect: library-call-mismatch
    third, fourth = xp.split(x, 2, axis=-1)
    return first, second, third, fourth, line.split(",")


# runs: halves.__name__
