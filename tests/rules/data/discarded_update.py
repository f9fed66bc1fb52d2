"""Updates whose result is dropped."""

import jax
import jax.numpy as jnp


@jax.jit
def drops(x, i):
    x.at[i].set(0.0)  # expect: discarded-update
    x.at[0].add(1.0).at[1].mul(2.0)  # expect: discarded-update
    return x


class Memory:
    def __init__(self, n):
        self.data = jnp.zeros(n)

    def put(self, i, v):
        self.data.at[i].set(v)  # expect: discarded-update


def tables(state, i):
    counts = {"arms": jnp.zeros(3)}
    counts["arms"].at[i].add(1)  # expect: discarded-update
    return counts


def loops(xs):
    out = jnp.zeros(len(xs))
    for i, x in enumerate(xs):
        out.at[i].set(x)  # expect: discarded-update
    return out


# runs: drops(jnp.ones(3), 1), Memory(3).put(0, 1.0), tables({}, 1), loops([1.0, 2.0])


# --- never flagged -------------------------------------------------------------


@jax.jit
def keeps(x, i):
    x = x.at[i].set(0.0)
    y = x.at[0].get()
    return x.at[0].add(y)


class Row:
    def __init__(self, values):
        self.values = values

    def set(self, value):
        self.values.append(value)


class Rows:
    def __init__(self):
        self.values = []

    @property
    def at(self):
        return [Row(self.values)]


def other_objects(frame):
    rows = Rows()
    rows.at[0].set(1.0)
    frame.at[0].set(1.0)
    return rows


# runs: keeps(jnp.ones(3), 1)
