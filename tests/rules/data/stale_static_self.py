"""Attributes and enclosing variables that are rebound after JAX has traced the code that reads them."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


def weigh(agent, x):
    return x @ agent.weights  # expect: stale-static-self


class Agent:
    def __init__(self):
        self._scale = 1.0
        self.weights = jnp.ones(3)

    @property
    def scale(self):
        return self._scale  # expect: stale-static-self

    @partial(jax.jit, static_argnames="self")
    def act(self, x):
        return weigh(self, x) * self.scale


def act_and_change(observations):
    agent = Agent()
    actions = []
    for x in observations:
        actions.append(agent.act(x))
        agent.weights = agent.weights + 1.0
        agent._scale = agent._scale * 0.5
    return actions


class Annealed:
    def __init__(self):
        self.beta = 0.1
        self.weights = jnp.ones(3)
        self.step = jax.jit(self._step)
        self.gradient = jax.jit(jax.grad(self.loss))

    def _step(self, x):
        return x * self.beta  # expect: stale-static-self

    def loss(self, weights):
        return jnp.sum(weights * self.weights)  # expect: stale-static-self

    def train(self, data):
        y = 0.0
        for i, x in enumerate(data):
            y = self.step(x)
            self.weights = self.weights - self.gradient(self.weights)
            self.beta = 0.1 / (i + 1)
        return y


def anneal(data):
    return Annealed().train(data)


def train_closure(data):
    scale = 1.0
    table = {"a": 1.0}

    @jax.jit
    def forward(x):
        return x * scale + table["a"]  # expect: stale-static-self

    def double():
        nonlocal scale
        scale = scale * 2.0

    out = []
    for x in data:
        out.append(forward(x))
        double()
        table["a"] = 3.0
    return out


class Learner:
    """Nobody here calls ``update``: its second call is the one that is wrong."""

    def __init__(self, params):
        self.params = params
        self.target = params
        self._loss = jax.jit(self.loss)

    def loss(self, params, x):
        return jnp.mean((x @ params - x @ self.target) ** 2)  # expect: stale-static-self

    def update(self, x):
        loss, gradient = jax.value_and_grad(self._loss)(self.params, x)
        self.params = jax.tree.map(lambda p, g: p - 0.1 * g, self.params, gradient)
        self.target = self.params
        return loss


class Simulation:
    def __init__(self, dt):
        self.dt = dt
        self.advance = jax.jit(lambda s: s + self.dt)  # expect: stale-static-self


simulation = Simulation(0.1)
state = simulation.advance(jnp.zeros(3))
simulation.dt = 0.01
state = simulation.advance(state)


@dataclass
class Config:
    rate: float = 0.1


def make_step(config):
    @jax.jit
    def step(params, gradient):
        return params - config.rate * gradient  # expect: stale-static-self

    return step


def decay(gradient):
    config = Config()
    step = make_step(config)
    params = jnp.ones(3)
    for _ in range(10):
        params = step(params, gradient)
        config.rate = config.rate * 0.9
    return params


# --- silent ---------------------------------------------------------------------------------------


class Fitted:
    def __init__(self, weights):
        self.weights = weights
        self.cache = None
        self.training = True
        self.buffer = jnp.zeros(3)
        self.forward = jax.jit(lambda x: x @ self.weights * (1.0 if self.training else 0.0))

    @partial(jax.jit, static_argnums=0)
    def predict(self, x):
        return x @ self.weights + (0.0 if self.cache is None else self.cache)

    def push(self, x):
        if self.cache is None:
            self.cache = 3.0
        self.training = True
        self.buffer = self.buffer + self.predict(x) + self.forward(x)


def set_before_the_first_call(data):
    model = Fitted(data[0])
    model.weights = data[1]
    for x in data:
        model.push(x)
    return model.buffer


def other_objects(data, x):
    for weights in data:
        model = Fitted(weights)
        model.predict(x)
        model.weights = 2 * weights


def set_after_the_last_call(data, x):
    model = Fitted(data[0])
    y = model.predict(x)
    model.weights = data[1]
    return y, model


def one_or_the_other(data, x, fresh):
    model = Fitted(data[0])
    if fresh:
        y = model.predict(x)
    else:
        model.weights = data[1]
        y = model.predict(x)
    return y


def thrown_away(data, x):
    model = Fitted(data[0])
    for weights in data:
        model.predict(x)
        model.weights = weights
        jax.clear_caches()


def thrown_away_for_one(data, x):
    model = Fitted(data[0])
    for weights in data:
        model.forward(x)
        model.weights = weights
        model.forward.clear_cache()


class Rebuilt:
    def __init__(self):
        self.k = 2
        self.build()

    def build(self):
        self.forward = jax.jit(lambda x: x * self.k)

    def set_k(self, k):
        self.k = k
        self.build()


def rebuild(data):
    model = Rebuilt()
    for i, x in enumerate(data):
        model.forward(x)
        model.set_k(i)


class Normalized:
    def __init__(self):
        self.scale = 1.0
        self.act = jax.jit(self._act)

    def _act(self, x):
        return x / self.scale


def first_sets_up(data):
    model = Normalized()
    y = 0.0
    for i, x in enumerate(data):
        if i == 0:
            model.scale = jnp.max(x)
        y = model.act(x)
    return y


class Compiled:
    def __init__(self):
        self.beta = 1.0
        self.step = jax.jit(lambda x: x * self.beta)

    def anneal(self, x, beta):
        y = self.step(x)
        self.beta = beta
        self.step = jax.jit(lambda x: x * self.beta)
        return y


class Trainer:
    def __init__(self, state):
        self.state = state
        self.predict = jax.jit(lambda params, x: self.state.apply_fn(params, x))

    def train(self, data):
        for x in data:
            gradient = self.predict(self.state.params, x)
            self.state = self.state.apply_gradients(grads=gradient)


class Window:
    def __init__(self):
        self.width = 3
        self.traces = 0

    @partial(jax.jit, static_argnums=(0, 1))
    def first(self, width, x):
        self.traces = self.traces + 1
        return x[: self.width]

    @partial(jax.jit, static_argnums=0)
    def sum(self, x):
        return x.sum() + self.width

    @partial(jax.jit, static_argnums=0, static_argnames="axis")
    def mean(self, x, *, axis):
        return x.mean(axis) + self.width  # expect: stale-static-self


def traced_again_for_another_width():
    window = Window()
    before = window.first(3, jnp.ones(10))
    window.width = 4
    window.traces = 0
    return before, window.first(4, jnp.ones(10))


def traced_again_for_another_shape_or_dtype():
    window = Window()
    before = window.sum(jnp.ones(10))
    window.width = 4
    between = window.sum(jnp.ones(11))
    window.width = 5
    return before, between, window.sum(jnp.ones(12)), window.sum(jnp.ones((3, 4)))


def not_traced_again(x):
    window = Window()
    before = window.mean(jnp.ones(10), axis=0)
    window.width = 4
    return before, window.mean(x, axis=0)


def test_jax_keeps_the_old_width():
    window = Window()
    before = window.sum(jnp.ones(10))
    window.width = 4
    assert window.sum(jnp.ones(10)) == before
