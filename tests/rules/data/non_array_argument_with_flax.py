"""Modules that nobody called, where an array belongs."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
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


# --- objects of libraries as arguments of a jitted function ------------------------


@jax.jit
def step(params, opt_state, optimizer):
    updates, opt_state = optimizer.update(params, opt_state)
    return optax.apply_updates(params, updates), opt_state


def train(params):
    optimizer = optax.chain(optax.clip(1.0), optax.adam(1e-3))
    return step(params, optimizer.init(params), optimizer)  # expect: non-array-argument


# raises TypeError: train({"w": jnp.ones(3)})


@jax.jit
def forward(model, variables, x):
    return model(variables, x) if callable(model) else x


def applied(x):
    layer = nn.Dense(3)
    variables = layer.init(jax.random.key(0), x)
    return forward(layer.apply, variables, x)  # expect: non-array-argument


def given(x):
    layer = nn.Dense(3)
    return forward(layer, x, x)  # expect: non-array-argument


# raises TypeError: applied(jnp.ones((1, 3)))
# raises TypeError: given(jnp.ones((1, 3)))


def fitting(params, optimizer=optax.sgd(0.1)):
    static = jax.jit(step.__wrapped__, static_argnums=2)
    return static(params, optimizer.init(params), optimizer)


# runs: fitting({"w": jnp.ones(3)})
