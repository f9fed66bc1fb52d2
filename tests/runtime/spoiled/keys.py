"""Fixes spoiled on purpose: random keys (JAX3xx)."""

from __future__ import annotations

from runtime.spoiled.kinds import Spoil, Spoiled

PROGRAMS = (
    Spoiled(
        "key-reuse",
        """\
import jax
import jax.numpy as jnp


def noise(key):
    scale = jnp.arange(4.0)
    first = jax.random.normal(key, (4,))
    second = jax.random.uniform(key, (4,))
    return first * scale + second, scale


print(noise(jax.random.key(0)))
""",
        (
            Spoil("sampler", "jax.random.normal(subkey", "jax.random.uniform(subkey"),
            Spoil("constant", "first * scale", "first * scale * 2.0"),
            Spoil("what no key decides", "jnp.arange(4.0)", "jnp.arange(1.0, 5.0)"),
            Spoil("sign", "+ second", "- second"),
            Spoil("shape", "jax.random.normal(subkey, (4,))", "jax.random.normal(subkey, (1, 4))"),
            Spoil("dropped", "first * scale + second", "first * scale"),
        ),
    ),
    Spoiled(
        "key-reuse-in-loop",
        """\
import jax
import jax.numpy as jnp


def walk(key):
    x = jnp.zeros(3)
    for i in range(4):
        x = x + jax.random.normal(key, (3,)) * 0.5
    return x


print(walk(jax.random.key(1)))
""",
        (
            Spoil("constant", "* 0.5", "* 0.05"),
            Spoil("dropped", "x = x + jax", "x = jax"),
            Spoil("dtype", "jax.random.normal(subkey, (3,))", "jax.random.normal(subkey, (3,), jnp.bfloat16)"),
            Spoil("still one key", "normal(subkey,", "normal(jax.random.key(1),"),
        ),
    ),
    Spoiled(
        "legacy-prng-key",
        """\
import jax
import jax.numpy as jnp


def draw(seed):
    key = jax.random.PRNGKey(seed)
    return jax.random.normal(key, (3,))


print(draw(7))
""",
        (
            Spoil("seed", "jax.random.key(seed)", "jax.random.key(seed + 1)"),
            Spoil("sampler", "normal", "laplace"),
        ),
    ),
)
