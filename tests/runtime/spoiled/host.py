"""Fixes spoiled on purpose: what leaves the device (JAX2xx)."""

from __future__ import annotations

from runtime.spoiled.kinds import Spoil, Spoiled

PROGRAMS = (
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
)
