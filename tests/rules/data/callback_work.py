"""Functions that compiled code calls back: some compute with JAX, or do nothing in most steps."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback


def masked(info):
    returns = info["returns"]
    print(returns[info["done"]])  # expect: callback-work


def averaged(name, x):
    total = x.sum() / 2  # expect: callback-work
    print(name, total, jnp.mean(x))


def saved(x, step):
    if step % 10 == 0:  # expect: callback-work
        print(x)


def finished(done, x):
    if done:
        print(x)


def converted(info, scale):
    info = jax.tree.map(np.asarray, info)
    print(info["returns"][info["done"]], info["returns"].mean(), float(scale) * 2, scale.shape[0] * 2 if scale.ndim else 0)


def sorted_on_host(x):
    return np.sort(x)


class Logger:
    def log(self, x):
        print(x > 1)  # expect: callback-work


@jax.jit
def step(x, i):
    info = {"returns": x, "done": x > 0}
    jax.debug.callback(masked, info)
    jax.debug.callback(partial(averaged, "x"), x)
    jax.debug.callback(converted, info, x)
    jax.debug.callback(lambda v: print(jnp.max(v)), x)  # expect: callback-work
    jax.debug.callback(Logger().log, x)
    jax.debug.callback(finished, x[0] > 3, x)  # expect: callback-work
    jax.lax.cond(x[0] > 3, lambda: jax.debug.callback(finished, x[0] > 3, x), lambda: None)
    io_callback(saved, None, x, i, ordered=True)  # expect: callback-work
    return jax.pure_callback(sorted_on_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
