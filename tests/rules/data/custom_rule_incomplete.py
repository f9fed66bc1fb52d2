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


# Rules that ignore the derivative which they are given (preview).


@jax.custom_vjp
def cubed(x):
    return x**3


def cubed_fwd(x):
    return x**3, x


def cubed_bwd(x, g):
    slope = 3 * x**2
    return (slope,)


cubed.defvjp(cubed_fwd, cubed_bwd)  # expect: custom-rule-incomplete


@jax.custom_jvp
def doubled(x):
    return 2 * x


doubled.defjvp(lambda primals, tangents: primals * 2)  # expect: custom-rule-incomplete


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


@jax.custom_vjp
def stepped(x):
    return jnp.sign(x)


stepped.defvjp(lambda x: (jnp.sign(x), x), lambda x, g: (jnp.zeros_like(x),))


@jax.custom_vjp
def without_slope(x):
    return x


stepped_too = without_slope.defvjp(lambda x: (x, None), lambda res, g: (None,))


@jax.custom_vjp
def on_purpose(x):
    return x


on_purpose.defvjp(lambda x: (x, 2 * x), lambda slope, _: (slope,))


@jax.custom_vjp
def unfinished(x):
    return x


def unfinished_bwd(res, g):
    raise NotImplementedError


unfinished.defvjp(lambda x: (x, None), unfinished_bwd)


# runs: jax.grad(stepped)(1.0), jax.grad(without_slope)(1.0), jax.grad(on_purpose)(1.0)
