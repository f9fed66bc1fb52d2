"""Fixes spoiled on purpose: other releases, settings and clocks (JAX8xx, JAX9xx)."""

from __future__ import annotations

from runtime.spoiled.kinds import Spoil, Spoiled

PROGRAMS = (
    Spoiled(
        "removed-api",
        """\
import jax
import jax.numpy as jnp


def twice(tree):
    return jax.tree_map(lambda a: a * 2.0, tree)


print(twice({"a": jnp.ones(2)}))
""",
        (
            Spoil("function", "jax.tree.map(", "jax.tree_util.tree_leaves((0, "),
            Spoil("constant", "a * 2.0", "a * 3.0"),
        ),
    ),
    Spoiled(
        "deprecated-api",
        """\
import jax.experimental.pjit
import jax.numpy as jnp


def double(x):
    return jax.experimental.pjit.pjit(lambda a: a * 2.0)(x)


print(double(jnp.array([1.0, 2.0])))
""",
        (
            Spoil("function", "jax.jit(", "jax.grad("),
            Spoil("constant", "a * 2.0", "a * 3.0"),
        ),
    ),
    Spoiled(
        "too-new-api",
        """\
# /// script
# dependencies = ["jax>=0.4.30"]
# ///
import jax
import jax.numpy as jnp


@jax.jit(static_argnames="n")
def tiled(x, n):
    return jnp.tile(x, n) * 2.0


print(tiled(jnp.ones(2), n=3))
""",
        (
            Spoil("constant", "* 2.0", "* 2.1"),
            Spoil("shape", "jnp.tile(x, n)", "jnp.tile(x, n)[1:]"),
        ),
    ),
    Spoiled(
        "async-timing",
        """\
import time

import jax
import jax.numpy as jnp


@jax.jit
def work(x):
    return x @ x


def main():
    x = jnp.ones((64, 64))
    work(x)
    start = time.perf_counter()
    y = work(x)
    print(time.perf_counter() - start)
    return y


main()
""",
        (Spoil("dropped", "    y = work(x)\n    jax.block", "    y = x\n    jax.block"),),
    ),
    Spoiled(
        "late-configuration",
        """\
import os

import jax
import jax.numpy as jnp


def main():
    x = jnp.arange(4.0)
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=1"
    return x * 2.0


print(main())
""",
        (
            Spoil("constant", "x * 2.0", "x * 2.5"),
            Spoil("order", "jnp.arange(4.0)", "jnp.arange(4.0)[::-1]"),
            Spoil("other variable", '"XLA_FLAGS"', '"JAX_ENABLE_X64"'),
        ),
    ),
)
