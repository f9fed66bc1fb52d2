"""Modules that nobody called, where an array belongs."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(3)
        return nn.relu(dense(x)) + jax.nn.relu(dense)  # expect: non-array-argument


class Outer(nn.Module):
    @nn.compact
    def __call__(self, x):
        return jnp.exp(Net())  # expect: non-array-argument


# raises TypeError: Net().init(jax.random.key(0), jnp.ones((1, 3)))
# raises TypeError: Outer().init(jax.random.key(0), jnp.ones((1, 3)))


def total(x):
    p = nnx.Param(x)
    return jnp.sum(p)


# runs: total(jnp.ones(3))

class Schedule:
    def __init__(self, scale):
        self.scale = scale


@jax.jit
def predict(model, x):
    return model.apply({}, x)


@nnx.jit
def scaled(model, schedule, x):
    return model(x) * schedule.scale


# raises TypeError: predict(Net(), jnp.ones(3))
# raises TypeError: scaled(nnx.Linear(3, 3, rngs=nnx.Rngs(0)), Schedule(2.0), jnp.ones(3))


def main():
    predict(Net(), jnp.ones(3))  # expect: non-array-argument
    scaled(nnx.Linear(3, 3, rngs=nnx.Rngs(0)), Schedule(2.0), jnp.ones(3))  # expect: non-array-argument
