"""Arrays of low precision that become float32, and others that look alike."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass
class Config:
    width: int = 8
    dtype: jnp.dtype = jnp.bfloat16
    other: jnp.dtype = jnp.float32


def weights(config: Config):
    def scaled(n):
        root = jnp.sqrt(jnp.array(n, jnp.float32))
        return jnp.ones(n, config.dtype) / root  # expect: lost-dtype

    def wide(n):
        return jnp.ones(n, config.other) / jnp.sqrt(jnp.array(n, jnp.float32))

    return scaled(config.width), wide(config.width)


def factors(key, n):
    scale = jnp.asarray(1 / n, dtype=jnp.float32)
    first = 0.5 * scale * jax.random.uniform(key, (n,), "float16")  # expect: lost-dtype
    second = np.sqrt(2 / n) * jnp.ones((n,), jnp.bfloat16) + 1  # expect: lost-dtype
    return first, second, [jnp.zeros(n, jnp.float16) + jnp.float32(1)]  # expect: lost-dtype


def kept(key, n, dtype):
    scale = jnp.asarray(1 / n, dtype=jnp.float32)
    first = scale * jax.random.uniform(key, (n,), jnp.bfloat16)
    first = first.astype(jnp.bfloat16)
    second = jnp.ones((n,), jnp.bfloat16) / math.sqrt(n)
    third = jnp.ones((n,), jnp.bfloat16) / jnp.sqrt(n)
    fourth = jnp.ones((n,), dtype) / np.sqrt(n)
    fifth = jnp.asarray(jnp.ones((n,), jnp.bfloat16) / np.sqrt(n), jnp.bfloat16)
    sixth = jnp.ones((n,), jnp.bfloat16) * np.prod((n, 2))
    return first, second, third, fourth, fifth, sixth


def noise(key, n):
    return jax.random.normal(key, (n,), jnp.bfloat16) * np.sqrt(n)


def noisy(x, key):
    return x + noise(key, len(x)).astype(x.dtype)


# runs: weights(Config()), factors(jax.random.key(0), 3), kept(jax.random.key(0), 3, None), noisy(jnp.ones(3), jax.random.key(0))
