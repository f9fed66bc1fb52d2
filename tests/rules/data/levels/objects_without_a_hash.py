from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@dataclass
class Config:
    power: int


def frozen(cls):
    return dataclass(frozen=True)(cls)


class Kernel:
    def __init__(self):
        raise NotImplementedError


@frozen
class Linear(Kernel):
    slope: jax.Array


@dataclass(frozen=True)
class Options:
    weights: jax.Array = None


@frozen
class Constant(Kernel):
    value: jax.Array


@frozen
class Sum(Kernel):
    left: Kernel


@frozen
class Named(Kernel):
    name: str


@partial(jax.jit, static_argnums=0)
def apply(what, x):
    return x


def known(x):
    return apply(Config(2), x) + apply(Linear(x), x)  # error: unhashable-static


def of_leaves(x):
    return apply((jnp.ones(2), 1), x)  # error: unhashable-static


def passed(config: Config, x):
    return apply(config, x)  # warning: unhashable-static


def declared(kernel: Linear, x):
    return apply(kernel, x)  # warning: unhashable-static


def without_weights(options: Options, x):
    return apply(options, x)


def of_any_kind(kernel: Kernel, x):
    return apply(kernel, x)  # warning: unhashable-static
