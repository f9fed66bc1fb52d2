"""What a traced function returns: JAX takes arrays, numbers and pytrees of those.

Limitations: a function with several ``return`` statements, of which the place is not told.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.semantics.domain.classes import is_stub
from flake8_jax.semantics.domain.code import all_statements
from flake8_jax.semantics.domain.signatures import underlying
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    Const,
    DictValue,
    External,
    FunctionValue,
    GeneratorValue,
    ListValue,
    TransformedValue,
    TupleValue,
    Value,
)
from flake8_jax.semantics.events.refused import StagedResult
from flake8_jax.semantics.machine.core import Machine

_COMPILING = frozenset({"jax.jit", "jax.pmap", "jax.vmap"})
_SUSPECT = (BoundMethod, External, FunctionValue, GeneratorValue)


def track_result(m: Machine, tv: TransformedValue, result: Value) -> None:
    """Tell the rules what ``jit`` or ``vmap`` gets from its function, if that is more than arrays."""
    function = underlying(tv.operand)
    if tv.name not in _COMPILING or not isinstance(function, FunctionValue) or not m.bus.wants(StagedResult):
        return
    if function.altered or function.fn.is_generator or is_stub(function.fn) or not _is_suspect(result):
        return
    returned = _returned(function.fn)
    context = m.path.context(function.scope if returned is not None else tv.site.scope)
    m.bus.emit(StagedResult(context, returned if returned is not None else tv.site, tv.name, result))


def _is_suspect(value: Value, depth: int = 3) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, str)
    if depth and isinstance(value, TupleValue):
        return any(_is_suspect(element, depth - 1) for element in value.elts)
    if depth and isinstance(value, ListValue):
        return any(_is_suspect(element, depth - 1) for element in value.known() or ())
    if depth and isinstance(value, DictValue):
        return any(_is_suspect(item, depth - 1) for _, item in value.items())
    return isinstance(value, _SUSPECT)


def _returned(fn: ir.Function) -> ir.Expr | None:
    """The only expression that the function returns."""
    found = [n for n in all_statements(fn.body) if isinstance(n, ir.Return) and n.value is not None]
    return found[0].value if len(found) == 1 else None
