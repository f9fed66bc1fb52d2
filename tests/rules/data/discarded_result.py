"""Calls whose result is dropped."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@jax.jit
def drops(x):
    jnp.clip(x, 0.0, 1.0)  # expect: discarded-result
    lax.stop_gradient(x)  # expect: discarded-result
    jax.nn.relu(x)  # expect: discarded-result
    x.astype(jnp.float16)  # expect: discarded-result
    (x + 1).reshape(-1)  # expect: discarded-result
    return x


class Net:
    def __init__(self, w):
        self.w = jnp.asarray(w)

    def project(self):
        self.w.clip(-1.0, 1.0)  # expect: discarded-result
        jnp.linalg.norm(self.w)  # expect: discarded-result


def eager(n):
    x = jnp.arange(n)
    x.sort()  # expect: discarded-result
    if n > 2:
        jnp.flip(x)  # expect: discarded-result
    return x


def configures(x):
    jax.disable_jit()  # expect: discarded-result
    jax.debug_nans(True)  # expect: discarded-result
    jax.default_matmul_precision("float32")  # expect: discarded-result
    jax.named_scope("double")  # expect: discarded-result
    return x * 2


# runs: drops(jnp.ones(2)), Net([1.0]).project(), eager(3), configures(jnp.ones(2))


# --- never flagged -------------------------------------------------------------


class Pipeline:
    def __init__(self):
        self.steps = []

    def clip(self, low):
        self.steps.append(low)

    def sort(self):
        self.steps.append(0.0)


@jax.default_matmul_precision("float32")
def enters(x):
    with jax.debug_nans(False), contextlib.ExitStack() as stack:
        stack.enter_context(jax.disable_jit())
        jax.log_compiles(False).__enter__()
        return x * 2


def effects(x):
    jax.debug.print("{}", x)
    lax.fori_loop(0, 2, lambda i, _: jax.debug.print("{}", i), None)
    lax.cond(True, lambda: jax.debug.print("yes"), lambda: None)
    jnp.dot(x, x).block_until_ready()
    x.copy_to_host_async()
    jax.block_until_ready(x)
    jnp.set_printoptions(precision=3)


def host(x):
    rows = np.asarray(x).copy()
    rows.sort()
    np.clip(rows, 0, 1, out=rows)
    names = ["b", "a"]
    names.sort()
    pipeline = Pipeline()
    pipeline.clip(0.0)
    pipeline.sort()
    return rows


def raises(x):
    try:
        jnp.reshape(x, (7, 7))
    except TypeError:
        return True
    return False


def unknown(x):
    x.sort()
    x.clip(0.0)
    return x


# runs: effects(jnp.ones(2)), host(jnp.ones(2)), raises(jnp.ones(2)), unknown(np.ones(2))


def placed(x, device):
    jax.device_put(x, device)  # expect: discarded-result
    y = jax.device_put(x, device)
    return x, y


# runs: placed(jnp.ones(2), jax.devices()[0])


def compiled(x):
    def step(x):
        return 2 * x

    jax.jit(step)  # expect: discarded-result
    fast = jax.jit(step)
    return step(x), fast(x)


# runs: compiled(jnp.ones(2))


def given_away(x, device):
    return jax.device_put(x, device), jax.device_put(3.0)


# runs: given_away(jnp.ones(2), jax.devices()[0])
