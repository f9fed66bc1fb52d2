"""The same ways to stage a function, without defects."""

import functools
from functools import partial
from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec


def ppo(config):
    config["updates"] = config["steps"] // config["batch"]
    assert config["updates"] > 0

    def schedule(count):
        fraction = 1.0 - count / config["updates"]
        return config["lr"] * fraction

    def train(key):
        key, sub = jax.random.split(key)
        w = jax.random.normal(sub, (3,))

        def update(runner, _):
            w, key, count = runner

            def step(carry, _):
                x, key = carry
                key, action_key = jax.random.split(key)
                x = x + jax.random.normal(action_key, x.shape)
                return (x, key), x

            (_, key), xs = lax.scan(step, (jnp.zeros(3), key), None, config["batch"])
            if config.get("anneal"):
                w = w - schedule(count) * xs.mean(0)
            else:
                w = w - config["lr"] * xs.mean(0)
            if config.get("debug"):
                jax.debug.callback(lambda v: print(f"{v.mean():.3f}"), xs)
            return (w, key, count + 1), xs.mean()

        return lax.scan(update, (w, key, 0), None, config["updates"])

    return train


# runs: jax.jit(jax.vmap(ppo({"steps": 8, "batch": 2, "lr": 0.1, "anneal": True})))(jax.random.split(jax.random.key(0), 2))


def sharded(x, axes=None):
    mesh = Mesh(np.array(jax.devices()[:1]), ("i",))

    def local(v):
        if axes is not None:
            v = lax.pmean(v, axes)
        n = lax.axis_size("i") if hasattr(lax, "axis_size") else 1
        return v * n if v.shape[0] > 1 else v

    return jax.shard_map(local, mesh=mesh, in_specs=PartitionSpec("i"), out_specs=PartitionSpec("i"))(x)


# runs: sharded(jnp.ones(2))


@jax.jit
def ragged(sequences, lengths=(2, 3)):
    out = []
    for sequence, n in zip(sequences, (2, 3)):
        out.append(sequence[:n].sum())
    return out, {k: v for k, v in zip("ab", sequences)}


# runs: ragged((jnp.ones(4), jnp.ones(4)))


@jax.jit
def fft_convolve(x, kernel):
    n = x.shape[-1] + kernel.shape[-1] - 1
    size = 1 << (n - 1).bit_length()
    full = jnp.fft.irfft(jnp.fft.rfft(x, size) * jnp.fft.rfft(kernel, size), size)[..., :n]
    start = (kernel.shape[-1] - 1) // 2
    return full[..., start : start + x.shape[-1]]


# runs: fft_convolve(jnp.ones(4), jnp.ones(3))


@jax.jit
def blocks(a):
    n = a.shape[0]
    half = n // 2
    while half > 1 and n % half:
        half -= 1
    top, bottom = jnp.split(a, [half])
    for i, row in enumerate((top, bottom)):
        if i == 0 and row.shape[0] == half:
            a = a.at[:half].set(row)
    return a, [float(s) for s in a.shape], max(top.shape[0], bottom.shape[0]), np.log2(n), range(half)[0]


# runs: blocks(jnp.ones((4, 2)))


def numerics(f, x, n=3):
    h = 1e-3
    return [(f(x + h * k) - f(x)) / (h * k) for k in range(1, n) if k % 2]


@jax.jit
def derivative(x):
    return sum(numerics(jnp.sin, x))


# runs: derivative(1.0)


class Ring:
    def __init__(self, capacity, shape):
        self.capacity = capacity
        self.data = np.zeros((capacity, *shape), np.float32)
        self.size = 0

    def add(self, item):
        self.data[self.size % self.capacity] = np.asarray(item)
        self.size += 1
        return self.size >= self.capacity

    def sample(self, rng, n):
        return self.data[rng.integers(0, min(self.size, self.capacity), n)]


def collect(step, x, n):
    ring = Ring(4, (2,))
    rng = np.random.default_rng(0)
    for _ in range(n):
        if ring.add(np.ones(2)):
            batch = ring.sample(rng, 2)
            x = step(x, batch)
    return x


# runs: collect(jax.jit(lambda x, b: x + b.sum()), jnp.zeros(()), 6)
