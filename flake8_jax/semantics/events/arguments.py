"""Events of calls whose arguments show a mistake by their values; ``models.sizes`` finds them."""

from __future__ import annotations

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.events.context import Context


class FloatSize(msgspec.Struct, frozen=True, eq=False):
    """A function of JAX gets a float where it takes the ints of a shape, or a count. found: the float in the argument for
    ``parameter``."""

    context: Context
    at: ir.Call
    name: str
    parameter: str
    found: ir.Expr


class JoinedKeys(msgspec.Struct, frozen=True, eq=False):
    """A function makes an array of the keys that a starred target has taken out of one array. list: the argument."""

    context: Context
    at: ir.Call
    name: str
    list: ir.Expr
