from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def rk4(y, t, dt):
    total = y
    for c, w in zip(jnp.array([0.0, 0.5, 0.5, 1.0]), (1, 2, 2, 1)):
        total = total + w * dt * jnp.sin(t + c * dt) / 6
    return total


def body(carry, xs):
    a, b = carry
    (x, y), k = xs
    for leaf in (x, y):
        a = a + leaf.sum()
    for v in {"a": a, "b": b}.values():
        b = b + v
    return (a, b), k


def run(xs, ys):
    ks = jax.random.split(jax.random.key(0), xs.shape[0])
    (a, b), _ = lax.scan(body, (0.0, 0.0), ((xs, ys), ks))
    return [v * 2 for v in (a, b)]


@partial(jax.jit, static_argnames="names")
def select(tree, names):
    picked = {n: tree[n] for n in names}
    for path, leaf in jax.tree_util.tree_leaves_with_path(picked):
        picked[str(path)] = leaf + 1
    return tuple(v for _, v in sorted(picked.items()))


@jax.jit
def heads(x):
    parts = jnp.split(x, 2)
    first, second = parts
    sin, cos = jnp.sin(x[0]), jnp.cos(x[0])
    return [p.sum() for p in parts], first - second, sin + cos, [d for d in x.shape]
