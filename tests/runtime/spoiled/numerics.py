"""Fixes spoiled on purpose: numbers and gradients (JAX7xx)."""

from __future__ import annotations

from runtime.spoiled.kinds import Spoil, Spoiled

PROGRAMS = (
    Spoiled(
        "where-nan-grad",
        """\
import jax
import jax.numpy as jnp


def safe(x):
    return jnp.sum(jnp.where(x > 0, jnp.sqrt(x), 0.0))


print(safe(jnp.array([0.0, 4.0, -1.0])), jax.grad(safe)(jnp.array([0.0, 4.0, -1.0])))
""",
        (
            Spoil("constant", "where(x > 0, x, 1.0)), 0.0", "where(x > 0, x, 1.0)), 1.0"),
            Spoil("sign", "jnp.sqrt(jnp.where", "-jnp.sqrt(jnp.where"),
            Spoil("finite gradient", "jnp.sqrt(jnp.where(x > 0, x, 1.0))", "jnp.sqrt(jnp.where(x > 0, 2.0 * x, 1.0))"),
        ),
    ),
    Spoiled(
        "unstable-expression",
        """\
import jax
import jax.numpy as jnp


def small(x):
    return jnp.log(1.0 + x)


print(small(jnp.array([1e-6, 1e-3, 0.5], jnp.float32)))
""",
        (
            Spoil("function", "jnp.log1p(x)", "jnp.expm1(x)"),
            Spoil("constant", "jnp.log1p(x)", "jnp.log1p(x) * 1.0001"),
            Spoil("no better", "jnp.log1p(x)", "jnp.log(1.0 + x) + 1e-8"),
        ),
    ),
    Spoiled(
        "nan-comparison",
        """\
import jax
import jax.numpy as jnp


def count(x):
    bad = x == jnp.nan
    return jnp.sum(bad), x + 1.0


print(count(jnp.array([1.0, jnp.nan, 3.0])))
""",
        (
            Spoil("sign", "jnp.isnan(x)", "~jnp.isnan(x)"),
            Spoil("function", "jnp.isnan(x)", "jnp.isinf(x)"),
            Spoil("result beside it", "x + 1.0", "x + 2.0"),
        ),
    ),
    Spoiled(
        "integer-grad",
        """\
import jax
import jax.numpy as jnp


def cube(x):
    return x ** 3


print(jax.grad(cube)(2))
""",
        (
            Spoil("constant", "(2.0)", "(3.0)"),
            Spoil("argument", "jax.grad(cube)", "jax.value_and_grad(cube)"),
        ),
    ),
)
