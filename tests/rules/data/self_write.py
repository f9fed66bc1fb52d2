"""Attributes that staged code sets."""

import copy
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import SimpleNamespace

import jax
import jax.numpy as jnp
from jax import lax

shared = SimpleNamespace(loss=None)


class Settings:
    last = None


class Agent:
    def __init__(self, n):
        self.w = jnp.zeros(n)
        self.value = None
        self._act = jax.jit(self.act)

    def act(self, x):
        self.value = x @ self.w  # expect: self-write
        return jnp.tanh(self.value)

    def greedy(self, x):
        return self._act(x)

    def critic(self, x):
        self.note(x.mean())
        return x

    def note(self, value):
        self.value = value  # expect: self-write

    def evaluate(self, x):
        return jax.vmap(self.critic)(x)

    @partial(jax.jit, static_argnames="self")
    def update(self, x):
        setattr(self, "w", self.w + x)  # expect: self-write
        return self.w

    def train(self, xs):
        def body(w, x):
            self.w = w + x  # expect: self-write
            return self.w, None

        w, _ = lax.scan(body, self.w, xs)
        return w

    def gradients(self, x):
        def loss(w):
            self.value = (w * x).sum()  # expect: self-write
            return self.value

        return jax.grad(loss)(self.w)


def elsewhere(x):
    agent = Agent(2)

    @jax.jit
    def step(x):
        agent.value = x  # expect: self-write
        shared.loss = x.sum()  # expect: self-write
        Settings.last = x  # expect: self-write
        return x

    return step(x)


def use_what_leaked():
    agent = Agent(2)
    agent.greedy(jnp.ones(2))
    return agent.value + 1


# runs: Agent(2).evaluate(jnp.ones((3, 2))), Agent(2).update(1.0), Agent(2).train(jnp.ones((3, 2))), elsewhere(jnp.ones(2))
# runs: Agent(2).gradients(jnp.ones(2))


# --- never flagged -------------------------------------------------------------


@jax.tree_util.register_dataclass
@dataclass
class State:
    x: jax.Array
    t: jax.Array

    def moved(self, dx):
        self.x = self.x + dx
        return self


@jax.jit
def argument_of_the_trace(state):
    state.t = state.t + 1
    return state.moved(1.0)


class Layer:
    def __init__(self, w):
        self.w = w
        self.out = None

    def __call__(self, x):
        self.out = x @ self.w
        return self.out


@jax.jit
def made_inside(w, x):
    layer = Layer(w)
    y = layer(x)
    layer.w = y
    return layer.out


@dataclass
class Plan:
    sizes: list = field(default_factory=list)
    shape: tuple = ()

    def describe(self, x):
        self.shape = x.shape
        return x.ndim


plan = Plan()


@jax.jit
def host_values(x):
    plan.describe(x)
    return x


class Model:
    def __init__(self):
        self.scale = 1.0

    def apply(self, x):
        return x * self.scale

    @partial(jax.jit, static_argnums=0)
    def scaled(self, x, scale):
        before = self.scale
        self.scale = scale
        y = self.apply(x)
        self.scale = before
        return y

    @partial(jax.jit, static_argnums=0)
    def with_copy(self, x, scale):
        other = copy.copy(self)
        other.scale = scale
        return other.apply(x)

    @cached_property
    def sizes(self):
        return (1, 2)

    def fit(self, x):
        self.scale = self.scaled(x, 2.0).mean()
        return len(self.sizes)


# runs: argument_of_the_trace(State(jnp.ones(2), jnp.zeros(()))), made_inside(jnp.ones(2), jnp.ones(2))
# runs: host_values(jnp.ones(2)), Model().scaled(jnp.ones(2), 3.0), Model().with_copy(jnp.ones(2), 3.0), Model().fit(1.0)
