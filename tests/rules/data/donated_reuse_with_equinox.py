"""Arrays that functions compiled by Equinox take over."""

import functools

import equinox as eqx
import jax.numpy as jnp


@functools.partial(eqx.filter_jit, donate="all")
def moved(w, x):
    return w - x


@eqx.filter_jit(donate="all-except-first")
def moved_by(x, w):
    return w - x


@eqx.filter_jit(donate="none")
def kept(w, x):
    return w - x


def reads_it_again():
    w, x = jnp.ones(4), jnp.ones(4)
    y = moved(w, x)
    return w + y  # expect: donated-reuse


def reads_the_second():
    w, x = jnp.ones(4), jnp.ones(4)
    y = moved_by(x, w)
    return w + y  # expect: donated-reuse


def reads_the_first():
    w, x = jnp.ones(4), jnp.ones(4)
    y = moved_by(x, w)
    return x + y


def keeps():
    w, x = jnp.ones(4), jnp.ones(4)
    y = kept(w, x)
    return w + y
