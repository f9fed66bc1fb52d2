"""Defects that only the way through Flax shows."""

from functools import partial
from typing import Generic, TypeVar

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp


# --- linen: apply runs __call__, and the flag is traced if jit gets it as an array argument ---


class Block(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(self.features)(x)
        if train:  # expect: traced-branch
            x = nn.Dropout(0.5, deterministic=False)(x)
        return x


@jax.jit
def predict(params, x, train):
    return Block(3).apply(params, x, train)


def predict_all(params, xs):
    return [predict(params, x, True) for x in xs]


# raises TracerBoolConversionError: predict(Block(3).init(jax.random.key(0), jnp.ones((1, 2)), False), jnp.ones((1, 2)), True)


# --- a method of a subclass, reached through a base class that stages it ---

S = TypeVar("S")


class Environment(Generic[S]):
    @partial(jax.jit, static_argnums=0)
    def step(self, state, action):
        return self.step_env(state, action)

    def step_env(self, state, action):
        raise NotImplementedError


@flax.struct.dataclass
class CartState:
    x: jax.Array
    time: int


class Cart(Environment[CartState]):
    def step_env(self, state: CartState, action):
        x = state.x + action
        if state.time > 10:  # expect: traced-branch
            x = jnp.zeros_like(x)
        return CartState(x, state.time + 1)


# raises TracerBoolConversionError: Cart().step(CartState(jnp.ones(()), 0), 1.0)
