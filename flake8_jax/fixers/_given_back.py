"""What callers do with the array that a function returns.

Vocabulary
----------
written     a caller assigns to an item of the result in place, which no JAX array takes: the function was meant to return an
            array of NumPy.

Limitations: methods, results that a caller keeps in an object or hands to another function.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import names, scope_of
from flake8_jax.fixers._names import target_names
from flake8_jax.fixers._source import FixSource

_DEPTH = 4


def is_written_by_callers(source: FixSource, array: ir.Name) -> bool:
    """The function around returns the array, and a caller writes into it."""
    around = source.functions(array)
    return bool(around) and scope_of(source, array) is around[0] and _is_written(source, around[0], array.id, _DEPTH)


def _is_written(source: FixSource, function: ir.Function, name: str, depth: int) -> bool:
    definition = source.parent(function)
    if not depth or source.program is None or not isinstance(definition, ir.FunctionDef):
        return False
    returned = (n.value for n in walk(definition) if isinstance(n, ir.Return) and n.value is not None)
    if not any(_holds(value, name) for value in returned):
        return False
    for use in source.program.uses(source, definition) or []:
        call = use.source.parent(use.node)
        if isinstance(call, ir.Call) and call.func is use.node and _writes_into(use.source, call, depth - 1):
            return True
    return False


def _holds(value: ir.Expr, name: str) -> bool:
    parts = value.elts if isinstance(value, ir.Tuple) else [value]
    return any(isinstance(part, ir.Name) and part.id == name for part in parts)


def _writes_into(source: FixSource, call: ir.Call, depth: int) -> bool:
    """The function around a call writes into its result, or returns it to one that does."""
    statement, around = source.statement(call), source.functions(call)
    if isinstance(statement, ir.Return) and statement.value is call and around:
        return _returns_to_writer(source, around[0], depth)
    if not isinstance(statement, ir.Assign) or statement.value is not call:
        return False
    bound = {name for target in statement.targets for name in target_names(target)}
    if any(_is_item_assigned(source, node) for name in bound for node in names(source, name) if node.start > call.end):
        return True
    return bool(around) and any(_is_written(source, around[0], name, depth) for name in sorted(bound))


def _returns_to_writer(source: FixSource, function: ir.Function, depth: int) -> bool:
    definition = source.parent(function)
    if not depth or source.program is None or not isinstance(definition, ir.FunctionDef):
        return False
    calls = ((use, use.source.parent(use.node)) for use in source.program.uses(source, definition) or [])
    return any(
        isinstance(call, ir.Call) and call.func is use.node and _writes_into(use.source, call, depth - 1)
        for use, call in calls
    )


def _is_item_assigned(source: FixSource, node: ir.Name) -> bool:
    """``node[…] = …`` or ``node[…] += …``."""
    item = source.parent(node)
    if not isinstance(item, ir.Subscript) or item.value is not node:
        return False
    statement = source.parent(item)
    if isinstance(statement, ir.Assign):
        return any(target is item for target in statement.targets)
    return isinstance(statement, ir.AugAssign) and statement.target is item
