"""Functions that remember their results, in staged code."""

import functools
import math
from functools import cache, lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@lru_cache(maxsize=None)
def angles(n):
    return jnp.arange(n) / n


@cache
def mask(n):
    return {"causal": jnp.tril(jnp.ones((n, n)))}


@functools.lru_cache
def square(x):
    return x * x


@jax.jit
def rotate(x):
    return x * jnp.cos(angles(x.shape[0]))  # expect: cached-tracer


@jax.jit
def attend(x):
    return x @ mask(x.shape[0])["causal"]  # expect: cached-tracer


def power(x):
    return square(x)  # expect: cached-tracer


def in_a_body(xs):
    def body(c, x):
        return c + x * angles(4)[0], None  # expect: cached-tracer

    return lax.scan(body, 0.0, xs)[0]


class Basis:
    def __init__(self, n):
        self.n = n

    @functools.cached_property
    def nodes(self):
        return jnp.linspace(0.0, 1.0, self.n)

    def project(self, x):
        return x * self.nodes  # expect: cached-tracer

    def compiled(self, x):
        return jax.jit(self.project)(x)


# runs: rotate(jnp.ones(3)), attend(jnp.ones(4)), in_a_body(jnp.ones(4)), Basis(4).compiled(jnp.ones(4))
# raises TypeError: jax.jit(power)(2.0)
jitted_power = jax.jit(power)


# --- never flagged -------------------------------------------------------------


@lru_cache
def host_angles(n):
    return np.arange(n) / n


@lru_cache
def norm(n):
    return 1.0 / math.sqrt(n)


@cache
def constants(n):
    with jax.ensure_compile_time_eval():
        return jnp.arange(n)


@cache
def make_step(rate):
    @jax.jit
    def step(x):
        return x - rate * x

    return step


@jax.jit
def encode(x):
    return x * host_angles(x.shape[0]) * norm(x.shape[0]) + constants(x.shape[0])


def train(x):
    x = x + angles(5)
    for _ in range(3):
        x = make_step(0.1)(x)
    return x


@jax.jit
def object_made_inside(x):
    return x * Basis(4).nodes


# runs: encode(jnp.ones(4)), train(jnp.ones(5)), object_made_inside(jnp.ones(4))
