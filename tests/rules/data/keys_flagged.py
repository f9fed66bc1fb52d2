"""Keys used twice, in the ways of real code."""

import functools
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax import random as jr


def init_params(key, sizes):
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        w = jr.normal(key, (n_in, n_out))  # expect: key-reuse-in-loop
        b = jr.normal(key, (n_out,))  # expect: key-reuse
        params.append((w, b))
    return params


# reuses keys: init_params(jr.key(0), (2, 3))


def metropolis(key, x, n):
    key_proposal, key_accept = jr.split(key)

    def step(x, _):
        proposal = x + jr.normal(key_proposal, x.shape)  # expect: key-reuse-in-loop
        accept = jr.uniform(key_accept) < 0.5  # expect: key-reuse-in-loop
        return jnp.where(accept, proposal, x), None

    return lax.scan(step, x, None, length=n)[0]


# reuses keys: metropolis(jr.key(0), jnp.ones(2), 3)


class Model:
    def __init__(self, key):
        self.key = key
        self.w = jr.normal(self.key, (2,))

    def sample(self, n):
        return self.w + jr.normal(self.key, (n, 2))  # expect: key-reuse


def sample_model(seed):
    model = Model(jr.key(seed))
    return model.sample(3)


# reuses keys: sample_model(0)


class Agent(NamedTuple):
    key: jax.Array
    w: jax.Array


@jax.jit
def act(agent, x):
    noise = jr.normal(agent.key, x.shape)
    explore = jr.bernoulli(agent.key, 0.1)  # expect: key-reuse
    return jnp.where(explore, noise, agent.w * x)


# reuses keys: act(Agent(jr.key(0), jnp.ones(2)), jnp.ones(2))


def dropout(key, x, rate=0.5):
    return jnp.where(jr.bernoulli(key, 1 - rate, x.shape), x, 0.0)


def network(key, params, x):
    for w in params:
        x = dropout(key, jnp.tanh(x * w))  # expect: key-reuse-in-loop
    return x


# reuses keys: network(jr.key(0), [1.0, 2.0], jnp.ones(3))


def unpacked(key):
    key_a, key_b = jr.split(key)
    a = jr.normal(key_a)
    b = jr.normal(key_a)  # expect: key-reuse
    return a + b + jr.normal(key_b)


# reuses keys: unpacked(jr.key(0))


def in_a_dict(key):
    keys = {"w": key, "b": key}
    return {"w": jr.normal(keys["w"]), "b": jr.normal(keys["b"])}  # expect: key-reuse


# reuses keys: in_a_dict(jr.key(0))


def conditional_split(key, deep):
    if deep:
        key, sub = jr.split(key)
    else:
        sub = key
    x = jr.normal(sub)
    return x + jr.normal(key)  # expect: key-reuse


# reuses keys: conditional_split(jr.key(0), False)


def after_the_loop(key, n):
    total = 0.0
    for i in range(n):
        total += jr.normal(jr.fold_in(key, i))
    first = jr.uniform(key)
    return total + first + jr.normal(key)  # expect: key-reuse


# reuses keys: after_the_loop(jr.key(0), 2)


@partial(jax.jit, static_argnames="n")
def bootstrap(key, x, n):
    def one(_, total):
        index = jr.randint(key, x.shape, 0, x.shape[0])  # expect: key-reuse-in-loop
        return total + x[index].mean()

    return lax.fori_loop(0, n, one, 0.0) / n


# reuses keys: bootstrap(jr.key(0), jnp.ones(3), 2)


@dataclass
class Loader:
    key: jax.Array

    def batches(self, xs, n):
        for _ in range(n):
            yield xs[jr.permutation(self.key, xs.shape[0])]  # expect: key-reuse-in-loop


# reuses keys: list(Loader(jr.key(0)).batches(jnp.arange(3), 2))


def walk(key, x):
    def cond(state):
        return state[0] < 10

    def body(state):
        return state[0] + jr.uniform(state[1]) + 1, state[1]  # expect: key-reuse-in-loop

    return lax.while_loop(cond, body, (x, key))


# reuses keys: walk(jr.key(0), jnp.float32(0))


def carried_unchanged(key, xs):
    def body(carry, x):
        key, total = carry
        total = total + x * jr.normal(key)  # expect: key-reuse-in-loop
        return (key, total), None

    return lax.scan(body, (key, 0.0), xs)[0][1]


# reuses keys: carried_unchanged(jr.key(0), jnp.ones(2))


def parallel_envs(key, n):
    keys = jr.split(key, n)
    states = jax.vmap(lambda k: jr.normal(k, (2,)))(keys)
    noise = jax.vmap(jr.normal)(keys)  # expect: key-reuse
    return states, noise


# reuses keys: parallel_envs(jr.key(0), 2)


def common_pick(key, xs, ys):
    return jr.choice(key, xs, (2,)), jr.choice(key, ys, (2,))  # expect: key-reuse


# reuses keys: common_pick(jr.key(0), jnp.ones(3), jnp.ones(3))


def noisy_tree(key, tree):
    return jax.tree.map(lambda x: x + jr.normal(key, x.shape), {"a": tree, "b": tree})  # expect: key-reuse-in-loop


# reuses keys: noisy_tree(jr.key(0), jnp.ones(3))


def reset(key):
    key, sub = jr.split(key)
    return jr.normal(sub, (2,)), key


def episode(key):
    state, _ = reset(key)
    other, _ = reset(key)  # expect: key-used-after-split
    return state + other


# reuses keys: episode(jr.key(0))


def noise(key, shape):
    def add(x):
        return x + jr.normal(key, shape)

    return add


def composed(key):
    add = noise(key, (3,))
    return functools.reduce(lambda f, g: lambda x: f(g(x)), [add, add])(jnp.ones(3))  # expect: key-reuse


# reuses keys: composed(jr.key(0))


def starts(key, shape):
    wide = jax.nn.initializers.normal(1.0)
    return wide(key, shape) + wide(key, shape)  # expect: key-reuse


# reuses keys: starts(jr.key(0), (3,))
