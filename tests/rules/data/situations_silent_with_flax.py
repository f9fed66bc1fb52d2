"""Code of real projects with Flax that looks like a defect and is none."""

import enum
from functools import partial
from typing import Any

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp


class Mode(enum.Enum):
    ONLINE = 1
    FROZEN = 2


@flax.struct.dataclass
class Statistics:
    mean: jax.Array
    mode: Mode = flax.struct.field(pytree_node=False, default=Mode.ONLINE)
    temperature: float = flax.struct.field(pytree_node=False, default=1.0)
    banned: Any = flax.struct.field(pytree_node=False, default=None)


@jax.jit
def update(stats: Statistics, batch):
    leaves = jax.tree.leaves(batch)
    if not leaves:
        return stats
    if stats.mode is Mode.FROZEN or stats.mode == Mode.FROZEN:
        return stats
    mean = leaves[0].mean(0)
    if stats.temperature > 0 and stats.banned:
        mean = mean.at[stats.banned[0]].set(0.0)
    return stats.replace(mean=mean / stats.temperature)


# runs: update(Statistics(jnp.ones(3)), {"x": jnp.ones((2, 3))})
# runs: update(Statistics(jnp.ones(3), Mode.FROZEN, 0.0, (1,)), {"x": jnp.ones((2, 3))})


class Network(nn.Module):
    features: int
    dropout: float = 0.0

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.Dense(self.features)(x)
        if train and self.dropout > 0:
            x = nn.Dropout(self.dropout, deterministic=not train)(x)
        if self.features > 2:
            x = nn.relu(x)
        return x


@partial(jax.jit, static_argnames="train")
def predict(params, x, train=False):
    return Network(3).apply(params, x, train=train)


# runs: predict(Network(3).init(jax.random.key(0), jnp.ones((1, 2))), jnp.ones((1, 2)), train=True)
