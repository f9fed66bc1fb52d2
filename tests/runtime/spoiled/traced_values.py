"""Fixes spoiled on purpose: what Python does with tracers (JAX1xx)."""

from __future__ import annotations

from runtime.spoiled.kinds import Spoil, Spoiled

PROGRAMS = (
    Spoiled(
        "traced-branch",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def leaky(x):
    if x > 0:
        return x * 2.0
    return x * 0.1


print([float(leaky(jnp.float32(v))) for v in (-2.0, 3.0)])
""",
        (
            Spoil("constant", "x * 0.1", "x * 0.2"),
            Spoil("sign", "x > 0,", "x < 0,"),
            Spoil("order", "x * 2.0, x * 0.1", "x * 0.1, x * 2.0"),
            Spoil(
                "dtype",
                "return jnp.where(x > 0, x * 2.0, x * 0.1)",
                "return jnp.where(x > 0, x * 2.0, x * 0.1).astype(jnp.bfloat16)",
            ),
            Spoil("one part in a million", "x * 2.0", "x * 2.000002"),
        ),
    ),
    Spoiled(
        "traced-while",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def halve(x):
    while x > 1.0:
        x = x * 0.5
    return x


print(halve(jnp.float32(37.0)))
""",
        (
            Spoil("condition", "x > 1.0", "x > 2.0"),
            Spoil("constant", "x * 0.5", "x * 0.3"),
            Spoil("dropped", "    x = jax.lax.while_loop(cond_fun, body_fun, x)\n", ""),
        ),
    ),
    Spoiled(
        "traced-range",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def power(x, n):
    total = x
    for i in range(n):
        total = total * 2.0 + i
    return total


print(power(jnp.float32(1.5), 4))
""",
        (
            Spoil("bound", "fori_loop(0,", "fori_loop(1,"),
            Spoil("constant", "total * 2.0", "total * 3.0"),
        ),
    ),
    Spoiled(
        "traced-shape",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def fill(x, n):
    return jnp.zeros(n) + x


print(fill(1.0, 3))
""",
        (
            Spoil("shape", "jnp.zeros(n)", "jnp.zeros(n + 1)"),
            Spoil("sign", "+ x", "- x"),
        ),
    ),
    Spoiled(
        "data-dependent-shape",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def above(x):
    return x[x > 0.5].sum()


print(above(jnp.array([0.1, 0.9, 0.7])))
""",
        (
            Spoil("condition", "where=x > 0.5", "where=x < 0.5"),
            Spoil("reduction", "jnp.sum(x,", "jnp.prod(x,"),
        ),
    ),
    Spoiled(
        "traced-slice",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def window(x, i):
    return x[i:i + 2] * 3.0


print(window(jnp.arange(6.0), 2))
""",
        (
            Spoil("length", "x, i, 2)", "x, i, 3)"),
            Spoil("start", "x, i, 2)", "x, i - 1, 2)"),
        ),
    ),
    Spoiled(
        "traced-container-index",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def pick(i):
    table = [1.5, 4.5, 9.5]
    return table[i] + 1.0


print(pick(2))
""",
        (
            Spoil("index", "[i] +", "[i - 1] +"),
            Spoil("dtype", "jnp.asarray(table)", "jnp.asarray(table, int)"),
        ),
    ),
    Spoiled(
        "builtin-on-tracer",
        """\
import jax
import jax.numpy as jnp
import math


@jax.jit
def grow(x):
    return math.exp(x) + 1.0


print(grow(jnp.float32(0.5)))
""",
        (
            Spoil("function", "jnp.exp", "jnp.exp2"),
            Spoil("sign", "+ 1.0", "- 1.0"),
        ),
    ),
    Spoiled(
        "where-on-static",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def normalize(x):
    return jnp.where(x.ndim == 1, jnp.log(x), x * 3.0)


print(normalize(jnp.ones(3) * 2.0), normalize(jnp.ones((2, 2))))
""",
        (
            Spoil("order", "jnp.log(x) if x.ndim == 1 else x * 3.0", "x * 3.0 if x.ndim == 1 else jnp.log(x)"),
            Spoil("condition", "x.ndim == 1", "x.ndim == 2"),
            Spoil("constant", "x * 3.0", "x * 3.1"),
        ),
        is_preview=True,
    ),
)
