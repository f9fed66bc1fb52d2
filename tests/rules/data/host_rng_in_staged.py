"""The host's random numbers in staged code."""

import os
import random
import secrets
import uuid

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def numpys(x):
    return x + np.random.normal(size=x.shape)  # expect: host-rng-in-staged


@jax.jit
def pythons(x):
    return x * random.random()  # expect: host-rng-in-staged


@jax.jit
def others(x):
    x = x + secrets.randbelow(5)  # expect: host-rng-in-staged
    x = x + len(os.urandom(3))  # expect: host-rng-in-staged
    named = {str(uuid.uuid4()): x, secrets.token_hex(): x}
    return x + secrets.randbits(3) + sum(named.values())  # expect: host-rng-in-staged


def coin():
    return random.choice([-1.0, 1.0])  # expect: host-rng-in-staged


def walk(n):
    return jax.lax.scan(lambda x, _: (x + coin(), x), 0.0, None, length=n)


# runs: numpys(jnp.ones(2)), pythons(1.0), others(1.0), walk(2)


# --- never flagged -------------------------------------------------------------


@jax.jit
def keyed(key, x):
    return x + jax.random.normal(key, x.shape)


def eager(x, n):
    rng = np.random.default_rng(0)
    for _ in range(n):
        x = keyed(jax.random.key(random.randrange(9)), x + rng.normal(size=x.shape) + np.random.rand())
    return x


@jax.jit
def in_a_callback(x):
    return jax.pure_callback(lambda v: v * np.float32(random.random()), jax.ShapeDtypeStruct(x.shape, x.dtype), x)


# runs: eager(jnp.ones(2), 2), in_a_callback(jnp.ones(2))
