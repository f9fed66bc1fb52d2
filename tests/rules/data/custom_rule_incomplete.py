"""Derivative rules that are missing or do not fit."""

from functools import partial

import jax
import jax.numpy as jnp


@jax.custom_vjp  # expect: custom-rule-incomplete
def bare(x):
    return jnp.round(x)


def plain(x):
    return x


lone = jax.custom_vjp(plain)  # expect: custom-rule-incomplete


@jax.custom_vjp
def no_pair(x):
    return x * 2


no_pair.defvjp(lambda x: x * 2, lambda res, g: (g,))  # expect: custom-rule-incomplete


@jax.custom_vjp
def one_short(x, y):
    return x * y


def one_short_fwd(x, y):
    return x * y, (x, y)


def one_short_bwd(res, g):
    x, y = res
    return (g * y,)


one_short.defvjp(one_short_fwd, one_short_bwd)  # expect: custom-rule-incomplete


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def with_static(n, x):
    return x * n


def with_static_fwd(n, x):
    return x * n, None


def with_static_bwd(res, g):
    return (g,)


with_static.defvjp(with_static_fwd, with_static_bwd)  # expect: custom-rule-incomplete


# --- never flagged -------------------------------------------------------------


@partial(jax.custom_vjp, nondiff_argnums=(0, 2))
def scaled(n, x, m):
    return x * n * m


def scaled_fwd(n, x, m):
    return scaled(n, x, m), x


def scaled_bwd(n, m, x, g):
    return (g * n * m,)


scaled.defvjp(scaled_fwd, scaled_bwd)


@jax.custom_jvp
def tabled(x):
    return jnp.sin(x)


@tabled.defjvp
def tabled_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return tabled(x), jnp.cos(x) * t


class Activation:
    def __init__(self, function):
        self.function = jax.custom_vjp(function)
        self.function.defvjp(self.forward, self.backward)

    def forward(self, x):
        return self.function(x), x

    def backward(self, x, g):
        return (g * x,)


# runs: jax.grad(lambda x: scaled(2.0, x, 3.0))(1.0), jax.grad(tabled)(0.5), Activation(jnp.sin).function(1.0)
