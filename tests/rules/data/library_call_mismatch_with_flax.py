"""Layers of Flax that need an argument in the constructor or in the call, and calls that Flax refuses."""

from typing import NamedTuple

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from flax.training import train_state
from flax.training.train_state import TrainState

KEY = jax.random.key(0)
X = jnp.ones((2, 3))


class Dropped(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dropout(0.0)(x)  # expect: library-call-mismatch


# raises ValueError: Dropped().init(KEY, X)


class Normalized(nn.Module):
    def setup(self):
        self.norm = nn.BatchNorm(momentum=0.9)

    def __call__(self, x):
        return self.norm(x)  # expect: library-call-mismatch


# raises ValueError: Normalized().init(KEY, X)


class Attending(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.MultiHeadDotProductAttention(num_heads=1, dropout_rate=0.1)(x, x)  # expect: library-call-mismatch


# raises ValueError: Attending().init(KEY, X)


class Masked(nn.Module):
    @nn.compact
    def __call__(self, x, mask=None):
        for _ in range(2):
            x = nn.MultiHeadDotProductAttention(num_heads=1)(x, x, x, mask)  # expect: library-call-mismatch
        return x


# raises TypeError: Masked().init(KEY, X)


class WithStats(train_state.TrainState):
    stats: dict


def states(params, tx):
    ready = tx.init(params)
    first = TrainState.create(apply_fn=None, params=params, tx=tx, opt_state=ready)  # expect: library-call-mismatch
    second = WithStats.create(apply_fn=None, params=params, tx=tx, stats={}, step=0)  # expect: library-call-mismatch
    return first, second


# raises TypeError: states({"w": X}, optax.sgd(0.1))


def positional(params, tx):
    state = TrainState.create(apply_fn=None, params=params, tx=tx)
    return state.apply_gradients(params)  # expect: library-call-mismatch


# raises TypeError: positional({"w": X}, optax.sgd(0.1))


def old_optimizer(params, tx):
    state = TrainState.create(apply_fn=None, params=params, tx=tx)
    return state.optimizer  # expect: library-call-mismatch


# raises AttributeError: old_optimizer({"w": X}, optax.sgd(0.1))


@flax.struct.dataclass
class Fields:
    w: jax.Array


class Node(flax.struct.PyTreeNode):
    w: jax.Array


def of_objects(fields, node, tx):
    first = WithStats.create(apply_fn=None, params=fields, tx=tx, stats={})  # expect: library-call-mismatch
    second = TrainState.create(apply_fn=None, params=node, tx=tx)  # expect: library-call-mismatch
    return first, second


def make_states(tx):
    return of_objects(Fields(X), Node(X), tx)


# raises TypeError: make_states(optax.sgd(0.1))


def clip_at_once(grads):
    return optax.clip_by_global_norm(1.0)(grads)  # expect: library-call-mismatch


# raises TypeError: clip_at_once({"w": X})


# --- never flagged -------------------------------------------------------------


def of_a_subclass(state: TrainState, grads):
    return state.stats, state.apply_gradients(grads=grads, stats={})


def own_state(params, tx):
    state = WithStats.create(apply_fn=None, params=params, tx=tx, stats={})
    return of_a_subclass(state.replace(stats={"n": 1}), params)


# runs: own_state({"w": X}, optax.sgd(0.1))


@flax.struct.dataclass
class Found:
    w: jax.Array

    def __contains__(self, name):
        return name == "w"


class Pair(NamedTuple):
    w: jax.Array


def of_containers(tx):
    states = [TrainState.create(apply_fn=None, params=params, tx=tx) for params in (Found(X), {"w": Fields(X)})]
    return states, TrainState.create(apply_fn=None, params=Pair("w"), tx=tx)


# runs: of_containers(optax.sgd(0.1))


class Set(nn.Module):
    options: dict

    @nn.compact
    def __call__(self, x, train):
        x = nn.Dropout(0.1)(x, not train)
        x = nn.Dropout(0.1, deterministic=not train)(x)
        x = nn.Dropout(**self.options)(x)
        x = nn.BatchNorm(not train)(x)
        x = nn.BatchNorm()(x, use_running_average=not train)
        return nn.MultiHeadDotProductAttention(num_heads=1)(x, x)


# runs: Set({"rate": 0.1, "deterministic": True}).init(KEY, X, False)


# --- attributes of modules of the project ----------------------------------------------


class Linen(nn.Module):
    features: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features)(x)


class Stateful(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(3, 3, rngs=rngs)

    def __call__(self, x):
        return self.layer(x)


def of_linen(x):
    model = Linen()
    variables = model.init(KEY, x)
    return model.apply(variables, x), model.features, model.name, model.tabulate


def of_nnx(x):
    model = Stateful(nnx.Rngs(0))
    model.train()
    return model(x), model.layer.kernel


def of_unknown_class(model_class):
    return model_class().parameters()


# runs: of_linen(X), of_nnx(jnp.ones((2, 3)))


def parameters_of_linen():
    return Linen().parameters()  # expect: library-call-mismatch


def init_of_nnx():
    model = Stateful(nnx.Rngs(0))
    return model.init(KEY, X)  # expect: library-call-mismatch


def asked_and_tried():
    model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    if hasattr(model, "buffers"):
        return model.buffers()
    try:
        return model.state_dict()
    except AttributeError:
        return not hasattr(model, "weight") or model.weight


# runs: asked_and_tried()
# raises AttributeError: parameters_of_linen()
# raises AttributeError: init_of_nnx()
