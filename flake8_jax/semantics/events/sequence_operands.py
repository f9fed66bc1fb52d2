"""Lists and tuples given to functions of ``jax.numpy`` that take arrays only.

Vocabulary
----------
operand     an argument that the function computes with, as ``x`` and ``y`` of ``jnp.add(x, y)``, or an option that has to be
            an array or a number, as ``repeats`` of ``jnp.repeat(x, repeats)``.

``jax.numpy`` converts no lists, unlike NumPy (``check_arraylike`` in jax/_src/numpy/util.py). Which operands that concerns
stands in the table of ``knowledge.equivalents``.

Limitations: options for some of which a list raises with some shapes only; calls with ``*``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from flake8_jax.core import ir
from flake8_jax.knowledge.equivalents import equivalent_signature, refused_sequences
from flake8_jax.semantics.domain.values import ListValue, Static, TupleValue, Value, is_registered
from flake8_jax.semantics.events.events import LibraryCall

_TAKING_LISTS = frozenset({"ndim", "shape", "size", "tril_indices_from", "triu_indices_from"})
"""These take lists as well: deprecated, but still so in 0.10.2."""


_VALUES = frozenset({"delete", "repeat"})
"""Under ``jit``, these need the values of ``obj`` and ``repeats``: an array of NumPy has them, one of JAX does not."""


class SequenceOperand(NamedTuple):
    """kind: ``a list`` or ``a tuple``. counts: the function needs its values under ``jit``, too."""

    node: ir.Expr
    value: ListValue | TupleValue
    kind: str
    counts: bool = False


def sequence_operand(event: LibraryCall) -> SequenceOperand | None:
    """The first operand that surely is a list or a tuple where the function takes arrays only."""
    found = (_operand(value, node, counts=counts) for value, node, counts in _operands(event))
    return next((operand for operand in found if operand is not None), None)


def shape_operand(event: LibraryCall) -> ir.Expr | None:
    """The first operand that is the shape of something, or a slice of that: a tuple, if it is an array that has it."""
    for value, node, _ in _operands(event):
        whole = node.value if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Slice) else node
        is_shape = isinstance(value, Static) and value.kind == "shape"
        if is_shape and isinstance(whole, ir.Attribute) and whole.attr == "shape":
            return node
    return None


def _operands(event: LibraryCall) -> Iterator[tuple[Value | None, ir.Expr | None, bool]]:
    """The arguments of a function of ``jax.numpy`` that take arrays only, with their IR, and ``counts``."""
    short = event.name.removeprefix("jax.numpy.")
    if event.context.scope.converts_lists:
        return
    if short == event.name or short in _TAKING_LISTS or any(argument.star for argument in event.at.args):
        return
    equivalent = equivalent_signature(f"numpy.{short}")
    parameters = equivalent.parameters if equivalent is not None else None
    operands = takewhile(lambda p: p.kind == "array" and p.by_position and not p.variadic, parameters or ())
    written = dict(enumerate(zip(event.args, event.nodes)))
    for position, parameter in enumerate(operands):
        by_name = event.kwargs.get(parameter.name), event.keyword_nodes.get(parameter.name)
        yield *written.get(position, by_name), False
    for value, node in _refused(event):
        yield value, node, short in _VALUES


def _refused(event: LibraryCall) -> Iterator[tuple[Value | None, ir.Expr | None]]:
    """The arguments for further parameters that take arrays only."""
    names = refused_sequences(event.name)
    params = event.fact.params if names and event.fact is not None else ()
    positional = list(takewhile(lambda name: name[0] != "*", params))
    rest = next((name for name in params if name[0] == "*"), "")
    for position, (value, node) in enumerate(zip(event.args, event.nodes)):
        if (positional[position] if position < len(positional) else rest) in names:
            yield value, node
    for name in names:
        if name in event.kwargs:
            yield event.kwargs[name], event.keyword_nodes.get(name)


def _operand(value: Value | None, node: ir.Expr | None, *, counts: bool) -> SequenceOperand | None:
    """The argument, if it surely is a list or a tuple."""
    if node is None:
        return None
    if isinstance(value, TupleValue) and not value.names and not is_registered(value):
        return SequenceOperand(node, value, "a tuple", counts)
    if isinstance(value, ListValue) and not value.is_tuple and not value.slots.get("declared"):
        return SequenceOperand(node, value, "a list", counts)
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
