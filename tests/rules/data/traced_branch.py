"""Truth of traced values, in every form that Python has for it."""

import enum
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

# --- flagged -----------------------------------------------------------------


@jax.jit
def if_else(x):
    if x > 0:  # expect: traced-branch
        return x
    return -x


# raises TracerBoolConversionError: if_else(1.0)


@jax.jit
def elif_arm(x, n=3):
    if x.ndim == 2:
        return x.sum()
    elif jnp.any(x > 1):  # expect: traced-branch
        return x.max()
    return x.min()


# raises TracerBoolConversionError: elif_arm(jnp.ones(3))


@jax.jit
def ternary(x):
    return x if x.sum() > 0 else -x  # expect: traced-branch


# raises TracerBoolConversionError: ternary(jnp.ones(3))


@jax.jit
def asserted(x):
    assert jnp.all(jnp.isfinite(x))  # expect: traced-branch
    return x


# raises TracerBoolConversionError: asserted(jnp.ones(3))


@jax.jit
def negated(x):
    return not jnp.any(x)  # expect: traced-branch


# raises TracerBoolConversionError: negated(jnp.ones(3))


@jax.jit
def conjunction(x):
    inside = (x.sum() > 0) and (x.sum() < 1)  # expect: traced-branch
    return inside


# raises TracerBoolConversionError: conjunction(jnp.ones(3))


@jax.jit
def default(x):
    scale = x.sum() or 1.0  # expect: traced-branch
    return x / scale


# raises TracerBoolConversionError: default(jnp.ones(3))


@jax.jit
def chained(x):
    return 0 < jnp.sum(x) < 1  # expect: traced-branch


# raises TracerBoolConversionError: chained(jnp.ones(3))


@jax.jit
def filtered(x):
    parts = [x[0], x[1]]
    return sum([p for p in parts if p > 0])  # expect: traced-branch


# raises TracerBoolConversionError: filtered(jnp.ones(2))


@jax.jit
def matched(x):
    match jnp.argmax(x):  # expect: traced-branch
        case 0:
            return x
        case _:
            return -x


# (JAX raises it at the first `case`, the finding stands at the subject.)


@jax.jit
def member(x):
    return jnp.where(jnp.argmax(x) in (1, 2), x, 0.0)  # expect: traced-branch


# raises TracerBoolConversionError: member(jnp.ones(2))


@jax.jit
def contains(x):
    return x if 1 in jnp.abs(x) else -x  # expect: traced-branch


# raises TracerBoolConversionError: contains(jnp.ones(2))


@jax.jit
def close(x, y):
    if jnp.allclose(x, y):  # expect: traced-branch
        return x
    return y


# raises TracerBoolConversionError: close(jnp.ones(2), jnp.ones(2))


@jax.vmap
def lanes(x):
    return x if x > 0 else 0.0  # expect: traced-branch


# raises TracerBoolConversionError: lanes(jnp.ones(2))


def scanned(xs):
    def body(total, x):
        if x > 0:  # expect: traced-branch
            total = total + x
        return total, None

    return jax.lax.scan(body, 0.0, xs)[0]


# raises TracerBoolConversionError: scanned(jnp.ones(3))


def counted(n):
    def body(i, total):
        return total + i if i % 2 == 0 else total  # expect: traced-branch

    return jax.lax.fori_loop(0, n, body, 0)


# raises TracerBoolConversionError: counted(3)

THRESHOLD = jnp.float32(0.5)


@jax.jit
def captured(x):
    if THRESHOLD > 0:  # expect: traced-branch
        return x
    return -x


# raises TracerBoolConversionError: captured(1.0)


@jax.jit
def outer_grad(w):
    def loss(w):
        total = jnp.sum(w)
        return total if total > 0 else -total  # expect: traced-branch

    return jax.grad(loss)(w)


# raises TracerBoolConversionError: outer_grad(jnp.ones(2))


@jax.jit
def annotated_int(x, n: int):
    if n > 3:  # expect: traced-branch
        return x
    return -x


# raises TracerBoolConversionError: annotated_int(1.0, 4)


# --- never flagged -------------------------------------------------------------


@jax.jit
def metadata(x, y=None):
    if x.shape[0] > 3 or x.ndim == 1 or x.dtype == jnp.int32 or x.size > 9 or len(x) > 2:
        x = x + 1
    if y is None and x is not None and isinstance(x, jax.Array):
        y = x
    if jnp.ndim(x) > 1 or jnp.isscalar(x) or jnp.issubdtype(x.dtype, jnp.floating) or jnp.iscomplexobj(x):
        x = x * 2
    if jnp.shape(x) == jnp.shape(y) and jnp.result_type(x, y) == x.dtype and jnp.size(x) > 1:
        x = x + y
    return x


# runs: metadata(jnp.ones(4))


@jax.jit
def pytrees(batch, extra, pair):
    if "mask" in batch:
        return batch["mask"]
    if batch or extra:
        batch = {**batch}
    if pair:
        return pair[0] + batch["x"]
    return batch["x"]


# runs: pytrees({"x": jnp.ones(2)}, None, (jnp.ones(2),))


@partial(jax.jit, static_argnames=("training", "depth"))
def statics(x, training, depth=2):
    if training and depth > 1:
        x = x + depth
    assert depth in (1, 2)
    return x if not training else 2 * x


# runs: statics(jnp.ones(2), training=True)


class Config:
    def __init__(self, clip):
        self.clip = clip


def make_step(config):
    @jax.jit
    def step(w):
        if config.clip:
            w = jnp.clip(w, -1, 1)
        return w

    return step


step = make_step(Config(True))
# runs: step(jnp.ones(2))


@jax.jit
def odd_equality(x):
    if x == None:  # noqa: E711
        return 0.0
    if x == "auto":
        return 1.0
    return x


# runs: odd_equality(jnp.ones(2))


@jax.jit
def identity_membership(x):
    if x in [x]:
        return 2 * x
    return x


# runs: identity_membership(jnp.ones(()))


class Pair(NamedTuple):
    a: jax.Array
    b: jax.Array


@jax.jit
def containers(x):
    pair, table, row = Pair(x, x), {"x": x}, [x]
    if pair and table and row:
        x = x + 1
    assert (x > 0, "always true, as tuples are")
    return x


# runs: containers(jnp.ones(2))


def differentiated(x):
    if x > 0:  # expect: traced-branch
        return x**2
    return x if not x < -1 else -x  # expect: traced-branch


slope = jax.grad(differentiated)
# runs: slope(1.0)


def eager(x):
    y = jnp.sin(x)
    if y.sum() > 0 and jnp.all(y < 2):
        return y
    assert jnp.any(y <= 0)
    return -y


# runs: eager(jnp.ones(2))


@jax.jit
def unpassed_default(x, flag=True):
    if flag:
        return x
    return -x


# runs: unpassed_default(1.0)


def broadcast(row, flag):
    return row if flag else -row


broadcasted = jax.vmap(broadcast, in_axes=(0, None))
# runs: broadcasted(jnp.ones(2), True)


@jax.jit
def guarded(x):
    try:
        if x > 0:
            return x
    except jax.errors.TracerBoolConversionError:
        return jnp.abs(x)
    return -x


# runs: guarded(1.0)


@jax.jit
def leaves(tree):
    found = jax.tree.leaves(tree)
    if not found:
        return 0.0
    for name, leaf in {"a": found[0]}.items():
        if name.startswith("a"):
            return leaf
    return found[0]


# runs: leaves({"a": jnp.ones(2)})


@jax.custom_vjp
def halved(x):
    return x / 2


def halved_fwd(x):
    return x / 2, x.ndim


def halved_bwd(ndim, g):
    if ndim == 0:
        return (g / 2,)
    return (g / 2,)


halved.defvjp(halved_fwd, halved_bwd)
# runs: halved(1.0)


# --- under grad alone: the value is known ----------------------------------------


class Tank:
    def __init__(self, height):
        self.height = height

    def fill(self, inflow):
        self.height = self.height + inflow
        if self.height <= 0.0:  # expect: traced-branch
            self.height = 0.0
        return self.height


@jax.grad
def level_of(w):
    return Tank(1.0).fill(w)


# runs: level_of(0.5)
