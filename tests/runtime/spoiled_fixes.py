"""Fixes spoiled on purpose, for ``jaxlint prove``: programs that run on JAX, and what is done to the fixed text.

Each program has findings whose fixes are right; ``spoils`` has what a wrong fix might have done besides or instead. So
``prove`` has to accept the fixes of every program as they are (where it can know), and none of the spoiled ones.

Limitations: no program for ``flax_collections``, which needs Flax.

spoil   what is spoiled, a part of the fixed text, and what stands in its place.
"""

from __future__ import annotations

from typing import NamedTuple


class Spoil(NamedTuple):
    """``old`` occurs once in the fixed text."""

    what: str
    old: str
    new: str


class Spoiled(NamedTuple):
    """A program, by the rule or the kind of fix that it is about. is_decided: ``prove`` can tell what the
    results should be; is_preview: the rule is one."""

    name: str
    text: str
    spoils: tuple[Spoil, ...]
    is_decided: bool = True
    is_preview: bool = False


PROGRAMS = (
    Spoiled(
        "traced-branch",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def leaky(x):
    if x > 0:
        return x * 2.0
    return x * 0.1


print([float(leaky(jnp.float32(v))) for v in (-2.0, 3.0)])
""",
        (
            Spoil("constant", "x * 0.1", "x * 0.2"),
            Spoil("sign", "x > 0,", "x < 0,"),
            Spoil("order", "x * 2.0, x * 0.1", "x * 0.1, x * 2.0"),
            Spoil(
                "dtype",
                "return jnp.where(x > 0, x * 2.0, x * 0.1)",
                "return jnp.where(x > 0, x * 2.0, x * 0.1).astype(jnp.bfloat16)",
            ),
            Spoil("one part in a million", "x * 2.0", "x * 2.000002"),
        ),
    ),
    Spoiled(
        "numpy-on-tracer",
        """\
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def wave(x):
    return np.sin(x) + 1.0


print(wave(jnp.arange(4.0)))
""",
        (
            Spoil("function", "jnp.sin", "jnp.cos"),
            Spoil("sign", "+ 1.0", "- 1.0"),
            Spoil("shape", "return jnp.sin(x) + 1.0", "return (jnp.sin(x) + 1.0)[None]"),
            Spoil("dtype", "jnp.sin(x) + 1.0", "jnp.sin(x).astype(jnp.float16) + 1.0"),
        ),
    ),
    Spoiled(
        "key-reuse",
        """\
import jax
import jax.numpy as jnp


def noise(key):
    scale = jnp.arange(4.0)
    first = jax.random.normal(key, (4,))
    second = jax.random.uniform(key, (4,))
    return first * scale + second, scale


print(noise(jax.random.key(0)))
""",
        (
            Spoil("sampler", "jax.random.normal(subkey", "jax.random.uniform(subkey"),
            Spoil("constant", "first * scale", "first * scale * 2.0"),
            Spoil("what no key decides", "jnp.arange(4.0)", "jnp.arange(1.0, 5.0)"),
            Spoil("sign", "+ second", "- second"),
            Spoil("shape", "jax.random.normal(subkey, (4,))", "jax.random.normal(subkey, (1, 4))"),
            Spoil("dropped", "first * scale + second", "first * scale"),
        ),
    ),
    Spoiled(
        "key-reuse-in-loop",
        """\
import jax
import jax.numpy as jnp


def walk(key):
    x = jnp.zeros(3)
    for i in range(4):
        x = x + jax.random.normal(key, (3,)) * 0.5
    return x


print(walk(jax.random.key(1)))
""",
        (
            Spoil("constant", "* 0.5", "* 0.05"),
            Spoil("dropped", "x = x + jax", "x = jax"),
            Spoil("dtype", "jax.random.normal(subkey, (3,))", "jax.random.normal(subkey, (3,), jnp.bfloat16)"),
            Spoil("still one key", "normal(subkey,", "normal(jax.random.key(1),"),
        ),
    ),
    Spoiled(
        "legacy-prng-key",
        """\
import jax
import jax.numpy as jnp


def draw(seed):
    key = jax.random.PRNGKey(seed)
    return jax.random.normal(key, (3,))


print(draw(7))
""",
        (
            Spoil("seed", "jax.random.key(seed)", "jax.random.key(seed + 1)"),
            Spoil("sampler", "normal", "laplace"),
        ),
    ),
    Spoiled(
        "discarded-update",
        """\
import jax
import jax.numpy as jnp


def clear(x):
    x.at[0].set(5.0)
    return x * 2.0


print(clear(jnp.ones(3)))
""",
        (
            Spoil("index", "x.at[0].set(5.0)", "x.at[1].set(5.0)"),
            Spoil("constant", "set(5.0)", "set(6.0)"),
            Spoil("operation", ".set(", ".add("),
            Spoil("dropped", "x * 2.0", "x"),
        ),
    ),
    Spoiled(
        "nan-comparison",
        """\
import jax
import jax.numpy as jnp


def count(x):
    bad = x == jnp.nan
    return jnp.sum(bad), x + 1.0


print(count(jnp.array([1.0, jnp.nan, 3.0])))
""",
        (
            Spoil("sign", "jnp.isnan(x)", "~jnp.isnan(x)"),
            Spoil("function", "jnp.isnan(x)", "jnp.isinf(x)"),
            Spoil("result beside it", "x + 1.0", "x + 2.0"),
        ),
    ),
    Spoiled(
        "where-nan-grad",
        """\
import jax
import jax.numpy as jnp


def safe(x):
    return jnp.sum(jnp.where(x > 0, jnp.sqrt(x), 0.0))


print(safe(jnp.array([0.0, 4.0, -1.0])), jax.grad(safe)(jnp.array([0.0, 4.0, -1.0])))
""",
        (
            Spoil("constant", "where(x > 0, x, 1.0)), 0.0", "where(x > 0, x, 1.0)), 1.0"),
            Spoil("sign", "jnp.sqrt(jnp.where", "-jnp.sqrt(jnp.where"),
            Spoil("finite gradient", "jnp.sqrt(jnp.where(x > 0, x, 1.0))", "jnp.sqrt(jnp.where(x > 0, 2.0 * x, 1.0))"),
        ),
    ),
    Spoiled(
        "unstable-expression",
        """\
import jax
import jax.numpy as jnp


def small(x):
    return jnp.log(1.0 + x)


print(small(jnp.array([1e-6, 1e-3, 0.5], jnp.float32)))
""",
        (
            Spoil("function", "jnp.log1p(x)", "jnp.expm1(x)"),
            Spoil("constant", "jnp.log1p(x)", "jnp.log1p(x) * 1.0001"),
            Spoil("no better", "jnp.log1p(x)", "jnp.log(1.0 + x) + 1e-8"),
        ),
    ),
    Spoiled(
        "print-in-staged",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def loud(x):
    print("sum", x.sum())
    return x * 2.0


for k in range(3):
    loud(jnp.arange(3.0) + k)
""",
        (
            Spoil("printed value", "sum=x.sum()", "sum=x.max()"),
            Spoil("dropped", '    jax.debug.print("sum {sum}", sum=x.sum())\n', ""),
            Spoil("result", "x * 2.0", "x * 2.5"),
        ),
    ),
    Spoiled(
        "sync-in-staged",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    y = (x * 3.0).block_until_ready()
    return y + 1.0


print(step(jnp.arange(3.0)))
""",
        (
            Spoil("constant", "(x * 3.0)", "(x * 2.0)"),
            Spoil("dropped", "y + 1.0", "y"),
        ),
    ),
    Spoiled(
        "jit-in-loop",
        """\
import jax
import jax.numpy as jnp


def train(w):
    total = 0.0
    for i in range(6):
        step = jax.jit(lambda a: a * 0.5 + 1.0)
        w = step(w)
        total = total + w.sum()
    return w, total


print(train(jnp.ones(3)))
""",
        (
            Spoil("constant", "a * 0.5", "a * 0.25"),
            Spoil(
                "order",
                "        w = step(w)\n        total = total + w.sum()",
                "        total = total + w.sum()\n        w = step(w)",
            ),
            Spoil("dropped", "        total = total + w.sum()\n", ""),
        ),
    ),
    Spoiled(
        "missing-donation",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def step(state, x):
    return state - 0.1 * x


def main():
    state, x = jnp.zeros((512, 512)), jnp.ones((512, 512))
    for i in range(3):
        state = step(state, x)
    return state


print(main().sum())
""",
        (
            Spoil("sign", "state - 0.1", "state + 0.1"),
            Spoil("wrong buffer", 'donate_argnames=("state",)', 'donate_argnames=("x",)'),
            Spoil("constant", "0.1 * x", "0.1001 * x"),
        ),
    ),
    Spoiled(
        "array-item-assignment",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def put(x):
    x[1] = 7.0
    return x * 2.0


print(put(jnp.arange(3.0)))
""",
        (
            Spoil("index", ".at[1]", ".at[0]"),
            Spoil("operation", ".set(7.0)", ".add(7.0)"),
            Spoil("dropped", "    x = x.at[1].set(7.0)\n", ""),
        ),
    ),
    Spoiled(
        "host-cast",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def mean(x):
    total = float(x.sum())
    return total / 3.0


print(mean(jnp.arange(3.0) + 0.25))
""",
        (
            Spoil("constant", "/ 3.0", "/ 2.0"),
            Spoil("dtype", ".astype(float)", ".astype(int)"),
            Spoil("reduction", "x.sum()", "x.max()"),
        ),
    ),
    Spoiled(
        "traced-while",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def halve(x):
    while x > 1.0:
        x = x * 0.5
    return x


print(halve(jnp.float32(37.0)))
""",
        (
            Spoil("condition", "x > 1.0", "x > 2.0"),
            Spoil("constant", "x * 0.5", "x * 0.3"),
            Spoil("dropped", "    x = jax.lax.while_loop(cond_fun, body_fun, x)\n", ""),
        ),
    ),
    Spoiled(
        "traced-range",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def power(x, n):
    total = x
    for i in range(n):
        total = total * 2.0 + i
    return total


print(power(jnp.float32(1.5), 4))
""",
        (
            Spoil("bound", "fori_loop(0,", "fori_loop(1,"),
            Spoil("constant", "total * 2.0", "total * 3.0"),
        ),
    ),
    Spoiled(
        "data-dependent-shape",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def above(x):
    return x[x > 0.5].sum()


print(above(jnp.array([0.1, 0.9, 0.7])))
""",
        (
            Spoil("condition", "where=x > 0.5", "where=x < 0.5"),
            Spoil("reduction", "jnp.sum(x,", "jnp.prod(x,"),
        ),
    ),
    Spoiled(
        "traced-slice",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def window(x, i):
    return x[i:i + 2] * 3.0


print(window(jnp.arange(6.0), 2))
""",
        (
            Spoil("length", "x, i, 2)", "x, i, 3)"),
            Spoil("start", "x, i, 2)", "x, i - 1, 2)"),
        ),
    ),
    Spoiled(
        "builtin-on-tracer",
        """\
import jax
import jax.numpy as jnp
import math


@jax.jit
def grow(x):
    return math.exp(x) + 1.0


print(grow(jnp.float32(0.5)))
""",
        (
            Spoil("function", "jnp.exp", "jnp.exp2"),
            Spoil("sign", "+ 1.0", "- 1.0"),
        ),
    ),
    Spoiled(
        "unhashable-static",
        """\
import functools
import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames="shape")
def zeros(x, shape):
    return jnp.zeros(shape) + x


print(zeros(1.0, shape=[2, 3]))
""",
        (
            Spoil("order", "(2, 3)", "(3, 2)"),
            Spoil("constant", "zeros(1.0,", "zeros(2.0,"),
        ),
    ),
    Spoiled(
        "host-item",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def top(x):
    best = x.max().item()
    return x / best


print(top(jnp.arange(1.0, 4.0)))
""",
        (
            Spoil("reduction", "x.max()", "x.min()"),
            Spoil("order", "x / best", "best / x"),
        ),
    ),
    Spoiled(
        "integer-grad",
        """\
import jax
import jax.numpy as jnp


def cube(x):
    return x ** 3


print(jax.grad(cube)(2))
""",
        (
            Spoil("constant", "(2.0)", "(3.0)"),
            Spoil("argument", "jax.grad(cube)", "jax.value_and_grad(cube)"),
        ),
    ),
    Spoiled(
        "traced-container-index",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def pick(i):
    table = [1.5, 4.5, 9.5]
    return table[i] + 1.0


print(pick(2))
""",
        (
            Spoil("index", "[i] +", "[i - 1] +"),
            Spoil("dtype", "jnp.asarray(table)", "jnp.asarray(table, int)"),
        ),
    ),
    Spoiled(
        "deprecated-api",
        """\
import jax
import jax.numpy as jnp


def double(tree):
    return jax.tree_util.tree_map(lambda a: a * 2.0, tree), jax.core.Tracer


def clip(x):
    return jnp.clip(x, a_min=0.0, a_max=1.0)


print(clip(jnp.array([-1.0, 0.5, 3.0])))
""",
        (
            Spoil("order", "min=0.0, max=1.0", "min=1.0, max=0.0"),
            Spoil("dropped", ", max=1.0", ""),
        ),
    ),
    Spoiled(
        "sync-in-method",
        """\
import jax
import jax.numpy as jnp
import numpy as np


class Model:
    def __init__(self):
        self.w = jnp.ones(3)
        self.seen = 0

    def step(self, x):
        self.seen += 1
        self.w = self.w - 0.1 * grad_of(self.w, x)
        return None


@jax.jit
def grad_of(w, x):
    y = jax.device_get(w * x)
    return y


m = Model()
for i in range(3):
    m.step(jnp.arange(3.0))
""",
        (
            Spoil("sign", "self.w - 0.1", "self.w + 0.1"),
            Spoil("effect on self", "self.seen += 1", "self.seen += 2"),
        ),
    ),
    Spoiled(
        "array-item-in-eager",
        """\
import jax
import jax.numpy as jnp


def put(x):
    x[1] = 7.0
    return x * 2.0


print(put(jnp.arange(3.0)))
""",
        (
            Spoil("index", ".at[1]", ".at[0]"),
            Spoil("constant", ".set(7.0)", ".set(7.5)"),
        ),
    ),
    Spoiled(
        "tiny-gradient",
        """\
import jax
import jax.numpy as jnp


def loss(params, x):
    hidden = jnp.tanh(x @ params["w"])
    return jnp.mean(hidden - hidden.mean() + params["b"] ** 2)


@jax.jit
def step(params, x):
    y = jax.device_get(x)
    grads = jax.grad(loss)(params, y)
    big = jnp.array([1e6, 1e-3]) * params["b"]
    return grads, big


params = {"w": jnp.ones((3, 2)) * 0.3, "b": jnp.float32(1e-3)}
print(step(params, jnp.linspace(0.0, 1.0, 12).reshape(4, 3)))
""",
        (
            Spoil("small beside large", "jnp.array([1e6, 1e-3])", "jnp.array([1e6, 1.001e-3])"),
            Spoil("constant", 'params["b"] ** 2', 'params["b"] ** 2 * 1.01'),
        ),
    ),
    Spoiled(
        "boxed-result",
        """\
import jax
import jax.numpy as jnp


class Result:
    def __init__(self, loss, norm):
        self.loss = loss
        self.norm = norm


def evaluate(x):
    y = jax.jit(lambda a: jax.device_get(a) * 2.0)(x)
    return Result(y.sum(), y.max())


class Model:
    def __init__(self):
        self.w = jnp.ones(3)
        self.calls = 0
        self.log = []

    def update(self, x):
        self.calls += 1
        self.w = self.w - 0.1 * scaled(x)
        self.log.append(self.calls)


@jax.jit
def scaled(x):
    return jax.device_get(x) * 3.0


CACHE = {}


def fill(x, out):
    CACHE["last"] = scaled(x)
    out["value"] = scaled(x + 1.0)
    print("filled", len(out))


result = evaluate(jnp.arange(3.0))
model = Model()
for k in range(3):
    model.update(jnp.arange(3.0) + k)
fill(jnp.ones(3), {})
""",
        (
            Spoil("object result", "y.sum(), y.max()", "y.sum(), y.min()"),
            Spoil("attribute of self", "self.calls += 1", "self.calls += 2"),
            Spoil("list of self", "self.log.append(self.calls)", "pass"),
            Spoil("global", 'CACHE["last"] = scaled(x)', 'CACHE["last"] = scaled(x) * 2.0'),
            Spoil("argument", 'out["value"] = scaled(x + 1.0)', 'out["value"] = scaled(x)'),
            Spoil("printed", 'print("filled", len(out))', 'print("filled", len(out) + 1)'),
        ),
    ),
    Spoiled(
        "non-array-argument",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def scale(x, mode):
    return x * 2.0 if mode == "twice" else x


print(scale(jnp.ones(2), "twice"))
""",
        (
            Spoil("static of another", 'static_argnames=("mode",)', 'static_argnames=("mode", "x")'),
            Spoil("constant", "x * 2.0", "x * 4.0"),
        ),
    ),
    Spoiled(
        "unrolled-loop",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def many(x):
    for i in range(200):
        x = jnp.sin(x) * 1.01 + i
    return x


print(many(jnp.float32(0.5)))
""",
        (
            Spoil("bound", "fori_loop(0, 200", "fori_loop(0, 199"),
            Spoil("constant", "* 1.01", "* 1.02"),
            Spoil("start", "fori_loop(0, 200", "fori_loop(1, 201"),
        ),
    ),
    Spoiled(
        "traced-shape",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def fill(x, n):
    return jnp.zeros(n) + x


print(fill(1.0, 3))
""",
        (
            Spoil("shape", "jnp.zeros(n)", "jnp.zeros(n + 1)"),
            Spoil("sign", "+ x", "- x"),
        ),
    ),
    Spoiled(
        "removed-api",
        """\
import jax
import jax.numpy as jnp


def twice(tree):
    return jax.tree_map(lambda a: a * 2.0, tree)


print(twice({"a": jnp.ones(2)}))
""",
        (
            Spoil("function", "jax.tree.map(", "jax.tree_util.tree_leaves((0, "),
            Spoil("constant", "a * 2.0", "a * 3.0"),
        ),
    ),
    Spoiled(
        "jit-per-loop",
        """\
import jax
import jax.numpy as jnp


def train(w, rates):
    for rate in range(40):
        w = jax.jit(lambda a: jnp.sin(a) * 0.5 + jnp.cos(a) @ a)(w)
        print(float(w.sum()))
    return w


train(jnp.ones((3, 3)), [])
""",
        (
            Spoil("order", "jnp.sin(a) * 0.5", "jnp.sin(a * 0.5)"),
            Spoil("dropped", "        w = compiled(w)\n", "        compiled(w)\n"),
        ),
    ),
    Spoiled(
        "augmented-item",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def add(x, i, v):
    x[i] += v
    return x, x.sum()


print(add(jnp.arange(4.0), 2, 0.5))
""",
        (
            Spoil("operation", ".add(v)", ".set(v)"),
            Spoil("index", "x.at[i]", "x.at[i + 1]"),
        ),
    ),
    Spoiled(
        "async-timing",
        """\
import time

import jax
import jax.numpy as jnp


@jax.jit
def work(x):
    return x @ x


def main():
    x = jnp.ones((64, 64))
    work(x)
    start = time.perf_counter()
    y = work(x)
    print(time.perf_counter() - start)
    return y


main()
""",
        (Spoil("dropped", "    y = work(x)\n    jax.block", "    y = x\n    jax.block"),),
    ),
    Spoiled(
        "late-configuration",
        """\
import os

import jax
import jax.numpy as jnp


def main():
    x = jnp.arange(4.0)
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=1"
    return x * 2.0


print(main())
""",
        (
            Spoil("constant", "x * 2.0", "x * 2.5"),
            Spoil("order", "jnp.arange(4.0)", "jnp.arange(4.0)[::-1]"),
            Spoil("other variable", '"XLA_FLAGS"', '"JAX_ENABLE_X64"'),
        ),
    ),
    Spoiled(
        "static-arg-mismatch",
        """\
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("sizes",))
def grow(x, size):
    return jnp.zeros(size) + x


print(grow(jnp.float32(2.0), 3))
""",
        (
            Spoil("sign", "+ x", "- x"),
            Spoil("shape", "jnp.zeros(size)", "jnp.zeros((1, size))"),
        ),
        is_decided=False,
    ),
    Spoiled(
        "unknown-mesh-axis",
        """\
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))


def place(x):
    return jax.device_put(x, NamedSharding(mesh, P(None, "modle")))


print(place(np.ones((2, 2))))
""",
        (
            Spoil("constant", "device_put(x,", "device_put(x * 2,"),
            Spoil("shape", "device_put(x,", "device_put(x[0],"),
            Spoil("axis", '"model")))', '"data")))'),
        ),
        is_decided=False,
    ),
    Spoiled(
        "pmap",
        """\
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.pmap, axis_name="batch")
def step(params, batch):
    gradient = jax.grad(lambda p: jnp.mean((batch - p) ** 2))(params)
    gradient = jax.lax.pmean(gradient, "batch")
    return params - 0.1 * gradient


def main():
    params = jnp.ones((1, 4))
    for number in range(3):
        params = step(params, jnp.zeros((1, 4)) + number)
    return params


if __name__ == "__main__":
    print(main())
""",
        (
            Spoil("constant", "0.1 * gradient", "0.2 * gradient"),
            Spoil("sign", "params - 0.1", "params + 0.1"),
            Spoil("shape", "return params - 0.1 * gradient", "return (params - 0.1 * gradient)[:2]"),
        ),
    ),
    Spoiled(
        "late-bound-closure",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def moment(order, x):
    branches = [lambda v: jnp.mean(v**p) for p in (1, 2, 3)]
    return jax.lax.switch(order, branches, x)


print([float(moment(order, jnp.array([1.0, 2.0]))) for order in range(3)])
""",
        (
            Spoil("constant", "p=p", "p=2"),
            Spoil("function", "jnp.mean", "jnp.sum"),
            Spoil("order", "(1, 2, 3)", "(3, 2, 1)"),
        ),
        is_decided=False,
        is_preview=True,
    ),
    Spoiled(
        "overwritten-host-buffer",
        """\
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def score(batch):
    return jnp.sum(batch @ batch)


def stream(values, n=64):
    buffer = np.zeros((n, n), np.float32)
    scores = []
    for value in values:
        buffer[:] = value
        scores.append(score(buffer))
    return scores


print([float(s) for s in stream([1.0, 2.0, 3.0])])
""",
        (
            Spoil("constant", "buffer.copy()", "buffer.copy() * 2"),
            Spoil("shape", "buffer.copy()", "buffer.copy()[:8, :8]"),
            Spoil("dropped", "        buffer[:] = value\n", ""),
        ),
        is_decided=False,
        is_preview=True,
    ),
    Spoiled(
        "where-on-static",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def normalize(x):
    return jnp.where(x.ndim == 1, jnp.log(x), x * 3.0)


print(normalize(jnp.ones(3) * 2.0), normalize(jnp.ones((2, 2))))
""",
        (
            Spoil("order", "jnp.log(x) if x.ndim == 1 else x * 3.0", "x * 3.0 if x.ndim == 1 else jnp.log(x)"),
            Spoil("condition", "x.ndim == 1", "x.ndim == 2"),
            Spoil("constant", "x * 3.0", "x * 3.1"),
        ),
        is_preview=True,
    ),
    Spoiled(
        "too-new-api",
        """\
# /// script
# dependencies = ["jax>=0.4.30"]
# ///
import jax
import jax.numpy as jnp


@jax.jit(static_argnames="n")
def tiled(x, n):
    return jnp.tile(x, n) * 2.0


print(tiled(jnp.ones(2), n=3))
""",
        (
            Spoil("constant", "* 2.0", "* 2.1"),
            Spoil("shape", "jnp.tile(x, n)", "jnp.tile(x, n)[1:]"),
        ),
    ),
)
