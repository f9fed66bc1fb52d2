"""One key for two collections of Flax."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dropout(0.5, deterministic=False)(nn.Dense(2)(x))


def two_collections(key, x):
    return Net().init({"params": key, "dropout": key}, x)  # expect: key-reuse


# runs: two_collections(jax.random.key(0), jnp.ones((1, 2)))


class Chain:
    def __init__(self, width):
        self.net = Net()
        self.width = width

    def forward(self, params, x, rngs):
        once = self.net.apply(params, x, rngs=rngs)
        return self.net.apply(params, once, rngs=rngs)  # expect: key-reuse


def chained(key, x):
    params_key, dropout_key = jax.random.split(key)
    params = Net().init({"params": params_key, "dropout": dropout_key}, x)
    return Chain(2).forward(params, x, {"dropout": jax.random.key(1)})


# runs: chained(jax.random.key(0), jnp.ones((1, 2)))


# --- never flagged -------------------------------------------------------------


def distinct_collections(key, x):
    params_key, dropout_key = jax.random.split(key)
    return Net().init({"params": params_key, "dropout": dropout_key}, x)


# runs: distinct_collections(jax.random.key(0), jnp.ones((1, 2)))


class Switched(nn.Module):
    @nn.compact
    def __call__(self, x, train=True):
        return nn.Dropout(0.5, deterministic=not train)(nn.Dense(2)(x))


class Checked:
    def __init__(self, width):
        self.net = Switched()
        self.width = width

    def forward(self, params, x, rngs):
        noisy = self.net.apply(params, x, rngs=rngs)
        return noisy, self.net.apply(params, x, train=False, rngs=rngs)

    def renewed(self, params, x, rngs):
        once = self.net.apply(params, x, rngs=rngs)
        rngs = {"dropout": jax.random.fold_in(rngs["dropout"], 1)}
        return self.net.apply(params, once, rngs=rngs)


def checked(key, x):
    params_key, dropout_key, other_key = jax.random.split(key, 3)
    params = Switched().init(params_key, x, train=False)
    checks = Checked(2)
    return checks.forward(params, x, {"dropout": dropout_key}), checks.renewed(params, x, {"dropout": other_key})


# runs: checked(jax.random.key(0), jnp.ones((1, 2)))
