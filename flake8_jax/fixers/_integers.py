"""Expressions whose value is an integer, or an array of integers, as far as the text of a function shows.

No division makes NaN of integers, and they have no gradient: both branches of a selection may be computed.

Limitations: parameters and attributes are unknown, and so are the results of the project's functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.core import ir
from flake8_jax.fixers._callers import binders, scope_of
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource

_MODULES = ("jax.numpy", "jax.lax", "jax.random", "numpy")
_COUNTING = frozenset({
    "argmax", "argmin", "argsort", "axis_index", "count_nonzero", "digitize", "flatnonzero", "nonzero", "randint",
    "searchsorted",
})  # fmt: skip
_DTYPES = frozenset({f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} | {"int_"})
_KEEPING = frozenset({
    "abs", "broadcast_to", "clip", "concatenate", "cumsum", "flip", "max", "maximum", "min", "minimum", "mod", "prod", "ravel",
    "remainder", "repeat", "reshape", "roll", "sort", "squeeze", "sum", "take", "tile", "transpose", "arange",
})  # fmt: skip
"""Functions and methods that make integers of integers alone."""
_FILLED = {"zeros": 1, "ones": 1, "full": 2, "empty": 1, "array": 1, "asarray": 1}
"""Functions that take a dtype, by its position."""
_EXACT = frozenset({"+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"})
MOST_STEPS = 100
"""An answer that takes more steps is no."""


def is_integer(source: FixSource, node: ir.Expr) -> bool:
    return _Judge(source).holds(node)


class _Judge:
    def __init__(self, source: FixSource) -> None:
        self._source = source
        self._open: set[str] = set()
        self._steps = 0

    def holds(self, node: ir.Expr) -> bool:
        self._steps += 1
        answer = _ANSWERS.get(type(node))
        return self._steps <= MOST_STEPS and answer is not None and answer(self, node)

    def constant(self, node: ir.Constant) -> bool:
        return node.kind == "int"

    def operation(self, node: ir.BinOp) -> bool:
        return node.op in _EXACT and self.holds(node.left) and self.holds(node.right)

    def sign(self, node: ir.UnaryOp) -> bool:
        return node.op != "not" and self.holds(node.operand)

    def choice(self, node: ir.IfExp) -> bool:
        return self.holds(node.body) and self.holds(node.orelse)

    def attribute(self, node: ir.Attribute) -> bool:
        return node.attr in ("size", "ndim") or (node.attr == "T" and self.holds(node.value))

    def item(self, node: ir.Subscript) -> bool:
        if isinstance(node.value, ir.Attribute) and node.value.attr == "shape":
            return not isinstance(node.index, (ir.Slice, ir.Tuple))
        return self.holds(node.value)

    def call(self, node: ir.Call) -> bool:
        func = node.func
        name = Imports(self._source, node).resolve(func)
        if name is not None:
            module, _, function = name.rpartition(".")
            return module in _MODULES and not any(a.star for a in node.args) and self._function(function, node)
        if isinstance(func, ir.Name):
            return func.id in ("len", "int")
        return isinstance(func, ir.Attribute) and self._method(func, [argument.value for argument in node.args])

    def _function(self, name: str, node: ir.Call) -> bool:
        """A call of a function of JAX or NumPy."""
        if name in _COUNTING or name in _DTYPES:
            return True
        if name in _FILLED:
            dtype = self._dtype(node, _FILLED[name])
            return dtype is not None and self._is_dtype(dtype)
        arguments = [argument.value for argument in node.args]
        if not arguments or any(argument.keyword for argument in node.args):
            return False
        if name == "where":
            return len(arguments) == 3 and all(map(self.holds, arguments[1:]))
        return name in _KEEPING and all(map(self.holds, arguments))

    def _method(self, func: ir.Attribute, arguments: list[ir.Expr]) -> bool:
        if func.attr == "astype":
            return len(arguments) == 1 and self._is_dtype(arguments[0])
        return func.attr in _KEEPING and self.holds(func.value)

    def _dtype(self, node: ir.Call, position: int) -> ir.Expr | None:
        named = next((a.value for a in node.args if a.keyword == "dtype"), None)
        if named is not None or len(node.args) <= position or node.args[position].keyword:
            return named
        return node.args[position].value

    def _is_dtype(self, node: ir.Expr) -> bool:
        if isinstance(node, ir.Name) and node.id == "int":
            return True
        module, _, name = (Imports(self._source, node).resolve(node) or "").rpartition(".")
        return module in ("jax.numpy", "numpy") and name in _DTYPES

    def name(self, node: ir.Name) -> bool:
        """Every statement that binds the variable gives it an integer."""
        owner = scope_of(self._source, node)
        if node.id in self._open:
            return True
        if owner is None or any(p.name == node.id for p in owner.params):
            return owner is not None and self._is_rebound(node, owner)
        bound = binders(self._source, owner, node.id)
        self._open.add(node.id)
        try:
            return bool(bound) and all(self._binds(statement, node.id) for statement in bound)
        finally:
            self._open.discard(node.id)

    def _is_rebound(self, node: ir.Name, owner: ir.Function) -> bool:
        """A parameter that the first statement of its function makes an integer, and no other one binds."""
        bound = binders(self._source, owner, node.id)
        first = owner.body[0] if owner.body else None
        return len(bound) == 1 and bound[0] is first and node.start > first.end and self._binds(first, node.id)

    def _binds(self, statement: ir.Stmt, name: str) -> bool:
        if isinstance(statement, ir.Assign):
            plain = all(isinstance(target, ir.Name) for target in statement.targets)
            return plain and self.holds(statement.value)
        if isinstance(statement, ir.AugAssign):
            return isinstance(statement.target, ir.Name) and statement.op in _EXACT and self.holds(statement.value)
        if isinstance(statement, ir.For) and isinstance(statement.target, ir.Name):
            return isinstance(statement.iter, ir.Call) and getattr(statement.iter.func, "id", "") == "range"
        return False


_ANSWERS: dict[type, Callable[[_Judge, Any], bool]] = {
    ir.Constant: _Judge.constant,
    ir.BinOp: _Judge.operation,
    ir.UnaryOp: _Judge.sign,
    ir.IfExp: _Judge.choice,
    ir.Attribute: _Judge.attribute,
    ir.Subscript: _Judge.item,
    ir.Call: _Judge.call,
    ir.Name: _Judge.name,
}
"""By the type of an expression: whether it is an integer."""
