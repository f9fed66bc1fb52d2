"""Functions of Haiku that are jitted before Haiku transforms them, and others."""

import haiku as hk
import jax


@hk.transform  # expect: plain-transform-of-module
@jax.jit
def refused(x):
    return hk.Linear(2)(x)


@hk.without_apply_rng
@hk.transform
def taken(x):
    return hk.Linear(2)(x)


def drop(x):
    return hk.dropout(hk.next_rng_key(), 0.5, x)


def rows(xs):
    return jax.vmap(drop)(xs)  # expect: plain-transform-of-module


dropping = hk.transform(drop)


def members(params, x, keys):
    return jax.vmap(lambda key: dropping.apply(params, key, x))(keys), hk.vmap(drop, split_rng=True)(x)


@jax.jit
def step(params, x):
    return taken.apply(params, x)
