"""JAX413: a string or a function becomes a static argument; a list that ``jax.numpy`` does not take becomes an array.

Limitations: functions jitted in other files.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Fix
from flake8_jax.fixers._announced import ONE_SHAPE, decided
from flake8_jax.fixers._conditions import cannot_be_one_array, have_one_shape
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._jit_site import make_static
from flake8_jax.fixers._shared_conversions import conversion, shared_conversion
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.semantics.domain.joining import members_of
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    Const,
    External,
    FunctionValue,
    Static,
    TransformedValue,
    TupleValue,
    Value,
)
from flake8_jax.semantics.events.events import LibraryCall, RootMet, TransformCall
from flake8_jax.semantics.events.refused import ListIndex, SequenceOperation, StagedResult
from flake8_jax.semantics.events.sequence_operands import elements_of, sequence_operand


@fixer("non-array-argument")
def fix(
    event: TransformCall | LibraryCall | RootMet | SequenceOperation | StagedResult | ListIndex, source: FixSource
) -> Fix | None:
    if isinstance(event, (RootMet, SequenceOperation, StagedResult, ListIndex)):
        return None  # which objects arrive, and whether they have a hash, only the callers know
    if isinstance(event, LibraryCall):
        return _converted(event, source)
    function = event.operand
    if event.statics is None or not isinstance(function, FunctionValue):
        return None
    named = [p.name for p in function.fn.params if p.kind in ("positional", "kwonly")]
    positional = [p.name for p in function.fn.params if p.kind in ("positional", "posonly")]
    positions, names = event.statics
    given: list[tuple[str, Value]] = [(k, v) for k, v in event.kwargs.items() if k not in names]
    given += [(n, v) for i, (n, v) in enumerate(zip(positional, event.args)) if i not in positions]
    found = [name for name, value in given if all(_can_be_static(member) for member in members_of(value))]
    if not found:
        return None
    if not set(found) <= set(named) or function.scope.path != event.context.scope.path:
        raise Refused
    return make_static(source, function.fn, sorted(found, key=named.index))


def _converted(event: LibraryCall, source: FixSource) -> Fix | None:
    """``jnp.asarray`` around a list. In a run that passes an array it gives that array, as the function itself would."""
    operand = sequence_operand(event)
    if operand is None:
        return None
    node, imports = operand.node, Imports(source, event.at)
    if isinstance(operand.value, TupleValue) and not isinstance(node, (ir.Tuple, ir.List)):
        return None  # several results of a function: one of them was meant
    if operand.counts:
        return None
    elements = elements_of(operand.value)
    if cannot_be_one_array(elements):
        return None
    shared = shared_conversion(source, node)
    edits = conversion(source, node, imports.spell("jax.numpy.asarray"), shared)
    found = Fix("Convert it with `jnp.asarray`", "safe", (*edits, *imports.edits))
    return decided(found, safe=shared is None and have_one_shape(elements), otherwise=ONE_SHAPE)


def _can_be_static(value: Value) -> bool:
    """A string, a dtype or a function: it has a hash, and an equal one the next time."""
    if isinstance(value, Const):
        return isinstance(value.value, (str, bytes))
    if isinstance(value, Static):
        return value.kind in ("str", "dtype")
    return isinstance(value, (FunctionValue, BoundMethod, External, TransformedValue))
