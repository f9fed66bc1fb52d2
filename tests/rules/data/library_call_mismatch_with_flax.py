"""Layers of Flax that need an argument in the constructor or in the call."""

import flax.linen as nn
import jax
import jax.numpy as jnp

KEY = jax.random.key(0)
X = jnp.ones((2, 3))


class Dropped(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dropout(0.0)(x)  # expect: library-call-mismatch


# raises ValueError: Dropped().init(KEY, X)


class Normalized(nn.Module):
    def setup(self):
        self.norm = nn.BatchNorm(momentum=0.9)

    def __call__(self, x):
        return self.norm(x)  # expect: library-call-mismatch


# raises ValueError: Normalized().init(KEY, X)


class Attending(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.MultiHeadDotProductAttention(num_heads=1, dropout_rate=0.1)(x, x)  # expect: library-call-mismatch


# raises ValueError: Attending().init(KEY, X)


# --- never flagged -------------------------------------------------------------


class Set(nn.Module):
    options: dict

    @nn.compact
    def __call__(self, x, train):
        x = nn.Dropout(0.1)(x, not train)
        x = nn.Dropout(0.1, deterministic=not train)(x)
        x = nn.Dropout(**self.options)(x)
        x = nn.BatchNorm(not train)(x)
        x = nn.BatchNorm()(x, use_running_average=not train)
        return nn.MultiHeadDotProductAttention(num_heads=1)(x, x)


# runs: Set({"rate": 0.1, "deterministic": True}).init(KEY, X, False)
