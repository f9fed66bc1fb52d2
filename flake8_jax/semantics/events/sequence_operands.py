"""Lists and tuples given to functions of ``jax.numpy`` that take arrays only.

Vocabulary
----------
operand     an argument that the function computes with, as ``x`` and ``y`` of ``jnp.add(x, y)``; not an option.

``jax.numpy`` converts no lists, unlike NumPy (``check_arraylike`` in jax/_src/numpy/util.py). Which operands that concerns
stands in the table of ``knowledge.equivalents``.

Limitations: options such as ``where=``, for some of which a list raises with some shapes only; calls with ``*``.
"""

from __future__ import annotations

from itertools import takewhile
from typing import NamedTuple

from flake8_jax.core import ir
from flake8_jax.knowledge.equivalents import equivalent_signature
from flake8_jax.semantics.domain.values import ListValue, TupleValue, Value, is_registered
from flake8_jax.semantics.events.events import LibraryCall

_TAKING_LISTS = frozenset({"ndim", "shape", "size", "tril_indices_from", "triu_indices_from"})
"""These take lists as well: deprecated, but still so in 0.10.2."""


class SequenceOperand(NamedTuple):
    """kind: ``a list`` or ``a tuple``."""

    node: ir.Expr
    value: ListValue | TupleValue
    kind: str


def sequence_operand(event: LibraryCall) -> SequenceOperand | None:
    """The first operand that surely is a list or a tuple where the function takes arrays only."""
    short = event.name.removeprefix("jax.numpy.")
    if event.context.scope.converts_lists:
        return None
    if short == event.name or short in _TAKING_LISTS or any(argument.star for argument in event.at.args):
        return None
    equivalent = equivalent_signature(f"numpy.{short}")
    parameters = equivalent.parameters if equivalent is not None else None
    operands = takewhile(lambda p: p.kind == "array" and p.by_position and not p.variadic, parameters or ())
    written = dict(enumerate(zip(event.args, event.nodes)))
    for position, parameter in enumerate(operands):
        by_name = event.kwargs.get(parameter.name), event.keyword_nodes.get(parameter.name)
        value, node = written.get(position, by_name)
        if node is None:
            continue
        if isinstance(value, TupleValue) and not value.names and not is_registered(value):
            return SequenceOperand(node, value, "a tuple")
        if isinstance(value, ListValue) and not value.is_tuple and not value.slots.get("declared"):
            return SequenceOperand(node, value, "a list")
    return None


def elements_of(value: ListValue | TupleValue) -> tuple[Value, ...]:
    """The elements; one that stands for all of them where their number is not known; none where nothing is known."""
    if isinstance(value, TupleValue):
        return value.elts
    known = value.known()
    if known is not None:
        return known
    rest = value.slots.get("*")
    return () if rest is None else (rest,)
