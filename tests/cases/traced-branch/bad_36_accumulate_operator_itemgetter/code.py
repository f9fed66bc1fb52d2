import functools
import itertools
import operator

import jax
import jax.numpy as jnp


def larger(a, b):
    return a if a > b else b  # expect: traced-branch


@jax.jit
def running_max(parts):
    values = [operator.itemgetter("v")(p) for p in (parts["a"], parts["b"])]
    return list(itertools.accumulate(values, larger))[-1]


@functools.partial(jax.vmap, in_axes=(0, None))
def threshold(x, cut):
    return jax.lax.stop_gradient(x) if operator.gt(x, cut) else x  # expect: traced-branch
