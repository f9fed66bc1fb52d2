"""Methods of a ``FrozenDict``, which ``init`` of Flax no longer returns: names say what holds variables."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax.training.train_state import TrainState


class State(TrainState):
    batch_stats: dict


def masked(state, masks):
    return state.replace(params=state.params.copy(masks))  # expect: removed-api


def made(module, key, x):
    variables = module().init(key, x)
    rest, params = variables.pop("params")  # expect: removed-api
    return rest, params.unfreeze()  # expect: removed-api


def known(key, x):
    variables = nn.Dense(2).init(key, x)
    return variables.unfreeze()  # expect: removed-api


def plain(state, params, settings, stats):
    copied = state.params.copy()
    kernel = params.pop("kernel")
    options = settings.copy(stats)
    first, second = stats.pop("pair")
    return copied, kernel, options, first, second


# raises AttributeError: known(jax.random.key(0), jnp.ones((1, 3)))
# raises ValueError, AttributeError: made(lambda: nn.Dense(2), jax.random.key(0), jnp.ones((1, 3)))
