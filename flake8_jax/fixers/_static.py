"""Which operands of ``and`` and ``or`` are plain Python values: these stay with Python, and JAX gets the others.

Vocabulary
----------
static      not traced, in every run: shapes, lengths, types, literals, static arguments, and values made of them.
leading     an operand in front of the first one that is known to be traced. Python has asked for its truth, and went on.

Limitations: attributes of objects, variables, and parameters with a default are static only if they are leading.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource
from flake8_jax.fixers._transformed import static_parameters

_STATIC_ATTRIBUTES = frozenset({"shape", "ndim", "size", "dtype"})
_STATIC_CALLS = frozenset({"len", "isinstance", "issubclass", "hasattr", "callable"})
_ASKING = frozenset({"is", "is not"})


def split(source: FixSource, node: ir.BoolOp, traced: ir.Node | None) -> tuple[list[ir.Expr], list[ir.Expr]]:
    """The operands that are static, and the others, both in their order. traced: the first operand that surely is traced, or a
    part of it."""
    first = next((i for i, v in enumerate(node.values) if traced is not None and _holds(v, traced)), 0)
    known = [i for i, value in enumerate(node.values) if is_static(source, value)]
    static = [i for i in range(len(node.values)) if i < first or (i in known and not 0 < i == first)]
    rest = [value for i, value in enumerate(node.values) if i not in static]
    return [node.values[i] for i in static], rest


def _holds(node: ir.Expr, part: ir.Node) -> bool:
    return node.start <= part.start and part.end <= node.end


def decides_shapes(node: ir.Expr) -> bool:
    """A static test on which the code after it may lean: of a type, a shape, or of whether something is there."""
    return any(
        (isinstance(part, ir.Attribute) and part.attr in _STATIC_ATTRIBUTES)
        or (isinstance(part, ir.Name) and part.id in _STATIC_CALLS)
        or (isinstance(part, ir.Compare) and bool(_ASKING & set(part.ops)))
        for part in walk(node)
    )


def is_static(source: FixSource, node: ir.Expr) -> bool:
    """The value of an expression is a plain Python value in every run."""
    answer = _STATIC.get(type(node))
    return answer is not None and answer(source, node)


def _all(source: FixSource, nodes: list[ir.Expr]) -> bool:
    return all(is_static(source, node) for node in nodes)


def _compare(source: FixSource, node: ir.Compare) -> bool:
    return set(node.ops) <= _ASKING or _all(source, [node.left, *node.comparators])


def _call(source: FixSource, node: ir.Call) -> bool:
    if not isinstance(node.func, ir.Name) or node.func.id not in _STATIC_CALLS:
        return False
    return Imports(source, node).resolve(node.func) is None


def _name(source: FixSource, node: ir.Name) -> bool:
    around = source.functions(node)
    above = source.parent(around[0]) if around else None
    if not isinstance(above, ir.FunctionDef):
        return False
    return node.id in static_parameters(source, above) and not _is_bound(around[0], node.id)


def _is_bound(function: ir.Function, name: str) -> bool:
    """Whether the function gives a parameter another value."""
    targets = (ir.Assign, ir.AugAssign, ir.AnnAssign, ir.For, ir.NamedExpr)
    for statement in function.body:
        for node in walk(statement):
            if isinstance(node, targets):
                bound = node.targets if isinstance(node, ir.Assign) else [node.target]
                if any(isinstance(n, ir.Name) and n.id == name for target in bound for n in walk(target)):
                    return True
    return False


_STATIC: dict[type, Callable[[FixSource, Any], bool]] = {
    ir.Constant: lambda source, node: True,
    ir.Name: _name,
    ir.Attribute: lambda source, node: node.attr in _STATIC_ATTRIBUTES,
    ir.Subscript: lambda source, node: isinstance(node.value, ir.Attribute) and is_static(source, node.value),
    ir.UnaryOp: lambda source, node: is_static(source, node.operand),
    ir.BinOp: lambda source, node: _all(source, [node.left, node.right]),
    ir.BoolOp: lambda source, node: _all(source, node.values),
    ir.Compare: _compare,
    ir.Call: _call,
}
"""By the type of an expression: whether it is static."""
