"""Keys of Flax, used once each."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import random as jr


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(3)(x)
        x = nn.Dropout(0.5, deterministic=not train)(x)
        noise = jr.normal(self.make_rng("noise"), x.shape)
        return x + noise + jr.normal(self.make_rng("noise"), x.shape)


def train_step(key, x):
    params_key, dropout_key, noise_key, key = jr.split(key, 4)
    variables = Net().init({"params": params_key, "noise": noise_key}, x, False)
    step_key = jr.fold_in(key, 0)
    a, b = jr.split(step_key)
    return Net().apply(variables, x, True, rngs={"dropout": dropout_key, "noise": a}), b


# keeps keys: train_step(jr.key(0), jnp.ones((2, 3)))
