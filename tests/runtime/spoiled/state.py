"""Fixes spoiled on purpose: updates, buffers and closures (JAX5xx)."""

from __future__ import annotations

from runtime.spoiled.kinds import Spoil, Spoiled

PROGRAMS = (
    Spoiled(
        "array-item-assignment",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def put(x):
    x[1] = 7.0
    return x * 2.0


print(put(jnp.arange(3.0)))
""",
        (
            Spoil("index", ".at[1]", ".at[0]"),
            Spoil("operation", ".set(7.0)", ".add(7.0)"),
            Spoil("dropped", "    x = x.at[1].set(7.0)\n", ""),
        ),
    ),
    Spoiled(
        "array-item-in-eager",
        """\
import jax
import jax.numpy as jnp


def put(x):
    x[1] = 7.0
    return x * 2.0


print(put(jnp.arange(3.0)))
""",
        (
            Spoil("index", ".at[1]", ".at[0]"),
            Spoil("constant", ".set(7.0)", ".set(7.5)"),
        ),
    ),
    Spoiled(
        "augmented-item",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def add(x, i, v):
    x[i] += v
    return x, x.sum()


print(add(jnp.arange(4.0), 2, 0.5))
""",
        (
            Spoil("operation", ".add(v)", ".set(v)"),
            Spoil("index", "x.at[i]", "x.at[i + 1]"),
        ),
    ),
    Spoiled(
        "discarded-update",
        """\
import jax
import jax.numpy as jnp


def clear(x):
    x.at[0].set(5.0)
    return x * 2.0


print(clear(jnp.ones(3)))
""",
        (
            Spoil("index", "x.at[0].set(5.0)", "x.at[1].set(5.0)"),
            Spoil("constant", "set(5.0)", "set(6.0)"),
            Spoil("operation", ".set(", ".add("),
            Spoil("dropped", "x * 2.0", "x"),
        ),
    ),
    Spoiled(
        "late-bound-closure",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def moment(order, x):
    branches = [lambda v: jnp.mean(v**p) for p in (1, 2, 3)]
    return jax.lax.switch(order, branches, x)


print([float(moment(order, jnp.array([1.0, 2.0]))) for order in range(3)])
""",
        (
            Spoil("constant", "p=p", "p=2"),
            Spoil("function", "jnp.mean", "jnp.sum"),
            Spoil("order", "(1, 2, 3)", "(3, 2, 1)"),
        ),
        is_decided=False,
        is_preview=True,
    ),
    Spoiled(
        "overwritten-host-buffer",
        """\
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def score(batch):
    return jnp.sum(batch @ batch)


def stream(values, n=64):
    buffer = np.zeros((n, n), np.float32)
    scores = []
    for value in values:
        buffer[:] = value
        scores.append(score(buffer))
    return scores


print([float(s) for s in stream([1.0, 2.0, 3.0])])
""",
        (
            Spoil("constant", "buffer.copy()", "buffer.copy() * 2"),
            Spoil("shape", "buffer.copy()", "buffer.copy()[:8, :8]"),
            Spoil("dropped", "        buffer[:] = value\n", ""),
        ),
        is_decided=False,
        is_preview=True,
    ),
)
