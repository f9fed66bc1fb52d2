"""Findings that are more or less certain than their rule says have a level of their own."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from rules.conftest import findings_of

import flake8_jax.rules
from flake8_jax.core.findings import Positions
from flake8_jax.semantics.analysis.request import AnalysisRequest
from flake8_jax.syntax.lower import lower

RULES = Path(flake8_jax.rules.__file__).parent
_LEVEL = re.compile(r"# (error|warning|info): ([a-z0-9-]+)$", re.MULTILINE)
PROGRAMS = {
    "a jit in a loop, of a function that the loop makes of what differs": """\
import functools

import jax
import jax.numpy as jnp


def make(x):
    return lambda a: a + x


def run(batches, a, n):
    out = []
    for b in batches:
        f = make(b)
        out.append(jax.jit(jax.vmap(f))(a))  # info: jit-in-loop
        g = functools.partial(jnp.add, b)
        out.append(jax.jit(jax.vmap(g))(a))  # info: jit-in-loop
        h = make(n)
        out.append(jax.jit(jax.vmap(h))(a))  # warning: jit-in-loop
        out.append(jax.jit(jax.vmap(make(n)))(b))  # warning: jit-in-loop
    return out
""",
    "a tracer in an attribute: read later, changed by itself, or only used in the trace": """\
import jax


class Model:
    def __init__(self):
        self.scale = self.last = self.total = self.seen = 0.0

    def apply(self, x):
        return x * self.scale


model, fresh = Model(), Model()


@jax.jit
def loss(scale, x):
    model.scale = scale  # info: self-write
    return model.apply(x).sum()


@jax.jit
def step(x):
    model.last = x * 2  # error: self-write
    model.total = model.total + x  # error: self-write
    fresh.seen = x  # info: self-write
    return x


def run(x):
    step(x)
    fresh.seen = 0.0
    return loss(2.0, x) + model.last + fresh.seen


run(1.0)
""",
    "a tracer as an index, of a list and of an array": """\
import jax
import numpy as np

NAMES = [1.0, 2.0]
TABLE = np.arange(3)


@jax.jit
def look(i):
    if i is None:
        return TABLE[i]
    return NAMES[i]  # error: traced-container-index


@jax.jit
def look_up(i):
    return TABLE[i]  # info: traced-container-index
""",
    "a floor under a probability, which a gradient does not pass": """\
import jax
import jax.numpy as jnp


def loss(logits, label):
    p = jax.nn.softmax(logits)
    return -jnp.log(p + 1e-7)[label]  # warning: unstable-expression


slope = jax.grad(loss)(jnp.array([0.0, 40.0]), 0)  # -4e-11, but -1 with log_softmax
""",
    "a NaN that a where hides, one that may never be, and one of an overflow": """\
import jax
import jax.numpy as jnp


def rooted(w):
    y = jnp.sum(jnp.sqrt(w))
    return jnp.where(jnp.isnan(y), 0.0, y)  # error: where-nan-grad


def replaced(w):
    return jnp.sum(jnp.nan_to_num(w / jnp.sum(w)))  # warning: where-nan-grad


def elu(w):
    return jnp.sum(jnp.where(w > 0, w, jnp.expm1(w)))  # warning: where-nan-grad


slopes = jax.grad(rooted)(jnp.ones(3)), jax.grad(replaced)(jnp.ones(3)), jax.grad(elu)(jnp.ones(3))
""",
    "a where that costs, and one that fails": """\
import jax
import jax.numpy as jnp


@jax.jit
def scaled(x, scale=None):
    return jnp.where(scale is None, jnp.sin(x), jnp.cos(x))  # warning: where-on-static


@jax.jit
def masked(x, mask=None):
    return jnp.where(mask is None, x, x * mask)  # error: where-on-static
""",
    "digits that are lost, and a value that is": """\
import jax
import jax.numpy as jnp


@jax.jit
def digits(x):
    return jnp.log(1 + jnp.sin(x))  # info: unstable-expression


def value(x):
    return jnp.log(jax.nn.softmax(x))  # warning: unstable-expression


def by_hand(logits):
    return jnp.exp(logits) / jnp.exp(logits).sum()  # warning: unstable-expression


def renormalized(log_probs):
    return jnp.exp(log_probs) / jnp.exp(log_probs).sum()  # info: unstable-expression
""",
    "a first run whose result only a wait looks at, and one that is kept": """\
import time

import jax
import jax.numpy as jnp
from jax import block_until_ready


@jax.jit
def train(key):
    key, sub = jax.random.split(key)
    return jax.random.normal(sub, (3,)), key


def measure(key):
    out = train(key)
    jax.block_until_ready(out)
    start = time.time()
    out = train(key)  # info: key-used-after-split
    jax.block_until_ready(out)
    return out, time.time() - start


def measure_apart(key):
    if key.size:
        warm = train(key)
        block_until_ready(warm)
        start = time.time()
        out = train(key)  # info: key-used-after-split
        block_until_ready(out)
        return out, time.time() - start


def twice(key):
    first = train(key)
    jax.block_until_ready(first)
    second = train(key)  # error: key-used-after-split
    return first, second
""",
    "a function that could stand before the loop, and one that reads what the loop binds": """\
import jax
import jax.numpy as jnp


def run(batches, scale):
    for x in batches:
        y = jax.jit(lambda v: v * scale)(x)  # warning: jit-in-loop
        z = jax.jit(lambda: jnp.sin(x) * scale)()  # info: jit-in-loop
        z = jax.jit(lambda v, n=len(x): jnp.sin(v) * n)(z)  # info: jit-in-loop
    return y, z
""",
    "a loop that trains, and one that may be short": """\
import jax
import jax.numpy as jnp


def loss(w, x):
    return jnp.mean((x @ w) ** 2)


def train(w, batches):
    for x in batches:
        w = w - 0.1 * jax.grad(loss)(w, x)  # warning: transform-in-loop
    return w


def decay(w, rates):
    for rate in rates:
        w = jax.lax.fori_loop(0, 10, lambda i, w: w * rate, w)  # info: transform-in-loop
    return w
""",
    "a key that one path has used": """\
import jax


def surely(key):
    a = jax.random.normal(key)
    return a + jax.random.normal(key)  # error: key-reuse


def perhaps(key, flag):
    a = 0.0
    if flag:
        a = jax.random.normal(key)
    return a + jax.random.normal(key)  # info: key-reuse


def picks(key, xs, ys):
    return jax.random.choice(key, xs), jax.random.choice(key, ys)  # warning: key-reuse
""",
    "a key that one path has split": """\
import jax


def surely(key):
    a, b = jax.random.split(key)
    return jax.random.normal(a) + jax.random.normal(b) + jax.random.normal(key)  # error: key-used-after-split


def perhaps(key, flag):
    a = 0.0
    if flag:
        sub, own = jax.random.split(key)
        a = jax.random.normal(sub) + jax.random.normal(own)
    return a + jax.random.normal(key)  # info: key-used-after-split
""",
    "a key of a loop that one path uses": """\
import jax


def surely(key, n):
    return [jax.random.normal(key) for _ in range(n)]  # error: key-reuse-in-loop


def perhaps(key, flags):
    total = 0.0
    for flag in flags:
        if flag:
            total += jax.random.normal(key)  # info: key-reuse-in-loop
    return total
""",
    "a buffer that one path has donated": """\
import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=0)
def scale(x, factor):
    return x * factor


def surely(n):
    x = jnp.ones(n)
    y = scale(x, 2.0)
    return y - x  # error: donated-reuse


def perhaps(fast):
    x = jnp.ones((3, 3))
    y = scale(x, 2.0) if fast else 2.0 * x
    return y - x  # warning: donated-reuse
""",
    "a captured container that is read later, or may be": """\
import jax
import jax.numpy as jnp

read = []
kept = []
counts = {"calls": 0, "prints": 0}


@jax.jit
def step(x):
    read.append(x)  # error: captured-mutation
    kept.append(x)  # warning: captured-mutation
    counts["calls"] += 1  # error: captured-mutation
    return x


def mean():
    print(counts["calls"])
    return jnp.stack(read).mean()


def record(losses, x):
    @jax.jit
    def step(x):
        losses.append(x)  # warning: captured-mutation
        return x

    return step(x)


def run(x):
    losses = []
    return record(losses, x), losses
""",
    "an array, and what is annotated as one": """\
import jax
import jax.numpy as jnp


def fill(x: jax.Array, y):
    x[0] = 1.0  # warning: array-item-assignment
    z = 2 * x
    z[0] = 1.0  # warning: array-item-assignment
    z = jnp.sin(x)
    z[0] = 1.0  # error: array-item-assignment
    return x, z


@jax.jit
def staged(x: jax.Array):
    x[0] = 1.0  # error: array-item-assignment
    return x
""",
    "a donated array with room in a result, or perhaps with room": """\
import jax
import jax.numpy as jnp

product = jax.jit(lambda x, y: x @ y, donate_argnums=0)
double = jax.jit(lambda x: 2 * x, donate_argnums=0)


def run(key, shape, y):
    x = jax.random.normal(key, shape)
    product(x, y)
    return x + 1  # info: donated-reuse


def grow(key):
    x = jax.random.normal(key, (3, 3))
    double(x)
    return x + 1  # error: donated-reuse


def passed(x: jax.Array):
    double(x)
    return x + 1  # info: donated-reuse
""",
    "random numbers in a trace, and for each lane": """\
import jax
import numpy as np


@jax.jit
def compiled(x):
    return x + np.random.normal()  # error: host-rng-in-staged


def lane(x):
    return x + np.random.normal()  # warning: host-rng-in-staged


def mapped(xs):
    return jax.vmap(lane)(xs)
""",
    "an option that comes too late": """\
import jax
import jax.numpy as jnp

GRID = jnp.ones(2)
jax.config.update("jax_num_cpu_devices", 2)  # error: late-configuration
jax.config.update("jax_platforms", "cpu")  # warning: late-configuration
""",
    "a size in a function that no caller is known of": """\
import jax
import jax.numpy as jnp


@jax.jit
def surely(x):
    return x[: int(jnp.ceil(x.shape[0] / 2))]  # error: traced-shape


def half_loss(x):
    y = jnp.sin(x)
    return y[: int(jnp.ceil(y.shape[0] / 2))]  # warning: traced-shape
""",
    "a removed name in an annotation, in a text that only speaks of the future import": """\
'''Not: from __future__ import annotations'''

import jax


def evaluated(x: jax.tree_map, y: "jax.tree_map"):  # error: removed-api
    local: jax.tree_map = x
    return local


def of_a_module(x: jax.linear_util.WrappedFun):  # error: removed-api
    return x
""",
    "a removed module in an annotation that nothing evaluates": """\
from __future__ import annotations, generator_stop

from typing import NamedTuple

import equinox as eqx
import jax


class Parameters(eqx.Module):
    function: jax.linear_util.WrappedFun  # info: removed-api


class Pair(NamedTuple):
    key: jax.random.KeyArray  # info: removed-api


def of_a_module(x: jax.linear_util.WrappedFun):  # info: removed-api
    return x
""",
    "a result that nobody reads; a name says nothing of a class": """\
import jax
import jax.numpy as jnp


def forgotten(key, xs, ys):
    _ = jax.random.choice(key, xs)
    return jax.random.choice(key, ys)  # info: key-reuse


def unread(key, n):
    noise = jax.random.normal(key, (n,))
    return jax.random.uniform(key, (n,))  # info: key-reuse


def forgotten_keys(key, n):
    first, second = jax.random.split(key)
    return jax.random.uniform(key, (n,))  # error: key-used-after-split


def read_inside(key, n):
    noise = jax.random.normal(key, (n,))

    def total():
        return noise.sum()

    return jax.random.uniform(key, (n,)) + total()  # error: key-reuse


class MockEngine:
    def __init__(self, key):
        self.key = key

    def step(self, x):
        return x + jax.random.normal(self.key, x.shape)


class Engine(MockEngine):
    def step(self, x):
        return x * jax.random.normal(self.key, x.shape)


def run(engine: MockEngine, x):
    for _ in range(10):
        x = engine.step(x)  # error: key-reuse-in-loop
    return x


def go(engine: Engine, x):
    for _ in range(10):
        x = engine.step(x)  # error: key-reuse-in-loop
    return x


run(MockEngine(jax.random.key(0)), jnp.ones(3))
""",
    "what a trace reads and prints": """\
import json
import logging
import os
import time

import jax
import numpy as np


@jax.jit
def reads(x):
    table = np.load("table.npz")  # info: impure-call
    with open("names.txt") as file:  # info: impure-call
        names = file.read()
    return x * len(table) * len(names) * int(os.environ["SCALE"])  # info: impure-call


@jax.jit
def acts(x):
    with open("log.txt", "w") as file:  # info: impure-call
        json.dump({}, file)  # info: impure-call
    np.save("x.npy", 1)  # info: impure-call
    return x + time.time()  # info: impure-call


batches = iter([1, 2])


@jax.jit
def takes(x):
    return x + next(batches)  # warning: impure-call


@jax.jit
def shows(x):
    logging.info("step(%s)", x)  # info: print-in-staged
    print(x)  # warning: print-in-staged
    return x
""",
    "formulas that cannot overflow, and sigmoids of what is learned": """\
import jax
import jax.numpy as jnp


def of_a_distance(x):
    return jnp.log(1 + jnp.exp(-jnp.abs(x)))  # info: unstable-expression


def of_a_square(x):
    return jnp.log(1 + jnp.exp(-0.5 * x**2))  # info: unstable-expression


def of_bounds(x):
    return jnp.log(1 + jnp.exp(jnp.clip(x, -5.0, 5.0)))  # info: unstable-expression


def of_the_smaller(x):
    return jnp.log(jnp.exp(jnp.minimum(x, 0.0)) + 1.0)  # info: unstable-expression


def of_wide_bounds(x):
    return jnp.log(1 + jnp.exp(jnp.clip(x, -5.0, 500.0)))  # warning: unstable-expression


def of_the_distance_itself(x):
    return jnp.log(1 + jnp.exp(jnp.abs(x)))  # warning: unstable-expression


def of_either_sign(x, y):
    return jnp.log(1 + jnp.exp(-x * jnp.abs(y)))  # warning: unstable-expression


def written(x):
    return jnp.log(jax.nn.sigmoid(x))  # warning: unstable-expression


def of_logits(w, x):
    p = jax.nn.sigmoid(x @ w)
    return jnp.log(p)  # warning: unstable-expression


def of_a_schedule(gamma):
    variance = jax.nn.sigmoid(gamma)
    return variance - jnp.log(variance)  # info: unstable-expression
""",
    "a notebook tries and shows": """\
# %%
import jax
import jax.numpy as jnp
import numpy as np

scale = 2.0
key = jax.random.key(0)


@jax.jit
def scaled(x):
    return x * scale  # info: stale-global


@jax.jit
def noisy(x):
    return x + jax.random.normal(key, x.shape)  # warning: stale-global


def softplus(x):
    return jnp.log(1 + jnp.exp(x))  # info: unstable-expression


# %%
a = scaled(jnp.ones(3)) + noisy(jnp.ones(3))

# %%
scale = 3.0
key = jax.random.key(1)
b = scaled(jnp.ones(3)) + noisy(jnp.ones(3))


def total(numbers):
    return jax.lax.fori_loop(0, 5, lambda i, value: value + next(numbers), 0)  # info: impure-call


print(total(iter(np.arange(5))))
""",
    "constant seeds, by what draws": """\
import jax
import jax.numpy as jnp
from jax import random


def start(key, n):
    return random.normal(key, (n,))


@jax.jit
def noisy(x):
    return x + jax.random.normal(jax.random.PRNGKey(0), x.shape)  # warning: constant-key


@jax.jit
def split(x):
    key = random.key(0)  # warning: constant-key
    first, second = random.split(key)
    return x + random.normal(first, x.shape) * random.normal(second, x.shape)


@jax.jit
def power(a):
    return a @ start(random.key(0), 3)  # info: constant-key


@jax.jit
def ignoring(a, seed):
    return a @ start(random.key(0), 3)  # warning: constant-key
""",
    "pmap in a loop, and of a function that jit compiles": """\
import jax


def loss(params, batch):
    return (params * batch) ** 2


def evaluate(params, checkpoints, batch):
    for params in checkpoints:
        print(jax.pmap(lambda x: loss(params, x))(batch))  # info: jit-of-pmap


step = jax.jit(jax.pmap(loss))  # warning: jit-of-pmap
""",
    "what a test asks for": """\
import jax
import jax.numpy as jnp


def test_dtype():
    assert jnp.float64(0.1) == 0.1  # info: x64-disabled


def half():
    return jnp.float64(0.1) / 2  # warning: x64-disabled


@jax.jit
def test_many(x):
    for _ in range(1000):  # info: unrolled-loop
        x = jnp.sin(x) + jnp.cos(x)
    return x


@jax.jit
def many(x):
    for _ in range(1000):  # warning: unrolled-loop
        x = jnp.sin(x) + jnp.cos(x)
    return x
""",
    "a notebook that shows what waiting is": """\
# %%
import time

import jax
import jax.numpy as jnp

x = jnp.ones((1000, 1000))

# %%
start = time.time()
y = x @ x
print(time.time() - start)  # info: async-timing

# %%
start = time.time()
y = (x @ x).block_until_ready()
print(time.time() - start)

# %%
start = time.time()
y = x @ x
print(time.time() - start)  # warning: async-timing
""",
    "the time of a compilation, and of a run": """\
import time

import jax
import jax.numpy as jnp


def measure(x):
    step = jax.jit(lambda v: v @ v)
    start = time.time()
    out = step(x)
    took = time.time() - start  # info: async-timing
    print(f"compiled in {took:.1f} s")
    start = time.time()
    again = step(x)
    took = time.time() - start  # warning: async-timing
    print(f"ran in {took:.1f} s")
    return out, again
""",
    "objects without a hash": """\
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@dataclass
class Config:
    power: int


def frozen(cls):
    return dataclass(frozen=True)(cls)


class Kernel:
    def __init__(self):
        raise NotImplementedError


@frozen
class Linear(Kernel):
    slope: jax.Array


@dataclass(frozen=True)
class Options:
    weights: jax.Array = None


@frozen
class Constant(Kernel):
    value: jax.Array


@frozen
class Sum(Kernel):
    left: Kernel


@frozen
class Named(Kernel):
    name: str


@partial(jax.jit, static_argnums=0)
def apply(what, x):
    return x


def known(x):
    return apply(Config(2), x) + apply(Linear(x), x)  # error: unhashable-static


def of_leaves(x):
    return apply((jnp.ones(2), 1), x)  # error: unhashable-static


def passed(config: Config, x):
    return apply(config, x)  # warning: unhashable-static


def declared(kernel: Linear, x):
    return apply(kernel, x)  # warning: unhashable-static


def without_weights(options: Options, x):
    return apply(options, x)


def of_any_kind(kernel: Kernel, x):
    return apply(kernel, x)  # warning: unhashable-static
""",
    "a module that changes its variables": """\
import jax
import jax.numpy as jnp

scale = 2.0


@jax.jit
def scaled(x):
    return x * scale  # warning: stale-global


a = scaled(jnp.ones(3))
scale = 3.0
b = scaled(jnp.ones(3))
""",
    "derivative rules that raise, and that are wrong": """\
import jax


@jax.custom_vjp
def square(x):
    return x**2


square.defvjp(lambda x: (x**2, x), lambda x, g: (2 * x,))  # warning: custom-rule-incomplete


@jax.custom_vjp
def cube(x):
    return x**3


cube.defvjp(lambda x: (x**3, x), lambda x, g: 3 * x**2 * jax.numpy.sin(g))  # error: custom-rule-incomplete
""",
    "the host's random numbers in a module that nothing in the project stages, and in one that something does": """\
import haiku as hk
import jax
import numpy as np


class Noise(hk.Module):
    def __call__(self, x):
        return x + np.random.normal(size=x.shape)  # warning: host-rng-in-staged


class Dropout(hk.Module):
    def __call__(self, x):
        return x * np.random.binomial(1, 0.5, x.shape)  # error: host-rng-in-staged


net = hk.transform(lambda x: Dropout()(x))
apply = jax.jit(lambda params, x: net.apply(params, None, x))


def run(params, x):
    return apply(params, x)
""",
    "operations of an eager loop: of a known caller, of a library, of a few turns, beside a compiled step": """\
import jax
import jax.numpy as jnp


def diffuse(u, n):
    for _ in range(n):
        lap = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2 * u  # info: eager-step
        u = u + 0.1 * lap
    return u


def relax(u, n):
    for _ in range(n):
        lap = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2 * u
        u = u + 0.1 * lap
    return u


def main(n):
    u = diffuse(jnp.ones((64, 64)), n)
    for _ in range(5):
        u = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2 * u + 0.1 * u
    step = jax.jit(relax, static_argnums=1)
    for _ in range(n):
        u = jnp.roll(step(u, 3), 1, 0) + jnp.roll(u, -1, 0) - 2 * u + 0.1 * u
    return u


if __name__ == "__main__":
    main(1000)
""",
    "one function under one key, with a switch on and off": """\
import jax
import jax.numpy as jnp


def rmse(model, params, xs, key, lesion, scale=1.0):
    keys = jax.random.split(key, xs.shape[0])
    est = jax.vmap(lambda x, k: model.sample(k, params) * (0.0 if lesion else scale * x))(xs, keys)
    return float(jnp.sqrt(jnp.mean((est - xs) ** 2)))


def fit(model, params, xs, key):
    k_init, k_dec, k_more = jax.random.split(key, 3)
    params = model.initialize(k_init)
    whole = rmse(model, params, xs, k_dec, False)
    cut = rmse(model, params, xs, k_dec, True)  # info: key-reuse
    more = rmse(model, params, xs, k_more, False, 1.0)
    most = rmse(model, params, xs, k_more, True, 2.0)  # error: key-reuse
    return whole, cut, more, most
""",
    "keys: one of two draws is picked, a start is made once more, new keys nobody reads, the order in evaluation": """\
import time

import jax
import jax.numpy as jnp


class Model:
    def initialize(self, key, scale=0.1):
        return scale * jax.random.normal(key, (3,))

    def ll(self, params, xs):
        return jnp.sum(xs @ params)


def fit(key, model, xs, n):
    params = model.initialize(key, scale=0.2)
    return params - n * jax.grad(model.ll)(params, xs)


def compare(xs, key, other):
    model = Model()
    print(model.ll(model.initialize(key, scale=0.2), xs))
    print(model.ll(model.initialize(other, scale=0.3), xs))
    first = fit(key, model, xs, 10)  # info: key-reuse
    return first, fit(other, model, xs, 10)  # error: key-reuse


def proposal(key, mu, nu):
    poisson = jax.random.poisson(key, mu)
    u = jax.random.uniform(key)  # info: key-reuse
    geometric = jnp.floor(jnp.log(u))
    y = jnp.where(nu >= 1, poisson, geometric)
    log_alpha = jnp.where(nu >= 1, poisson * jnp.log(mu), geometric * 2)
    return y, log_alpha


def both(key, mu, nu):
    poisson = jax.random.poisson(key, mu)
    u = jax.random.uniform(key)  # error: key-reuse
    return jnp.where(nu >= 1, poisson, u) * poisson


def agents(seed, n):
    key = jax.random.key(seed)
    parameters = jax.random.uniform(key, (n, 3))
    _, key = jax.random.split(key)  # info: key-reuse
    return parameters * 2


def timed(key, x, n):
    run = jax.jit(lambda k, x: x + jax.random.normal(k, x.shape))
    result = run(key, x)
    jax.tree.map(lambda leaf: leaf.block_until_ready(), result)
    times = []
    for _ in range(n):
        start = time.perf_counter()
        result = run(key, x)  # info: key-reuse
        jax.tree.map(lambda leaf: leaf.block_until_ready(), result)
        times.append(time.perf_counter() - start)
    return times


def eval_model(key, params, data):
    losses = []
    for x in data:
        order = jax.random.permutation(key, x.shape[0])  # info: key-reuse-in-loop
        losses.append(jnp.mean(x[order] @ params))
    return losses
""",
    "keys: loops that measure, a draw that another takes the place of before it is read, a key bound once": """\
import functools
import time

import jax
import jax.numpy as jnp


@jax.jit
def update(params, key):
    return params + jax.random.normal(key, params.shape)


def profile(params, key):
    start = time.perf_counter()
    for _ in range(5):
        params = update(params, key)  # info: key-reuse-in-loop
        jax.block_until_ready(params)
    seconds = (time.perf_counter() - start) / 5
    return seconds


def train(params, key):
    for _ in range(5):
        params = update(params, key)  # error: key-reuse-in-loop
    return params


def interpolate(model, key, init):
    latent = jax.random.normal(key, (1, 3))
    if init is not None:
        steps = jnp.linspace(0, 1, 5)
        latent = sample(key, init, steps)  # info: key-reuse
    return latent


def sample(key, init, steps):
    for _ in steps:
        key, sub = jax.random.split(key)
        init = init + jax.random.normal(sub, init.shape)
    return init


def shift(x, key):
    return jnp.roll(x, jax.random.randint(key, (), 0, 4))


def augment(obs, later, key):
    move = functools.partial(shift, key=key)
    return move(obs), move(later)  # info: key-reuse


def other(obs, later, key):
    return shift(obs, key), shift(later, key)  # error: key-reuse


def warm(fn, key, x):
    for _ in range(3):
        jax.block_until_ready(update(x, key))  # info: key-reuse-in-loop
    return x
""",
    "a removed name in an annotation": """\
from __future__ import annotations

import jax


def postponed(x: jax.tree_map):  # info: removed-api
    return x


def called(x):
    return jax.tree_map(abs, x)  # error: removed-api
""",
}


BRANCH = "def clip(x):\n    if x > 1:\n        return 1.0\n    return x\n"
JITTED = "import jax\n\n\n@jax.jit\ndef step(x):\n    return {}(x)\n"
LAYER = """\
import equinox as eqx
import jax
import jax.numpy as jnp
from far import clip


class Layer(eqx.Module):
    weight: jax.Array

    def __call__(self, x):
        return clip(jnp.dot(self.weight, x))
"""


@pytest.mark.parametrize(
    ("files", "level", "confidence"),
    [
        ({"near.py": JITTED.format("clip") + "\n\n" + BRANCH}, "error", "certain"),
        ({"near.py": "from far import clip\n" + JITTED.format("clip"), "far.py": BRANCH}, "error", "certain"),
        (
            {
                "near.py": "from middle import cut\n" + JITTED.format("cut"),
                "middle.py": "from far import clip\n\n\ndef cut(x):\n    return clip(x)\n",
                "far.py": BRANCH,
            },
            "info",
            "likely",
        ),
        ({"near.py": LAYER, "far.py": BRANCH}, "info", "likely"),
        (
            {"near.py": LAYER, "run.py": "from far import clip\n" + JITTED.format("clip"), "far.py": BRANCH},
            "error",
            "certain",
        ),
    ],
    ids=["one file", "two files", "three files", "a layer that nobody runs", "a layer, and a near one"],
)
def test_a_tracer_from_far_away_is_likely(files: dict[str, str], level: str, confidence: str) -> None:
    (found,) = findings_of(Path("/project"), files).findings
    assert (found.name, found.level, found.confidence) == ("traced-branch", level, confidence)


BASE = """\
import jax


class Model:
    @jax.jit
    def update(self, params, batch):
        return jax.grad(self.loss)(params, batch)
"""
HEIR = "\n\nclass Heir{}(Model):\n    def loss(self, params, batch{}):\n        return (params * batch).sum()\n"


def test_a_call_that_one_of_many_subclasses_refuses_is_likely() -> None:
    heirs = [HEIR.format(i, ", scale" if i == 3 else "") for i in range(9)]
    findings = findings_of(Path("/project"), {"models.py": BASE + "".join(heirs)}).findings
    assert [(f.level, f.confidence) for f in findings if f.name == "transform-argument-mismatch"] == [
        ("info", "likely")
    ]


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_levels(text: str) -> None:
    positions = Positions(lower(text).line_starts)
    name = "a.ipynb" if text.startswith("# %%") else "a.py"
    request = AnalysisRequest(preview=True)
    found = {
        (positions.row(finding.start), finding.level, finding.name)
        for finding in findings_of(Path("/project"), {name: text}, request=request).findings
        if finding.name != "pmap"  # wherever it stands
    }
    assert found == {
        (row, *match.groups()) for row, line in enumerate(text.splitlines(), 1) if (match := _LEVEL.search(line))
    }


def test_every_rule_that_has_several_is_here() -> None:
    shown = {name for text in PROGRAMS.values() for _, name in _LEVEL.findall(text)}
    several = {
        path.stem.replace("_", "-")
        for path in RULES.glob("[!_]*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Report"
        if len(node.args) > 2 or any(keyword.arg == "level" for keyword in node.keywords)
    }
    assert several <= shown
