"""A train state of Flax and Optax in a jitted step, without defects."""

from functools import partial
from typing import Any, Callable, Sequence

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class MLP(nn.Module):
    features: Sequence[int]
    activation: Callable = nn.relu
    use_norm: bool = False

    @nn.compact
    def __call__(self, x, train: bool = True):
        for i, width in enumerate(self.features):
            x = nn.Dense(width, name=f"layer_{i:02d}")(x)
            if i + 1 < len(self.features):
                x = self.activation(x)
                if self.use_norm and train:
                    x = nn.LayerNorm()(x)
        return x


class State(train_state.TrainState):
    average: Any = None
    decay: float = flax.struct.field(pytree_node=False, default=0.9)


@partial(jax.jit, static_argnames=("weight_decay",))
def train_step(state: State, batch, weight_decay=0.0):
    def loss_fn(params):
        prediction = state.apply_fn({"params": params}, batch["x"], train=True)
        loss = jnp.mean((prediction - batch["y"]) ** 2)
        if weight_decay:
            loss = loss + weight_decay * sum(jnp.sum(p**2) for p in jax.tree.leaves(params))
        return loss, {"loss": loss}

    (loss, metrics), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads)
    if state.average is not None and state.decay > 0:
        average = jax.tree.map(lambda a, p: state.decay * a + (1 - state.decay) * p, state.average, state.params)
        state = state.replace(average=average)
    return state, metrics


def make_state(key):
    model = MLP((4, 1))
    params = model.init(key, jnp.ones((1, 2)))["params"]
    return State.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3), average=params)


BATCH = {"x": jnp.ones((3, 2)), "y": jnp.ones((3, 1))}
# runs: train_step(make_state(jax.random.key(0)), BATCH, weight_decay=0.1)
