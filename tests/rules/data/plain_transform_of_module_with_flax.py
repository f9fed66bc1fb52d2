"""Maps over modules of Flax linen that draw with keys of their own: reported, and others that look alike."""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    rate: float = 0.5
    deterministic: bool = False

    @nn.compact
    def __call__(self, x, off=None):
        return nn.Dropout(self.rate)(nn.Dense(4)(x), self.deterministic if off is None else off)


class Net(nn.Module):
    options: dict

    def setup(self):
        self.block = Block(**self.options)
        self.layer = nn.Dense(4)
        self.rows = jax.vmap(self.block)  # expect: plain-transform-of-module

    def __call__(self, xs, train):
        xs = jax.vmap(self.layer)(xs)
        ys = jax.vmap(lambda x: self.block(x, not train))(xs)  # expect: plain-transform-of-module
        zs = jax.vmap(lambda x: self.block(x, True))(xs)
        return self.rows(xs) + ys + zs + self.block(xs)

    def alone(self, x):
        return self.block(x)

    def batch(self, xs):
        return jax.vmap(self.alone)(xs)  # expect: plain-transform-of-module


class Lifted(nn.Module):
    @nn.compact
    def __call__(self, xs):
        rows = nn.vmap(Block, variable_axes={"params": None}, split_rngs={"params": False, "dropout": True})
        return rows()(xs)


class Off(nn.Module):
    @nn.compact
    def __call__(self, xs, key):
        block = Block(deterministic=True)
        dropout = nn.Dropout(0.5, deterministic=False)
        columns = nn.Dropout(0.5, broadcast_dims=(0,), deterministic=False)
        keys = jax.random.split(key, len(xs))
        ys = jax.vmap(lambda x, key: dropout(x, rng=key))(xs, keys)
        return jax.vmap(block)(xs) + ys + jax.vmap(columns)(xs) + jax.vmap(Block(rate=0))(xs)


class Sparse(nn.Module):
    @nn.compact
    def __call__(self, x, off):
        return nn.Dropout(0.5, deterministic=off)(x)


class Keyword(nn.Module):
    @nn.compact
    def __call__(self, xs, off):
        return jax.vmap(partial(Sparse(), off=off))(xs)  # expect: plain-transform-of-module


class Positional(nn.Module):
    @nn.compact
    def __call__(self, xs, off):
        block = Sparse()
        rows = jax.vmap(block, in_axes=(0, None))  # expect: plain-transform-of-module
        return rows(xs, off) + jax.vmap(Noisy())(xs)  # expect: plain-transform-of-module


class Noisy(nn.Module):
    def __call__(self, x):
        return x + jax.random.normal(self.make_rng("noise"), x.shape)


class Members(nn.Module):
    @nn.compact
    def __call__(self, x, params, keys):
        return jax.vmap(lambda key: Block().apply(params, x, rngs={"dropout": key}))(keys)


def members(params, x, keys):
    return jax.vmap(lambda key: Block().apply(params, x, rngs={"dropout": key}))(keys)


# runs: Net({}).init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, jnp.ones((2, 4)), True)
# runs: Lifted().init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, jnp.ones((2, 4)))
