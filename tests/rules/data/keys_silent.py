"""Keys used once each, in the ways of real code."""

import functools
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax import random as jr


def init_params(key, sizes):
    keys = jr.split(key, len(sizes))
    params = []
    for k, n_in, n_out in zip(keys, sizes[:-1], sizes[1:]):
        w_key, b_key = jr.split(k)
        params.append((jr.normal(w_key, (n_in, n_out)), jr.normal(b_key, (n_out,))))
    return params


# keeps keys: init_params(jr.key(0), (2, 3, 4))


def keys_by_name(key, names):
    keys = dict(zip(names, jr.split(key, len(names))))
    return {name: jr.normal(keys[name]) for name in names}


# keeps keys: keys_by_name(jr.key(0), ("a", "b"))


def unpack_star(key):
    key, *subkeys = jr.split(key, 4)
    return [jr.normal(k) for k in subkeys], jr.uniform(key)


# keeps keys: unpack_star(jr.key(0))


def popped(key, n):
    keys = list(jr.split(key, n))
    return [jr.normal(keys.pop()) for _ in range(n)]


# keeps keys: popped(jr.key(0), 2)


def enumerated(key, xs):
    return [x + jr.normal(jr.fold_in(key, i)) for i, x in enumerate(xs)]


# keeps keys: enumerated(jr.key(0), [1.0, 2.0])


def by_iterator(key, n):
    keys = iter(jr.split(key, n + 1))
    a = jr.normal(next(keys))
    return a + sum(jr.normal(next(keys)) for _ in range(n))


# keeps keys: by_iterator(jr.key(0), 2)


def methods(kind, key):
    if kind == "normal":
        draw = jr.normal(key)
    elif kind == "uniform":
        draw = jr.uniform(key)
    else:
        raise ValueError(kind)
    return draw


# keeps keys: methods("uniform", jr.key(0))


def matched(kind, key):
    match kind:
        case "normal":
            return jr.normal(key)
        case "uniform":
            return jr.uniform(key)
    return jr.gumbel(key)


# keeps keys: matched("normal", jr.key(0))


def tried(key):
    try:
        return jr.normal(key, (-1,))
    except ValueError:
        return jr.normal(key, (1,))


def exclusive_flags(key, heavy):
    if heavy:
        x = jr.cauchy(key)
    if not heavy:
        x = jr.normal(key)
    return x


# keeps keys: exclusive_flags(jr.key(0), True)


def optional(key=None, n=2):
    if key is None:
        key = jr.key(0)
    return jr.normal(key, (n,))


# keeps keys: optional()


class Sampler(NamedTuple):
    key: jax.Array
    position: jax.Array

    def step(self):
        key, sub = jr.split(self.key)
        return self._replace(key=key, position=self.position + jr.normal(sub))


def run(sampler, n):
    for _ in range(n):
        sampler = sampler.step()
    return sampler.step().step().position


# keeps keys: run(Sampler(jr.key(0), jnp.zeros(())), 2)


@dataclass(frozen=True)
class Rng:
    key: jax.Array

    def split(self):
        key, sub = jr.split(self.key)
        return replace(self, key=key), sub


def two(rng):
    rng, a = rng.split()
    rng, b = rng.split()
    return jr.normal(a) + jr.normal(b)


# keeps keys: two(Rng(jr.key(0)))


def epoch(key, xs, n):
    def body(carry, key):
        return carry + jr.normal(key, xs.shape), key

    key, sub = jr.split(key)
    total, keys = lax.scan(body, jnp.zeros_like(xs), jr.split(sub, n))
    return lax.fori_loop(0, n, lambda i, t: t + jr.normal(jr.fold_in(key, i)), total)


# keeps keys: epoch(jr.key(0), jnp.ones(2), 2)


def branches(key, flag, x):
    return lax.cond(flag, lambda k: jr.normal(k), lambda k: jr.uniform(k), key)


# keeps keys: branches(jr.key(0), True, 1.0)


def indexed(key, n):
    keys = jr.split(key, (2, n))
    return [jr.normal(keys[0, i]) for i in range(n)], jr.normal(keys[1, 0]), jr.normal(keys[1, 1])


# keeps keys: indexed(jr.key(0), 2)


def halves(key, n):
    keys = jr.split(key, 2 * n)
    a = jax.vmap(jr.normal)(keys[:n])
    b = jax.vmap(jr.normal)(keys[n:])
    return a, b


# keeps keys: halves(jr.key(0), 2)


@partial(jax.jit, static_argnames="n")
def particle_filter(key, particles, ys, n):
    def step(carry, y):
        key, particles = carry
        key, move_key, pick_key = jr.split(key, 3)
        particles = particles + jr.normal(move_key, (n,))
        index = jr.categorical(pick_key, -((particles - y) ** 2), shape=(n,))
        return (key, particles[index]), particles.mean()

    return lax.scan(step, (key, particles), ys)


# keeps keys: particle_filter(jr.key(0), jnp.zeros(3), jnp.ones(2), 3)


def stopped(key, limit):
    for attempt in range(3):
        key, sub = jr.split(key)
        x = jr.normal(sub)
        if x < limit:
            return x
    return jr.uniform(key)


# keeps keys: stopped(jr.key(0), 5.0)


def generator(key):
    while True:
        key, sub = jr.split(key)
        yield sub


def streamed(key, n):
    keys = generator(key)
    first = jr.normal(next(keys))
    return [first] + [jr.normal(k) for k, _ in zip(keys, range(n))]


# keeps keys: streamed(jr.key(0), 2)


def shuffled(key, table):
    return jax.tree.map(lambda x: jr.permutation(key, x), {"x": table, "y": table})


def aligned(key, xs, ys):
    return jr.permutation(key, xs), jr.permutation(key, ys)


# runs: shuffled(jr.key(0), jnp.ones(3)), aligned(jr.key(0), jnp.ones(3), jnp.ones(3))


def data_of(key):
    raw = jr.key_data(key)
    rebuilt = jr.wrap_key_data(raw)
    return rebuilt.shape, jnp.asarray(raw).sum(), jr.normal(key)


# keeps keys: data_of(jr.key(0))


def noise(key, shape):
    def add(x):
        return x + jr.normal(key, shape)

    return add


def chained(*functions):
    def join(f, g):
        def both(x):
            return f(g(x))

        return both

    return functools.reduce(join, reversed(functions))


def composed(key):
    return chained(jnp.sin, noise(key, (3,)), jnp.cos)(jnp.ones(3))


# keeps keys: composed(jr.key(0))


def starts(key, shape):
    zeros, half = jax.nn.initializers.zeros, jax.nn.initializers.constant(0.5)
    return zeros(key, shape), half(key, shape), half(key, shape)


# keeps keys: starts(jr.key(0), (3,))
