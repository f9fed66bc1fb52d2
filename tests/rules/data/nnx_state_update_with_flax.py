"""State of nnx: variables that operators change, and numbers that jitted functions do."""

import jax.numpy as jnp
from flax import nnx


class Count(nnx.Variable):
    pass


class Own(nnx.Variable):
    def __iadd__(self, other):
        self.value = self.value + other
        return self


class Counter(nnx.Module):
    def __init__(self):
        self.count = Count(jnp.array(0))
        self.weight = nnx.Param(jnp.ones(2))
        self.own = Own(jnp.array(0))
        self.calls = 0

    def scale(self):
        self.weight *= 2  # expect: nnx-state-update

    def __call__(self):
        count = self.count
        count += 1  # expect: nnx-state-update

    def allowed(self):
        self.own += 1
        self.calls += 1
        self.count[...] += 1
        self.count.value -= 1
        total = self.count + 1
        total += 1
        return total


# runs: Counter().scale()


class Accuracy(nnx.metrics.Metric):
    def __init__(self):
        self.correct = nnx.metrics.MetricState(jnp.array(0))
        self.total = 0
        self.loss = 0.0
        self.name = "accuracy"

    def update(self, hits, loss):
        self.correct += jnp.sum(hits)  # expect: nnx-state-update
        self.total = self.total + hits.size  # expect: nnx-state-update
        self.loss += jnp.mean(loss)  # expect: nnx-state-update

    def reset(self):
        self.total = 0


@nnx.jit
def step(metric: Accuracy, hits, loss):
    metric.update(hits, loss)


class Schedule(nnx.Module):
    def __init__(self):
        self.rounds = 0
        self.seen = 0
        self.uses = 0

    def update(self):
        self.rounds += 1

    def advance(self):
        self.seen += 1  # expect: nnx-state-update

    def __call__(self, x):
        self.uses += 1  # expect: nnx-state-update
        return x


@nnx.jit
def train(model, optimizer: nnx.Optimizer, schedule, grads):
    optimizer.update(model, grads)
    schedule.advance()


@nnx.jit
def predict(graphdef, state, x):
    scale = nnx.merge(graphdef, state)
    return scale(x)


class Late(nnx.Module):
    def __init__(self, width, rngs):
        self.extra = None
        self.bias = 0.0
        self.table = None
        if width > 1:
            self.extra = nnx.Linear(width, 1, rngs=rngs)  # expect: nnx-state-update
            self.bias = nnx.Param(jnp.ones(width))  # expect: nnx-state-update
            self.table = jnp.arange(width)  # expect: nnx-state-update


class Declared(nnx.Module):
    def __init__(self, width, rngs):
        self.first = nnx.data(None)
        self.first = nnx.Linear(width, 1, rngs=rngs)
        self.second = None
        self.second = nnx.data(nnx.Linear(width, 1, rngs=rngs))
        self.third = nnx.Param(jnp.ones(width))
        self.third = None
        self.third = nnx.Param(jnp.ones(width))
        self.width = None
        self.width = width
        if width > 1:
            self.fourth = None
        else:
            self.fourth = nnx.Linear(width, 1, rngs=rngs)


class Deleted(nnx.Module):
    def __init__(self, width, rngs):
        self.extra = None
        del self.extra
        self.extra = nnx.Linear(width, 1, rngs=rngs)


class Plain(nnx.Module, pytree=False):
    def __init__(self, width, rngs):
        self.extra = None
        self.extra = nnx.Linear(width, 1, rngs=rngs)


class Base(nnx.Module):
    def __init__(self, width, rngs):
        self.extra = nnx.Linear(width, 1, rngs=rngs)


class Derived(Base):
    def __init__(self, width, rngs):
        super().__init__(width, rngs)
        self.extra = None
        self.extra = nnx.Linear(width, 2, rngs=rngs)


# runs: Declared(2, nnx.Rngs(0)), Declared(1, nnx.Rngs(0)), Deleted(2, nnx.Rngs(0)), Plain(2, nnx.Rngs(0)), Derived(2, nnx.Rngs(0))
# runs: Late(2, nnx.Rngs(0))
