"""Calling the JAX equivalent of a NumPy or SciPy function: does it take these arguments, and which of them have to change?

Vocabulary
----------
fitting     the equivalent takes the call as it will stand, for certain.
refused     the equivalent surely raises: no fix is offered.

``jax.numpy`` takes arrays only, where NumPy takes lists of numbers as well: those become arrays. A table says what the
equivalent takes; it was made by calling it (``knowledge.equivalents``).

Limitations: functions that the table does not hold fit nothing for certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, Refused
from flake8_jax.fixers._staging import is_surely_array
from flake8_jax.knowledge import load
from flake8_jax.knowledge.equivalents import EquivalentParameter, equivalent_signature
from flake8_jax.semantics.domain.values import (
    Array,
    Const,
    GeneratorValue,
    HostArray,
    ListValue,
    Static,
    Tree,
    TupleValue,
    Value,
    holds_tracer,
)

_NO_DTYPES = frozenset({"object", "str", "bytes"})


@dataclass
class EquivalentCall:
    """A call of the equivalent under construction. ``fits`` turns false with the first argument that is not known to fit.
    takes_empty: the equivalent takes arrays without elements wherever the function does."""

    source: FixSource
    imports: Imports
    edits: list[Edit] = field(default_factory=list)
    fits: bool = True
    takes_empty: bool = True

    def wrap(self, node: ir.Expr) -> None:
        """Make an array of an argument."""
        opening = f"{self.imports.spell('jax.numpy.asarray')}("
        self.edits += [Edit(node.start, node.start, opening), Edit(node.end, node.end, ")")]


def equivalent_call(
    source: FixSource, call: ir.Call, imports: Imports, name: str, equivalent: str, values: Mapping[int, Value]
) -> EquivalentCall:
    """The call with the equivalent in place of the function. name: the function's canonical name; values: what is known of
    arguments, by identity of their expressions.

    Raises:
        Refused: the equivalent would raise, a comment is in the way, or it cannot be spelled.
    """
    if not isinstance(call.func, (ir.Name, ir.Attribute)) or source.comments(call.func.start, call.func.end):
        raise Refused
    made = EquivalentCall(source, imports, [Edit(call.func.start, call.func.end, imports.spell(equivalent))])
    _refuse_data_dependent(call, equivalent, values)
    known = equivalent_signature(name)
    if known is None:
        made.fits = False
        for argument in call.args[:1]:
            _array(made, argument.value, values, argument.star)
        return made
    if known.parameters is None:
        raise Refused
    made.takes_empty = known.takes_empty
    position = 0
    for argument in call.args:
        if argument.star == 2:
            raise Refused
        parameter = known.named(argument.keyword) if argument.keyword else known.at(position)
        position += not argument.keyword
        if parameter is None:
            raise Refused
        _argument(made, argument, parameter, values)
        if argument.star:
            made.fits = False
            break
    return made


def _refuse_data_dependent(call: ir.Call, equivalent: str, values: Mapping[int, Value]) -> None:
    """The shape of the result would depend on traced values, or a shape be traced."""
    fact = load().function(equivalent)
    if fact is None:
        return
    if fact.data_dependent == "always" or (fact.data_dependent == "one-argument" and len(call.args) == 1):
        raise Refused
    static = {*fact.shape_params, *fact.axis_params, *([fact.data_dependent_on] if fact.data_dependent_on else [])}
    positional = [p for p in fact.params if p != "*"]
    for position, argument in enumerate(call.args):
        name = argument.keyword or (positional[position] if position < len(positional) else None)
        value = values.get(id(argument.value))
        if name in static and value is not None and holds_tracer(value):
            raise Refused


def _argument(
    made: EquivalentCall, argument: ir.Argument, parameter: EquivalentParameter, values: Mapping[int, Value]
) -> None:
    node, value = argument.value, values.get(id(argument.value))
    if parameter.choices:
        _chosen(made, node, parameter.choices, value)
    elif parameter.kind == "array":
        _array(made, node, values, argument.star)
    elif parameter.kind == "sequence":
        _sequence(made, node, value, values)
    elif parameter.kind == "number":
        if _is_sequence(node, value):
            raise Refused
        made.fits = made.fits and value is not None and isinstance(value, (Const, Static, Array, HostArray))
    elif parameter.kind == "?":
        made.fits = False
    elif parameter.kind == "nested" and _is_generator(node, value):
        raise Refused
    elif parameter.name == "dtype":
        _dtype(made, node)


def _chosen(made: EquivalentCall, node: ir.Expr, choices: frozenset[str], value: Value | None) -> None:
    """An option of which the equivalent takes some values only."""
    if isinstance(node, ir.UnaryOp) and node.op == "-" and isinstance(node.operand, ir.Constant):
        node = node.operand
    if isinstance(node, ir.Constant):
        constant: object = node.value
    elif isinstance(value, Const):
        constant = value.value
        made.fits = False  # another caller may give another one
    elif isinstance(value, (Array, HostArray, ListValue, Tree, TupleValue)):
        raise Refused
    else:
        made.fits = False
        return
    word = "number" if isinstance(constant, (int, float)) and not isinstance(constant, bool) else repr(constant)
    if word not in choices:
        raise Refused


def _dtype(made: EquivalentCall, node: ir.Expr) -> None:
    if isinstance(node, (ir.List, ir.Tuple)) or (isinstance(node, ir.Name) and node.id in _NO_DTYPES):
        raise Refused
    if (
        isinstance(node, ir.Constant)
        and isinstance(node.value, str)
        and node.value[:1] in ("O", "o", "U", "S", "M", "V")
    ):
        raise Refused


def _array(made: EquivalentCall, node: ir.Expr, values: Mapping[int, Value], star: int = 0) -> None:
    """An argument that has to be an array or a number."""
    value = values.get(id(node))
    if _is_generator(node, value):
        raise Refused
    if _is_sequence(node, value):
        if star:
            raise Refused
        made.wrap(node)
        # Elsewhere a name may hold an array, of which ``asarray`` makes what it is.
        return
    made.fits = made.fits and not star and _is_surely_single(made.source, node, value)


def _sequence(made: EquivalentCall, node: ir.Expr, value: Value | None, values: Mapping[int, Value]) -> None:
    """An argument that has to be a sequence of arrays."""
    if _is_generator(node, value):
        raise Refused
    elements = _elements(value)
    if isinstance(node, (ir.List, ir.Tuple)):
        _written_sequence(made, node, elements)
        return
    if elements is None or not all(isinstance(element, (Array, HostArray, Const, Static)) for element in elements):
        made.fits = made.fits and isinstance(value, (Array, Tree)) and holds_tracer(value)
        if elements is not None and any(isinstance(element, (ListValue, TupleValue)) for element in elements):
            raise Refused


def _written_sequence(made: EquivalentCall, node: ir.List | ir.Tuple, known: tuple[Value, ...] | None) -> None:
    """A sequence that is written out: each element has to be an array. known: their values up to the first ``*``."""
    for position, element in enumerate(node.elts):
        if isinstance(element, ir.Starred):
            made.fits = False
            known = None
            continue
        inner = known[position] if known is not None and position < len(known) else None
        _array(made, element, {id(element): inner} if inner is not None else {})


def _elements(value: Value | None) -> tuple[Value, ...] | None:
    if isinstance(value, TupleValue):
        return value.elts
    if isinstance(value, ListValue):
        known = value.known()
        return known if known is not None else (value.slots["*"],) if value.slots.get("*") is not None else None
    return None


def _is_generator(node: ir.Expr, value: Value | None) -> bool:
    return isinstance(value, GeneratorValue) or (isinstance(node, ir.Comprehension) and node.kind != "list")


def _is_sequence(node: ir.Expr, value: Value | None) -> bool:
    return isinstance(node, (ir.List, ir.Tuple, ir.Comprehension)) or isinstance(value, (ListValue, TupleValue))


def _is_surely_single(source: FixSource, node: ir.Expr, value: Value | None) -> bool:
    """An array or a number in every run, as far as can be told: no list."""
    if isinstance(node, ir.Constant):
        return True
    if isinstance(value, (Array, HostArray)):
        return True
    if isinstance(value, Tree):
        return holds_tracer(value)
    if isinstance(value, Const):
        return value.value is None or isinstance(value.value, (bool, int, float, complex))
    if isinstance(value, Static):
        return value.kind in ("int", "float", "bool")
    return is_surely_array(source, node)
