"""JAX413: a string or a function becomes a static argument. Not modelled: functions jitted in other files."""

from __future__ import annotations

from flake8_jax.core.findings import Fix
from flake8_jax.fixers._jit_site import make_static
from flake8_jax.fixers._source import FixSource, Refused, repair
from flake8_jax.semantics.domain.joining import members_of
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    Const,
    External,
    FunctionValue,
    Static,
    TransformedValue,
    Value,
)
from flake8_jax.semantics.events.events import LibraryCall, TransformCall


@repair("non-array-argument")
def fix(event: TransformCall | LibraryCall, source: FixSource) -> Fix | None:
    if isinstance(event, LibraryCall):
        return None
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


def _can_be_static(value: Value) -> bool:
    """A string, a dtype or a function: it has a hash, and an equal one the next time."""
    if isinstance(value, Const):
        return isinstance(value.value, (str, bytes))
    if isinstance(value, Static):
        return value.kind in ("str", "dtype")
    return isinstance(value, (FunctionValue, BoundMethod, External, TransformedValue))
