"""Buffers that a compiled call took over, and what is done with them afterwards."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

scale = jax.jit(lambda x, by: x * by, donate_argnums=0)
norm = jax.jit(lambda x: jnp.sqrt(jnp.sum(x**2)), donate_argnums=0)
plain = jax.jit(lambda x: x + 1.0)


@partial(jax.jit, donate_argnames=("params", "opt"))
def step(params, opt, grads):
    opt = jax.tree.map(lambda m, g: 0.9 * m + g, opt, grads)
    return jax.tree.map(lambda p, m: p - 0.1 * m, params, opt), opt


@jax.jit
def total(tree):
    return sum(jnp.sum(leaf) for leaf in jax.tree.leaves(tree))


def arithmetic():
    x = jnp.ones(3)
    y = scale(x, 2.0)
    return y - x  # expect: donated-reuse


# raises Exception: arithmetic()


def by_name():
    x = jnp.ones(3)
    y = scale(x=x, by=2.0)
    return y + jnp.sum(x)  # expect: donated-reuse


# raises Exception: by_name()


def other_compiled_call():
    x = jnp.ones(3)
    y = scale(x, 2.0)
    return y + plain(x)  # expect: donated-reuse


# raises Exception: other_compiled_call()


def indexed():
    x = jnp.arange(3.0)
    y = scale(x, 2.0)
    return y.at[0].set(x[1])  # expect: donated-reuse


# raises Exception: indexed()


def method():
    x = jnp.arange(3.0)
    y = scale(x, 2.0)
    return y, x.mean()  # expect: donated-reuse


# raises Exception: method()


def on_the_host():
    x = jnp.arange(3.0)
    scale(x, 2.0)
    return np.asarray(x)  # expect: donated-reuse


# raises Exception: on_the_host()


def alias():
    x = jnp.arange(3.0)
    old = x
    x = scale(x, 2.0)
    return x - old  # expect: donated-reuse


# raises Exception: alias()


def leaves_of_a_dict():
    params = {"w": jnp.ones(3), "b": jnp.zeros(3)}
    opt = jax.tree.map(jnp.zeros_like, params)
    new, opt = step(params, opt, jax.tree.map(jnp.ones_like, params))
    return jax.tree.map(lambda a, b: a - b, new, params)  # expect: donated-reuse


# raises Exception: leaves_of_a_dict()


def one_leaf():
    params = {"w": jnp.ones(3), "b": jnp.zeros(3)}
    grads = {"w": jnp.ones(3), "b": jnp.ones(3)}
    new, opt = step(params, {"w": jnp.zeros(3), "b": jnp.zeros(3)}, grads)
    return new["w"] - params["w"]  # expect: donated-reuse


# raises Exception: one_leaf()


def whole_of_a_part():
    params = {"w": jnp.ones(3), "b": jnp.zeros(3)}
    params_w = scale(params["w"], 0.5)
    return params_w, total(params)  # expect: donated-reuse


# raises Exception: whole_of_a_part()


def helper(x, y):
    return jnp.dot(x, y)


def through_a_call():
    x = jnp.ones(3)
    y = scale(x, 2.0)
    return helper(y, x)  # expect: donated-reuse


# raises Exception: through_a_call()


def consume(x):
    return scale(x, 3.0)


def donated_by_a_helper():
    x = jnp.ones(3)
    y = consume(x)
    return y + x  # expect: donated-reuse


# raises Exception: donated_by_a_helper()


def twice_at_once():
    x = jnp.ones(3)
    return scale(x, x)  # expect: donated-reuse


# raises Exception: twice_at_once()


def in_a_loop(n):
    x = jnp.ones(3)
    found = []
    for i in range(n):
        found.append(scale(x, float(i)))  # expect: donated-reuse
    return found


# raises Exception: in_a_loop(2)


def old_state_in_a_loop(batches):
    params = {"w": jnp.ones(3)}
    opt = {"w": jnp.zeros(3)}
    moved = 0.0
    for grads in batches:
        new, opt = step(params, opt, grads)
        moved += jnp.sum(jnp.abs(new["w"] - params["w"]))  # expect: donated-reuse
        params = new
    return params, moved


# raises Exception: old_state_in_a_loop([{"w": jnp.ones(3)}] * 2)


def average(batches):
    params = {"w": jnp.ones(3)}
    opt = {"w": jnp.zeros(3)}
    ema = params
    for grads in batches:
        params, opt = step(params, opt, grads)
        ema = jax.tree.map(lambda e, p: 0.9 * e + 0.1 * p, ema, params)  # expect: donated-reuse
    return ema


# raises Exception: average([{"w": jnp.ones(3)}])


@partial(jax.tree_util.register_dataclass, data_fields=["w", "n"], meta_fields=[])
@dataclass
class State:
    w: jax.Array
    n: jax.Array


@partial(jax.jit, donate_argnums=(0,))
def advance(state, by):
    return State(state.w + by, state.n + 1)


class Trainer:
    def __init__(self):
        self.state = State(jnp.ones(3), jnp.array(0))

    def bad(self):
        before = self.state
        self.state = advance(self.state, 1.0)
        return self.state.w - before.w  # expect: donated-reuse

    def good(self):
        before = self.state.w.copy()
        self.state = advance(self.state, 1.0)
        return self.state.w - before


# raises Exception: Trainer().bad()


def unknown_caller(x, n):
    y = scale(x, 2.0)
    return y - x, n  # expect: donated-reuse


# raises Exception: unknown_caller(jnp.ones(2), 1)


def one_path(x, fast):
    if fast:
        y = scale(x, 2.0)
    else:
        y = 2.0 * x
    return y - x  # expect: donated-reuse


# raises Exception: one_path(jnp.ones(2), True)


# --- never flagged -------------------------------------------------------------


def rebound(grads, n):
    params = jax.tree.map(jnp.ones_like, grads)
    opt = jax.tree.map(jnp.zeros_like, params)
    first = jax.tree.map(jnp.copy, params)
    for _ in range(n):
        params, opt = step(params, opt, grads)
    return jax.tree.map(lambda a, b: a - b, params, first), total(params)


def no_contents():
    x = jnp.arange(4.0)
    y = scale(x, 2.0)
    shapes = (x.shape, x.dtype, x.ndim, x.size, len(x), jnp.shape(x), jnp.zeros_like(x), x.is_deleted(), x is y)
    del x
    return y, shapes


def from_the_host():
    x = np.arange(4.0)
    return scale(x, 0.5) + scale(x, 2.0) + x


def loaded(batches):
    found = []
    for batch in batches:
        y = scale(batch, 2.0)
        found.append(float(np.sum(y - batch)))
    return found


def no_room():
    x = jnp.arange(4.0)
    return x / norm(x)


def other_path(x, fast):
    if fast:
        return scale(x, 2.0)
    return 2.0 * x


def same_test(x, fast):
    y = scale(x, 2.0) if fast else 2.0 * x
    return y if fast else y + x


def copied(n):
    x = jnp.ones(3)
    return [scale(x.copy(), 2.0) for _ in range(n)] + [scale(jnp.copy(x), 3.0), x]


def fresh(n):
    found = []
    for i in range(n):
        x = jnp.full(3, float(i))
        found.append(scale(x, 2.0))
    return found


def ends_there(n):
    x = jnp.ones(3)
    for i in range(n):
        if i == 2:
            return scale(x, 2.0)
    return x


def nested(x):
    return jax.jit(lambda v: scale(v, 2.0) + v)(x)


def lowered():
    x = jnp.ones(3)
    text = scale.lower(x, 2.0).as_text()
    shape = jax.eval_shape(scale, x, 2.0)
    return x + 1.0, text, shape


@partial(jax.jit, donate_argnums=(0,))
def forget(old, new):
    return new * 2.0


def argument_never_read():
    x = jnp.ones(3)
    return forget(x, jnp.zeros(3)) + x


def negative_position():
    x = jnp.ones(3)
    return jax.jit(lambda by, v: v * by, donate_argnums=-1)(2.0, x) + x


def stacked():
    xs = [jnp.ones(3), jnp.zeros(3)]
    return scale(xs[0], 2.0) + xs[1]


def two_arrays(shape):
    a, b = jnp.ones(shape), jnp.zeros(shape)
    a = scale(a, 2.0)
    return a + b


def retried(x, n):
    for _ in range(n):
        try:
            return scale(x, 2.0)
        except RuntimeError:
            continue
    return x


def asked():
    x = jnp.ones(3)
    y = scale(x, 2.0)
    return y if x.is_deleted() else y + x


def swapped(n):
    a, b = jnp.ones(3), jnp.zeros(3)
    for _ in range(n):
        a, b = b, scale(a, 0.5)
    return a + b


def caught():
    x = jnp.ones(3)
    y = scale(x, 2.0)
    try:
        return y + x
    except RuntimeError:
        return y


# runs: rebound({"w": jnp.ones(3)}, 3)
# runs: no_contents()
# runs: from_the_host()
# runs: loaded([np.ones(2), np.ones(3)])
# runs: no_room()
# runs: other_path(jnp.ones(2), True)
# runs: other_path(jnp.ones(2), False)
# runs: same_test(jnp.ones(2), True)
# runs: same_test(jnp.ones(2), False)
# runs: copied(3)
# runs: fresh(3)
# runs: ends_there(5)
# runs: nested(jnp.ones(2))
# runs: lowered()
# runs: argument_never_read()
# runs: negative_position()
# runs: stacked()
# runs: two_arrays((3,))
# runs: retried(jnp.ones(3), 2)
# runs: asked()
# runs: swapped(3)
# runs: caught()
# runs: Trainer().good()
