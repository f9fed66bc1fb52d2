"""Arrays as defaults of the modules and data classes of Flax."""

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp


def linen():
    class Encoder(nn.Module):
        offsets: jax.Array = jnp.array([1, 2])  # expect: array-field-default

    return Encoder()


def struct():
    @flax.struct.dataclass
    class State:
        weights: jax.Array = jnp.zeros(3)  # expect: array-field-default

    class Node(flax.struct.PyTreeNode):
        weights: jax.Array = jnp.zeros(3)  # expect: array-field-default

    return State(), Node()


def refuses(define):
    """Python names the line of the decorator or of the class."""
    try:
        define()
    except ValueError as error:
        assert "mutable default" in str(error)
    else:
        raise AssertionError


# runs: refuses(linen), refuses(struct)


# --- never flagged -------------------------------------------------------------


class Net(nn.Module):
    offsets: tuple[int, ...] = (1, 2)


# runs: Net()
