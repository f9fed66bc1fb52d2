"""Traced values where XLA needs a shape."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def zeros(n):
    return jnp.zeros(n)  # expect: traced-shape


# raises TypeError: zeros(3)


@jax.jit
def ones(n):
    return jnp.ones((n, 2))  # expect: traced-shape


# raises TypeError: ones(3)


@jax.jit
def full(n):
    return jnp.full(shape=(2, n), fill_value=1.0)  # expect: traced-shape


# raises TypeError: full(3)


@jax.jit
def arange(n):
    return jnp.arange(n)  # expect: traced-shape


# raises ConcretizationTypeError: arange(3)


@jax.jit
def eye(n):
    return jnp.eye(n)  # expect: traced-shape


# raises Exception: eye(3)


@jax.jit
def linspace(n):
    return jnp.linspace(0.0, 1.0, num=n)  # expect: traced-shape


# raises ConcretizationTypeError: linspace(3)


@jax.jit
def reshape(x, n):
    return jnp.reshape(x, (n, -1))  # expect: traced-shape


# raises TypeError: reshape(jnp.ones(4), 2)


@jax.jit
def reshape_method(x, n):
    return jnp.sin(x).reshape(n, -1)  # expect: traced-shape


# raises TypeError: reshape_method(jnp.ones(4), 2)


@jax.jit
def reshape_method_tuple(x, n):
    return jnp.sin(x).reshape((n, -1))  # expect: traced-shape


# raises TypeError: reshape_method_tuple(jnp.ones(4), 2)


@jax.jit
def broadcast(x, n):
    return jnp.broadcast_to(x, (n, 3))  # expect: traced-shape


# raises TypeError: broadcast(jnp.ones(3), 2)


@jax.jit
def drawn(key, n):
    return jax.random.normal(key, (n,))  # expect: traced-shape


# raises TypeError: drawn(jax.random.key(0), 3)


@jax.jit
def drawn_by_keyword(key, n):
    return jax.random.uniform(key, shape=(n, 2))  # expect: traced-shape


# raises TypeError: drawn_by_keyword(jax.random.key(0), 3)


@jax.jit
def split(key, n):
    return jax.random.split(key, n)  # expect: traced-shape


# raises TypeError: split(jax.random.key(0), 3)


@jax.jit
def one_hot(x, n):
    return jax.nn.one_hot(x, n)  # expect: traced-shape


# raises ConcretizationTypeError: one_hot(jnp.arange(3), 3)


@jax.jit
def top_k(x, k):
    return jax.lax.top_k(x, k)  # expect: traced-shape


# raises Exception: top_k(jnp.ones(3), 2)


@jax.jit
def tile(x, n):
    return jnp.tile(x, n)  # expect: traced-shape


# raises TypeError: tile(jnp.ones(3), 2)


@jax.jit
def segments(x, ids, n):
    return jax.ops.segment_sum(x, ids, num_segments=n)  # expect: traced-shape


# raises Exception: segments(jnp.ones(3), jnp.arange(3), 3)


@jax.jit
def axis(x, k):
    return jnp.sum(x, axis=k)  # expect: traced-shape


# raises ConcretizationTypeError: axis(jnp.ones((2, 2)), 0)


@jax.jit
def axis_of_method(x, k):
    return jnp.sin(x).mean(axis=k)  # expect: traced-shape


# raises ConcretizationTypeError: axis_of_method(jnp.ones((2, 2)), 0)


@jax.jit
def sliced(x, n):
    return jax.lax.dynamic_slice_in_dim(x, 0, n)  # expect: traced-shape


# raises Exception: sliced(jnp.ones(4), 2)


@jax.jit
def sizes(x, n):
    return jax.lax.dynamic_slice(x, (0,), (n,))  # expect: traced-shape


# raises Exception: sizes(jnp.ones(4), 2)


@jax.jit
def product(x):
    return x.reshape(jnp.prod(jnp.array(x.shape)))  # expect: traced-shape


# raises TypeError: product(jnp.ones((2, 3)))


@jax.jit
def rounded(x):
    half = int(jnp.ceil(x.shape[0] / 2))  # expect: traced-shape
    return x[:half]


# raises ConcretizationTypeError: rounded(jnp.ones(3))


# --- never flagged -------------------------------------------------------------


@jax.jit
def shapes(x):
    b, n = x.shape
    table = jnp.zeros((b, n // 2 + 1)) + jnp.arange(n // 2 + 1)
    flat = x.reshape(-1).reshape(math.prod(x.shape)).reshape((b, n))
    size = int(np.prod(x.shape))
    return jnp.ones(size).sum() + table.sum() + flat.sum() + jnp.ones(len(x)).sum() + jnp.zeros_like(x).sum()


# runs: shapes(jnp.ones((2, 3)))


@partial(jax.jit, static_argnames=("n", "axis"))
def statics(x, n, axis=0):
    return jnp.sum(x, axis=axis) + jnp.zeros(n).sum() + jnp.tile(x, n).sum()


# runs: statics(jnp.ones(2), 3)


@jax.jit
def data(u, start, level):
    ramp = jnp.linspace(level, start, num=4)
    filled = jnp.full((4,), level)
    moved = jnp.roll(u, start)
    block = jax.lax.dynamic_slice(moved, (start,), (2,))
    drawn = jax.random.randint(jax.random.key(start), (4,), start, start + 5)
    row = jnp.take(u, start, axis=0)
    looped = jax.lax.fori_loop(0, start, lambda i, v: v + i, 0)
    hot = jax.nn.one_hot(start, 4)
    return ramp.sum() + filled.sum() + block.sum() + drawn.sum() + row + looped + hot.sum()


# runs: data(jnp.ones(4), 1, 2.0)


@jax.jit
def picked(key, x):
    key, sub = jax.random.split(key)
    return jax.random.choice(key, x) + jax.random.permutation(sub, x).sum()


# runs: picked(jax.random.key(0), jnp.ones(4))


def differentiated(x):
    n = x.astype(int)
    return x * jnp.zeros(n).sum()


slope = jax.grad(differentiated)
# runs: slope(2.0)


def eager(n):
    count = jnp.asarray(n)
    return jnp.zeros(count), jnp.arange(count), jnp.ones(int(jnp.ceil(n / 2)))


# runs: eager(3)


@jax.jit
def reduced(tree):
    return jax.tree_util.tree_reduce(jnp.sum, tree)  # expect: traced-shape


# raises TypeError: reduced({"a": jnp.ones(3), "b": jnp.ones(3)})


@jax.jit
def repeated(x, n):
    return jax.lax.scan(lambda c, _: (c + 1, None), x, None, length=n)  # expect: traced-shape


@jax.jit
def repeated_thrice(x):
    return jax.lax.scan(lambda c, _: (c + 1, None), x, None, 3)


# raises ConcretizationTypeError: repeated(1.0, 3)
# runs: repeated_thrice(1.0)
