import functools
from dataclasses import dataclass
from enum import Enum

import jax
import jax.numpy as jnp


class Norm(Enum):
    L1 = 1
    L2 = 2


@dataclass(frozen=True)
class Key:
    norm: Norm
    width: int


@functools.lru_cache(maxsize=None)
def make(key):
    if key.norm is Norm.L1:
        return lambda x: jnp.sum(jnp.abs(x)) / key.width
    return lambda x: jnp.sqrt(jnp.sum(x**2)) / key.width


REDUCERS = {Norm.L1: jnp.sum, Norm.L2: jnp.max}


@functools.partial(jax.jit, static_argnums=(0,))
def measure(norm, x):
    used = {norm}
    return make(Key(norm, x.shape[-1]))(x) + REDUCERS[norm](x) * len(used)


def table(xs):
    return {float(x): i for i, x in enumerate(xs)}
