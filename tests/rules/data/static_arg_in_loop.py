"""Static arguments that are another value in every iteration, and others."""

import itertools
import math
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("lr", "order", "name"))
def step(w, lr=0.1, order=1, name=""):
    return w - lr * w**order


@dataclass(frozen=True)
class Options:
    rate: float
    nesterov: bool = False


@partial(jax.jit, static_argnums=1)
def configured(w, options):
    return w * options.rate


def counted(w, n):
    for i in range(n):
        w = step(w, order=i)  # expect: static-arg-in-loop
    return w


def counted_on(w, done):
    for i in itertools.count(1):
        w = step(w, order=i)  # expect: static-arg-in-loop
        if done(w):
            break
    return w


def numbered(w, batches):
    for i, x in enumerate(batches):
        w = step(w + x, 0.1, i)  # expect: static-arg-in-loop
    return w


def zipped(w, batches):
    for i, x in zip(range(len(batches)), batches):
        w = step(w + x, 0.1, i)  # expect: static-arg-in-loop
    return w


def endless(w):
    for i in itertools.count():
        w = step(w, order=i)  # expect: static-arg-in-loop
        if i > 5:
            return w


def stepping(w, n):
    i = 0
    while i < n:
        w = step(w, order=i)  # expect: static-arg-in-loop
        i += 1
    return w


def decaying(w, batches):
    lr = 0.1
    for x in batches:
        w = step(w + x, lr)  # expect: static-arg-in-loop
        lr *= 0.9
    return w


def decaying_in_full(w, batches, decay):
    lr = 0.1
    for x in batches:
        w = step(w + x, lr)  # expect: static-arg-in-loop
        lr = lr * decay
    return w


def warm(i, total):
    if i < 10:
        return 0.1 * i / 10
    return 0.05 * (1.0 + math.cos(math.pi * i / total))


def scheduled(w, total):
    for i in range(total):
        w = step(w, lr=warm(i, total))  # expect: static-arg-in-loop
    return w


def six_rates(w):
    for lr in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        w = step(w, lr)  # expect: static-arg-in-loop
    return w


def named(w, n):
    for i in range(n):
        w = step(w, name=f"layer_{i}")  # expect: static-arg-in-loop
    return w


def in_options(w, n):
    for i in range(n):
        w = configured(w, Options(rate=0.1 / (1 + i)))  # expect: static-arg-in-loop
    return w


def on_every_tenth(w, n):
    for i in range(n):
        if i % 10 == 0:
            w = step(w, order=i)  # expect: static-arg-in-loop
    return w


def one(w, i):
    return step(w, order=i)  # expect: static-arg-in-loop


def through_a_function(w, n):
    for i in range(n):
        w = one(w, i)
    return w


def loss_as_rate(w, batches):
    for x in batches:
        w = step(w + x, lr=float(measure(w)))  # expect: static-arg-in-loop
    return w


class Trainer:
    def __init__(self, w):
        self.w = w
        self.step = 0

    @partial(jax.jit, static_argnums=(0, 2))
    def update(self, w, step):
        return w - 0.1 * step

    def fit(self, batches):
        for x in batches:
            self.w = self.update(self.w + x, self.step)  # expect: static-arg-in-loop
            self.step += 1


@jax.jit
def measure(w):
    return jnp.mean(w)


# runs: counted(jnp.ones(2), 6)
# runs: numbered(jnp.ones(2), [1.0, 2.0])
# runs: zipped(jnp.ones(2), [1.0, 2.0])
# runs: endless(jnp.ones(2))
# runs: stepping(jnp.ones(2), 3)
# runs: decaying(jnp.ones(2), [1.0, 2.0])
# runs: decaying_in_full(jnp.ones(2), [1.0, 2.0], 0.5)
# runs: scheduled(jnp.ones(2), 12)
# runs: six_rates(jnp.ones(2))
# runs: named(jnp.ones(2), 2)
# runs: in_options(jnp.ones(2), 2)
# runs: on_every_tenth(jnp.ones(2), 12)
# runs: through_a_function(jnp.ones(2), 3)
# runs: Trainer(jnp.ones(2)).fit([1.0, 2.0])
# runs: loss_as_rate(jnp.ones(2), [1.0])


# --- never flagged -------------------------------------------------------------


@jax.jit
def traced(w, lr):
    return w - lr * w


def few(w, batches, phases=8):
    for order in (1, 2, 3, 4):
        w = step(w, order=order)
    for order in range(4):
        w = step(w, order=order)
    for i, x in enumerate(batches):
        w = step(w + x, order=i % 2)
        w = step(w + x, order=min(i, 3))
        w = step(w + x, order=i // 100)
        w = step(w + x, order=1 if i < 10 else 2)
        w = step(w + x, lr=round(0.01 * i, 1))
        w = traced(w + x, 0.1 * i)
        if i == 0:
            w = step(w, order=i)
    return w


def stages(w, batches):
    lr = 0.1
    for i, x in enumerate(batches):
        if i in (30, 60):
            lr *= 0.1
        w = step(w + x, lr)
    for order in range(10):
        pass
    for x in batches:
        w = step(w + x, order=order)
    return w


def first_that_fits(w, n):
    for order in range(n):
        return step(w, order=order)
    return w


def ahead_of_time(w, n):
    return [step.lower(w, order=order).compile() for order in range(n)]


@jax.jit
def unrolled(w):
    for order in range(6):
        w = step(w, order=order)
    return w


def tried(w, n):
    for order in range(n):
        try:
            return step(w, order=order)
        except ValueError:
            continue
    return w


class Model:
    def __init__(self):
        self.seen = 0

    @partial(jax.jit, static_argnums=0)
    def predict(self, x):
        return x + 1

    def run(self, batches):
        for x in batches:
            self.predict(x)
            self.seen += 1


def unknown(w, orders):
    for order in orders:
        w = step(w, order=order)
    return w


# runs: few(jnp.ones(2), [1.0, 2.0])
# runs: stages(jnp.ones(2), [1.0, 2.0])
# runs: first_that_fits(jnp.ones(2), 3)
# runs: ahead_of_time(jnp.ones(2), 2)
# runs: unrolled(jnp.ones(2))
# runs: tried(jnp.ones(2), 3)
# runs: Model().run([1.0, 2.0])
# runs: unknown(jnp.ones(2), [1, 2])


def decayed(w, batches, epochs, decay):
    order = 8
    for _ in range(epochs):
        for _ in batches:
            w = step(w, order=order)  # expect: static-arg-in-loop
        order = max(int(order * decay), 1)
    return w


def raised_now_and_then(w, batches, epochs, grow):
    order = 1
    for _ in range(epochs):
        for _ in batches:
            w = step(w, order=order)  # expect: static-arg-in-loop
        if grow:
            order = min(order + 1, 8)
    return w


def chosen_again(w, orders, epochs):
    order = 1
    for epoch in range(epochs):
        w = step(w, order=order)
        order = max(orders)
        if epoch % 100 == 0:
            order = min(2 * order, 8)
    return w


# runs: decayed(jnp.ones(2), [1, 2], 3, 0.5), raised_now_and_then(jnp.ones(2), [1, 2], 3, True)
# runs: chosen_again(jnp.ones(2), [1, 2], 3)
