"""Arrays as defaults of data classes, which Python 3.11 refuses, and defaults that it takes."""

from dataclasses import InitVar, dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


def plain():
    @dataclass
    class Gains:
        weights: jax.Array = jnp.zeros(3)  # expect: array-field-default

    return Gains()


def given_to_field():
    @dataclass(frozen=True)
    class Gains:
        key: jax.Array = field(default=jax.random.key(0))  # expect: array-field-default

    return Gains()


def of_numpy():
    """One finding for a class: Python refuses it at the first such field."""

    @dataclass(eq=False)
    class Gains:
        weights: np.ndarray = np.ones(3)  # expect: array-field-default
        bias: np.ndarray = np.zeros(3)

    return Gains()


def refuses(define):
    """Python names the line of the decorator or of the class."""
    try:
        define()
    except ValueError as error:
        assert "mutable default" in str(error)
    else:
        raise AssertionError


# runs: refuses(plain), refuses(given_to_field), refuses(of_numpy)


# --- never flagged -------------------------------------------------------------


@dataclass
class Made:
    shared: ClassVar[jax.Array] = jnp.zeros(3)
    weights: jax.Array = field(default_factory=lambda: jnp.zeros(3))
    scale: float = np.pi
    step: np.float32 = np.float32(0.1)
    shape: jax.ShapeDtypeStruct = jax.ShapeDtypeStruct((2,), jnp.float32)
    unset: jax.Array | None = None
    start: InitVar[jax.Array] = jnp.zeros(3)


class Pair(NamedTuple):
    weights: jax.Array = jnp.zeros(3)


class Plain:
    weights: jax.Array = jnp.zeros(3)


# runs: Made(), Pair(), Plain()
