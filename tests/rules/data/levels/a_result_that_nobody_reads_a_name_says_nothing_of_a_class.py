import jax
import jax.numpy as jnp


def forgotten(key, xs, ys):
    _ = jax.random.choice(key, xs)
    return jax.random.choice(key, ys)  # info: key-reuse


def unread(key, n):
    noise = jax.random.normal(key, (n,))
    return jax.random.uniform(key, (n,))  # info: key-reuse


def forgotten_keys(key, n):
    first, second = jax.random.split(key)
    return jax.random.uniform(key, (n,))  # error: key-used-after-split


def read_inside(key, n):
    noise = jax.random.normal(key, (n,))

    def total():
        return noise.sum()

    return jax.random.uniform(key, (n,)) + total()  # error: key-reuse


class MockEngine:
    def __init__(self, key):
        self.key = key

    def step(self, x):
        return x + jax.random.normal(self.key, x.shape)  # warning: key-reuse


class Engine(MockEngine):
    def step(self, x):
        return x * jax.random.normal(self.key, x.shape)  # warning: key-reuse


def run(engine: MockEngine, x):
    for _ in range(10):
        x = engine.step(x)  # error: key-reuse-in-loop
    return x


def go(engine: Engine, x):
    for _ in range(10):
        x = engine.step(x)  # error: key-reuse-in-loop
    return x


run(MockEngine(jax.random.key(0)), jnp.ones(3))
