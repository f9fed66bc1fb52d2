"""Transforms of functions that calling does not run."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


def decorated(x):
    @partial(jax.jit, static_argnums=1)  # expect: generator-in-jit
    def powers(x, n):
        for k in range(n):
            yield x**k

    return powers(x, 3)


async def score(x):
    return x.sum()


def rows(carry, x):
    yield carry + x


class Env:
    def steps(self, x):
        while True:
            x = x * 0.9
            yield x

    def run(self, x):
        return jax.jit(self.steps)(x)  # expect: generator-in-jit


def mapped(x):
    return jax.vmap(powers_of)(x)  # expect: generator-in-jit


def powers_of(x):
    yield x
    yield x**2


def differentiated(x):
    return jax.grad(score)(x)  # expect: generator-in-jit


def scanned(xs):
    return lax.scan(rows, 0.0, xs)  # expect: generator-in-jit


def bound(x):
    return jax.jit(partial(rows, 1.0))(x)  # expect: generator-in-jit


# raises TypeError: decorated(1.0)
# raises TypeError: mapped(jnp.ones(2))
# raises TypeError: Env().run(1.0)
# raises TypeError: differentiated(jnp.ones(2))
# raises TypeError: scanned(jnp.ones(2))
# raises TypeError: bound(1.0)


# --- never flagged -------------------------------------------------------------


@jax.jit
def step(x):
    return sum(powers_of(x))


def rollout(x, n):
    for _ in range(n):
        x = step(x)
        yield x


async def serve(x):
    return step(x)


def consume(x):
    return list(rollout(x, 3)), jax.tree.map(powers_of, [x])


@jax.jit
def comprehends(x):
    return sum(x * k for k in range(3))


# runs: consume(jnp.ones(2)), comprehends(jnp.ones(2))
