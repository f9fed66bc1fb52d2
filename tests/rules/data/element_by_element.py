"""JAX arrays whose elements Python goes through outside tracing, and values that look like them."""

import math

import jax
import jax.numpy as jnp
import numpy as np


def extremes(n):
    x = jnp.linspace(0.0, 1.0, n)
    low = min(x)  # expect: element-by-element
    high = max(x)  # expect: element-by-element
    total = sum(x)  # expect: element-by-element
    return low, high, total, sorted(x)  # expect: element-by-element


# runs: extremes(40)


def tested(n):
    x = jnp.linspace(0.0, 1.0, n) > 0.5
    return any(x) or all(x)  # expect: element-by-element


# runs: tested(40)


def rows_of(n):
    x = jnp.ones((n, 2))
    sums = [row.sum() for row in x]
    return sums, list(x), sum(x)  # expect: element-by-element


# runs: rows_of(40)


def counted(n):
    total = 0
    for i in jnp.arange(1000):  # expect: element-by-element
        total += i
    for i in jnp.arange(5):
        total += i
    for i in jnp.arange(0, 100, 10):
        total += i
    for i in np.arange(n):
        total += i
    for t in jnp.linspace(0.0, 1.0, n):
        total += t
    return total


# runs: counted(40)


def picked(key, rows):
    key, subkey = jax.random.split(key)
    order = jax.random.permutation(subkey, len(rows))
    keys = [key for key in jax.random.split(key, len(rows))]
    rows = [rows[i] for i in order]  # expect: element-by-element
    numbers = list(order)  # expect: element-by-element
    return [rows[i] for i in np.asarray(order)], keys, order.tolist(), numbers


# runs: picked(jax.random.key(0), list(range(40)))


def of_others(n):
    x, y = jnp.ones(n), np.ones(n)
    both = [x.sum(), x.mean()]
    return max(both), max(y), sum(len(part) for part in (x, y)), max(jnp.ones(4))


# runs: of_others(40)


def compared(state, level):
    height = state["height"] - jnp.sqrt(level)
    level = max(height, 0.0)  # expect: element-by-element
    return math.exp(level), max(float(level), 0.0), min(len(state), 3)  # expect: element-by-element


# runs: compared({"height": 3.0}, 1.0)


def at_random(x):
    return x if max(jnp.sum(x).item(), 0.0) > 1.0 else -x


print(max(jnp.sum(jnp.ones(4)), 0.0))


@jax.jit
def traced(x):
    return x * max(x.shape) + sum([x.sum(), x.mean()])


@jax.jit
def unrolled(x, y):
    return sum((x - y) ** 2) / len(y)  # expect: element-by-element


# runs: traced(jnp.ones(40)), unrolled(jnp.ones(40), jnp.ones(40))
