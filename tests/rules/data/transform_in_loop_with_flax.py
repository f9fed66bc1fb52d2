"""Eager loops that differentiate modules of Flax without ``jit``."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class SetUp(nn.Module):
    def setup(self):
        self.layer = nn.Dense(1)

    def __call__(self, x):
        return self.layer(x)


def with_layers(params, batches):
    for x in batches:
        g = jax.grad(lambda p: jnp.mean(SetUp().apply(p, x) ** 2))(params)  # expect: transform-in-loop
        params = jax.tree.map(lambda p, q: p - 0.1 * q, params, g)
    return params


# runs: with_layers(SetUp().init(jax.random.key(0), jnp.ones((3, 2))), [jnp.ones((3, 2))] * 2)
