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
