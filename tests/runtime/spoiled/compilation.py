"""Fixes spoiled on purpose: what is compiled, with which arguments (JAX4xx)."""

from __future__ import annotations

from runtime.spoiled.kinds import Spoil, Spoiled

PROGRAMS = (
    Spoiled(
        "jit-in-loop",
        """\
import jax
import jax.numpy as jnp


def train(w):
    total = 0.0
    for i in range(6):
        step = jax.jit(lambda a: a * 0.5 + 1.0)
        w = step(w)
        total = total + w.sum()
    return w, total


print(train(jnp.ones(3)))
""",
        (
            Spoil("constant", "a * 0.5", "a * 0.25"),
            Spoil(
                "order",
                "        w = step(w)\n        total = total + w.sum()",
                "        total = total + w.sum()\n        w = step(w)",
            ),
            Spoil("dropped", "        total = total + w.sum()\n", ""),
        ),
    ),
    Spoiled(
        "jit-per-loop",
        """\
import jax
import jax.numpy as jnp


def train(w, rates):
    for rate in range(40):
        w = jax.jit(lambda a: jnp.sin(a) * 0.5 + jnp.cos(a) @ a)(w)
        print(float(w.sum()))
    return w


train(jnp.ones((3, 3)), [])
""",
        (
            Spoil("order", "jnp.sin(a) * 0.5", "jnp.sin(a * 0.5)"),
            Spoil("dropped", "        w = compiled(w)\n", "        compiled(w)\n"),
        ),
    ),
    Spoiled(
        "unhashable-static",
        """\
import functools
import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames="shape")
def zeros(x, shape):
    return jnp.zeros(shape) + x


print(zeros(1.0, shape=[2, 3]))
""",
        (
            Spoil("order", "(2, 3)", "(3, 2)"),
            Spoil("constant", "zeros(1.0,", "zeros(2.0,"),
        ),
    ),
    Spoiled(
        "static-arg-mismatch",
        """\
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("sizes",))
def grow(x, size):
    return jnp.zeros(size) + x


print(grow(jnp.float32(2.0), 3))
""",
        (
            Spoil("sign", "+ x", "- x"),
            Spoil("shape", "jnp.zeros(size)", "jnp.zeros((1, size))"),
        ),
        is_decided=False,
    ),
    Spoiled(
        "non-array-argument",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def scale(x, mode):
    return x * 2.0 if mode == "twice" else x


print(scale(jnp.ones(2), "twice"))
""",
        (
            Spoil("static of another", 'static_argnames=("mode",)', 'static_argnames=("mode", "x")'),
            Spoil("constant", "x * 2.0", "x * 4.0"),
        ),
    ),
    Spoiled(
        "unrolled-loop",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def many(x):
    for i in range(200):
        x = jnp.sin(x) * 1.01 + i
    return x


print(many(jnp.float32(0.5)))
""",
        (
            Spoil("bound", "fori_loop(0, 200", "fori_loop(0, 199"),
            Spoil("constant", "* 1.01", "* 1.02"),
            Spoil("start", "fori_loop(0, 200", "fori_loop(1, 201"),
        ),
    ),
    Spoiled(
        "missing-donation",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def step(state, x):
    return state - 0.1 * x


def main():
    state, x = jnp.zeros((512, 512)), jnp.ones((512, 512))
    for i in range(3):
        state = step(state, x)
    return state


print(main().sum())
""",
        (
            Spoil("sign", "state - 0.1", "state + 0.1"),
            Spoil("wrong buffer", 'donate_argnames=("state",)', 'donate_argnames=("x",)'),
            Spoil("constant", "0.1 * x", "0.1001 * x"),
        ),
    ),
)
