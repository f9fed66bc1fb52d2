"""Jitted methods of modules of Flax: linen's are no pytrees, whatever else is a base; ``flax.struct`` makes pytrees."""

import abc
from typing import Generic, TypeVar

import equinox as eqx
import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp

T = TypeVar("T")


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)

    @jax.jit  # expect: jit-on-method
    def loss(self, params, x):
        return jnp.sum(self.apply(params, x))


class Deep(Net):
    @jax.jit  # expect: jit-on-method
    def scaled(self, x):
        return 2 * x


class Cell(nn.GRUCell):
    @jax.jit  # expect: jit-on-method
    def scaled(self, x):
        return 2 * x


class Agent(abc.ABC, Generic[T]):
    @jax.jit  # expect: jit-on-method
    def act(self, x):
        return 2 * x


# --- never flagged -------------------------------------------------------------


@flax.struct.dataclass
class State:
    w: jax.Array

    @jax.jit
    def norm(self):
        return jnp.sum(self.w)


class Node(flax.struct.PyTreeNode):
    w: jax.Array

    @jax.jit
    def norm(self):
        return jnp.sum(self.w)


class Base(abc.ABC):
    @jax.jit
    def norm(self):
        return jnp.sum(self.w)


@jax.tree_util.register_pytree_node_class
class Registered(Base):
    def __init__(self, w):
        self.w = w

    def tree_flatten(self):
        return (self.w,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


# runs: State(jnp.ones(2)).norm(), Node(jnp.ones(2)).norm(), Registered(jnp.ones(2)).norm()


class Mapped(eqx.Module):
    layer: eqx.nn.Linear

    @eqx.filter_jit
    def __call__(self, x):
        return self.layer(x)


class Deep(eqx.Module):
    layers: list

    def __init__(self, key):
        self.layers = [eqx.nn.Linear(2, 2, key=key)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Critics:
    def __init__(self, key):
        keys = jax.random.split(key, 3)
        self.nets = {"target": Deep(keys[0])}
        self.deep = Deep(keys[1])
        self.pool = eqx.nn.MaxPool1d(2)
        self.mlp = eqx.nn.MLP(2, 2, 4, 1, key=keys[2])
        self.params, self.static = eqx.partition(self.deep, eqx.is_array)

    @eqx.filter_jit  # expect: jit-on-method
    def target(self, x):
        return self.nets["target"](x)

    @eqx.filter_jit  # expect: jit-on-method
    def batch(self, xs):
        return jax.vmap(self.deep)(xs)

    @eqx.filter_jit
    def pooled(self, x):
        return self.pool(x)

    @eqx.filter_jit
    def width(self, x):
        return x * self.mlp.width_size

    @eqx.filter_jit
    def shape(self, x):
        return x + eqx.filter_eval_shape(self.mlp, x).shape[0]

    @eqx.filter_jit
    def combined(self, params, x):
        return eqx.combine(params, self.static)(x)


# runs: Critics(jax.random.key(0)).target(jnp.ones(2)), Critics(jax.random.key(0)).width(jnp.ones(2))


class Predictor:
    def __init__(self, model: Mapped, scale):
        self.model = model
        self.scale = scale
        self.layer = eqx.nn.Linear(2, 2, key=jax.random.key(0))
        self.fast = eqx.filter_jit(self.logits)

    def logits(self, x):
        return self.scaled(self.model(x))

    @eqx.filter_jit  # expect: jit-on-method
    def predict(self, x):
        return jnp.argmax(self.logits(x))

    @eqx.filter_jit  # expect: jit-on-method
    def first(self, x):
        return self.layer(x)

    @eqx.filter_jit
    def scaled(self, x):
        return self.scale * x

    @eqx.filter_jit
    def passed(self, model, x):
        return self.scale * model(x)


# runs: Predictor(Mapped(eqx.nn.Linear(2, 2, key=jax.random.key(0))), 2.0).predict(jnp.ones(2))
