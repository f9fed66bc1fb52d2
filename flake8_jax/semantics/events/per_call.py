"""The event of a function that compiles again in each call; ``trackers.per_call`` finds it."""

from __future__ import annotations

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain.values import Value
from flake8_jax.semantics.events.context import Context


class CompiledPerCall(msgspec.Struct, frozen=True, eq=False):
    """A function compiles a function object that it has just made, and calls the result (see ``per_call``).

    name: canonical name of the transform; operand: what it compiles. function: the one that does this in each call.
    captured: its parameters that the compiled function reads. given, unless: the facts on which a report hangs.
    """

    context: Context
    at: ir.Node
    name: str
    operand: Value
    function: ir.Function
    captured: tuple[str, ...]
    given: str
    unless: str
