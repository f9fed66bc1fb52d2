"""Truth of a field that Flax keeps out of the tree."""

import enum

import flax.struct
import jax
import jax.numpy as jnp


class Mode(enum.Enum):
    TRAIN = 1
    EVAL = 2


@flax.struct.dataclass
class State:
    w: jax.Array
    mode: Mode = flax.struct.field(pytree_node=False, default=Mode.TRAIN)


@jax.jit
def static_field(state: State):
    if state.mode is Mode.TRAIN or state.mode == Mode.EVAL:
        return state.w
    return -state.w


# runs: static_field(State(jnp.ones(2)))
