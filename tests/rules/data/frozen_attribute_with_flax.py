"""Modules, data classes and states of Flax whose attributes are set, when they are frozen and when they are not."""

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
from flax.training.train_state import TrainState


class Network(nn.Module):
    width: int = 2
    kind: str = "plain"

    def setup(self):
        self.layer = nn.Dense(self.width)
        self.width = 3  # expect: frozen-attribute
        self._more()

    def _more(self):
        self.other = nn.Dense(self.width)

    def __call__(self, x):
        self.last = x  # expect: frozen-attribute
        return self._applied(x)

    def _applied(self, x):
        return self.layer(x)

    def configure(self, kind):
        self.kind = kind


# raises FlaxError: Network().init(jax.random.key(0), jnp.ones((1, 2)))


class Compact(nn.Module):
    @nn.compact
    def __call__(self, x):
        self.hidden = nn.Dense(2)(x)  # expect: frozen-attribute
        return self.hidden


# raises FlaxError: Compact().init(jax.random.key(0), jnp.ones((1, 2)))


class Unbound(nn.Module):
    def __call__(self, x):
        self.last = x
        return x


# runs: Unbound()(jnp.ones(2))


def outside():
    network = Network()
    network.kind = "outside"
    network.configure("method")
    return network


# runs: outside()


@flax.struct.dataclass
class State:
    step: int

    def advance(self):
        self.step += 1  # expect: frozen-attribute
        return self


# raises AttributeError: State(0).advance()


@flax.struct.dataclass(frozen=False)
class Thawed:
    step: int

    def advance(self):
        self.step += 1


# runs: Thawed(0).advance()


class Training(TrainState):
    key: jax.Array

    def next_key(self):
        self.key = jax.random.split(self.key)[0]  # expect: frozen-attribute


def reset(state: TrainState, params):
    state.params = params  # expect: frozen-attribute
    return state
