"""Modules of Flax that make submodules outside ``setup`` and methods with ``nn.compact``, and modules that do not."""

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp

KEY = jax.random.key(0)
X = jnp.ones((2, 3))


class Sub(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x)


class Inline(nn.Module):
    def __call__(self, x):  # expect: missing-compact
        return Sub()(x)


class Mixed(nn.Module):
    def setup(self):
        self.dense = nn.Dense(3)

    def __call__(self, x):  # expect: missing-compact
        return nn.LayerNorm()(self.dense(x))


class Helped(nn.Module):
    def __call__(self, x):  # expect: missing-compact
        return self.block(x)

    def block(self, x):
        return nn.Dense(3)(x)


class Overriding(Sub):
    def __call__(self, x):  # expect: missing-compact
        layers = [nn.Dense(3), nn.Dense(3)]
        for layer in layers:
            x = layer(x)
        return x


def refuses(module):
    """Flax names the line that makes the submodule, not the method."""
    try:
        module.init(KEY, X)
    except flax.errors.AssignSubModuleError:
        return
    raise AssertionError


# runs: refuses(Inline()), refuses(Mixed()), refuses(Helped()), refuses(Overriding())


# --- never flagged -------------------------------------------------------------


class Made(nn.Module):
    def setup(self):
        self.dense = self.make()

    def make(self):
        return nn.Dense(3)

    def __call__(self, x):
        return self.dense(x)


class Shared(nn.Module):
    @nn.compact
    def __call__(self, x):
        return self.block(x)

    def block(self, x):
        return nn.Dense(3)(x)


class Inheriting(Sub):
    width: int = 3


class Given(nn.Module):
    layer: nn.Module

    def __call__(self, x):
        return self.layer(x)


# runs: Made().init(KEY, X), Shared().init(KEY, X), Inheriting().init(KEY, X), Given(nn.Dense(3)).init(KEY, X)
