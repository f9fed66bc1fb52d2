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


def edges_of(n):
    senders, receivers = jnp.arange(n) % 7, jnp.arange(n) % 5
    found = {}
    for i in range(n):
        a, b = int(senders[i]), receivers[i].item()  # expect: element-by-element
        found[a, b] = found.get((a, b), 0) + int(senders[i] > 3)
    for a, b in zip(senders, receivers):
        a = int(a)  # expect: element-by-element
        if a > 3 and b == 3:  # expect: element-by-element
            found[a, a] = 0
    return found


# runs: edges_of(40)


def searched(n):
    x, y = jnp.sin(jnp.arange(n)), jnp.ones((n, n))
    first = 0
    while first < n and not x[first] > 0.5:  # expect: element-by-element
        first += 1
    chosen = []
    for i, value in enumerate(x):
        if value > 0.5:  # expect: element-by-element
            chosen.append(i)
    large = {i: float(x[i]) for i in range(n) if y[i, 0] > 0}  # expect: element-by-element, element-by-element
    one = [float(part) for part in jnp.cos(x)]  # expect: element-by-element
    return first, chosen, large, one


# runs: searched(40)


def host_first(n):
    x = jnp.sin(jnp.arange(n))
    host = np.asarray(x)
    few = [float(x[i]) for i in range(3)]
    rows = [float(x[i].sum()) for i in range(n)]
    for i in range(n):
        x = x.at[i].set(0.0)
        few.append(float(x[i]))
    same = [float(x[0]) + i for i in range(n)]
    return [float(host[i]) for i in range(n)], [float(value) for value in host.tolist()], few, rows, same


# runs: host_first(20)
