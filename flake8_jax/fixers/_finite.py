"""Expressions that may be computed although their value is not wanted: finite, with finite gradients, wherever their operands
are.

``jnp.where(x == 0, 1.0, jnp.sin(x) / x)`` computes 0 / 0 where x is 0. Its value is not taken, but its gradient is multiplied
by zero and added, and zero times NaN is NaN. ``jax.lax.cond`` computes one branch only.

Vocabulary
----------
finite      no division, root, logarithm or overflow of an exponential can make NaN or infinity of finite operands.

Limitations: sums, products and small powers count as finite, though they overflow at the end of the range of a dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.core import ir
from flake8_jax.fixers._expressions import ARRAY_METHODS, is_update
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._integers import is_integer

_FUNCTIONS = frozenset({
    "abs", "all", "any", "arange", "arctan", "argmax", "argmin", "argsort", "array", "asarray", "astype", "atan",
    "broadcast_to", "ceil", "clip", "concatenate", "conj", "cos", "cumsum", "diag", "dot", "einsum", "elu", "equal",
    "expand_dims", "eye", "flip", "floor", "full", "full_like", "gelu", "greater", "greater_equal", "identity", "imag",
    "invert", "isfinite", "isinf", "isnan", "leaky_relu", "less", "less_equal", "linspace", "logical_and", "logical_not",
    "logical_or", "logical_xor", "matmul", "max", "maximum", "mean", "min", "minimum", "moveaxis", "multiply", "negative",
    "nonzero", "not_equal", "one_hot", "ones", "ones_like", "outer", "pad", "prod", "ravel", "real", "relu", "relu6",
    "repeat", "reshape", "roll", "round", "searchsorted", "sigmoid", "sign", "silu", "sin", "softmax", "softplus", "sort",
    "square", "squeeze", "stack", "stop_gradient", "subtract", "add", "sum", "swapaxes", "swish", "take", "tanh", "tile",
    "trace", "transpose", "tril", "triu", "vdot", "vstack", "where", "zeros", "zeros_like", "hstack", "split",
})  # fmt: skip
"""Of ``jax.numpy``, ``jax.nn`` and ``jax.lax``."""
_MODULES = ("jax.numpy", "jax.nn", "jax.lax")
_UNSTEADY_METHODS = frozenset({"std", "get"})
_UNSTEADY_UPDATES = frozenset({"divide", "div", "power", "apply"})
_EXACT = frozenset({"+", "-", "*", "@", "&", "|", "^", "<<", ">>"})
_DIVIDING = frozenset({"/", "//", "%"})
_LARGEST_POWER = 8


def is_finite(node: ir.Expr, imports: Imports) -> bool:
    """The value and its gradients are finite wherever the operands are."""
    todo: list[ir.Expr] = [node]
    while todo:
        current = todo.pop()
        if isinstance(current, (ir.Name, ir.Constant, ir.Attribute)):
            if current is not node and (imports.resolve(current) or "").endswith((".inf", ".nan")):
                return False
            continue  # what it is read from was computed before
        answer = _OPERANDS.get(type(current))
        operands = answer(current, imports) if answer is not None else None
        if operands is None:
            return False
        todo += operands
    return True


_Operands = list[ir.Expr] | None
"""The expressions that have to be finite for the whole to be; None where that is not enough."""


def _of_operation(node: ir.BinOp, imports: Imports) -> _Operands:
    if node.op in _EXACT:
        return [node.left, node.right]
    if node.op in ("//", "%") and is_integer(imports.source, node):
        return [node.left, node.right]
    if node.op in _DIVIDING:
        return [node.left] if _is_positive_number(node.right) or _is_size(node.right) else None
    return [node.left] if node.op == "**" and _is_small_power(node.right) else None


def _is_positive_number(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and isinstance(node.value, (int, float)) and node.value > 0


def _is_size(node: ir.Expr) -> bool:
    """A number of elements or dimensions."""
    if isinstance(node, ir.Call):
        return isinstance(node.func, ir.Name) and node.func.id == "len"
    if isinstance(node, ir.Subscript):
        node = node.value
        return isinstance(node, ir.Attribute) and node.attr == "shape"
    return isinstance(node, ir.Attribute) and node.attr in ("size", "ndim")


def _is_small_power(node: ir.Expr) -> bool:
    value = node.value if isinstance(node, ir.Constant) else None
    return isinstance(value, (int, float)) and value in range(1, _LARGEST_POWER + 1)


def _of_call(node: ir.Call, imports: Imports) -> _Operands:
    if any(a.star for a in node.args):
        return None
    arguments = [a.value for a in node.args]
    name = imports.resolve(node.func)
    if name is not None:
        module, _, function = name.rpartition(".")
        if module == "jax.random":
            return arguments
        return arguments if module in _MODULES and function in _FUNCTIONS else None
    func = node.func
    if isinstance(func, ir.Name):
        return arguments if func.id in ("abs", "len", "max", "min", "float", "int") else None
    if not isinstance(func, ir.Attribute):
        return None
    if is_update(node):
        return None if func.attr in _UNSTEADY_UPDATES else [func.value, *arguments]
    return [func.value, *arguments] if func.attr in ARRAY_METHODS - _UNSTEADY_METHODS else None


_OPERANDS: dict[type, Callable[[Any, Imports], _Operands]] = {
    ir.BinOp: _of_operation,
    ir.Call: _of_call,
    ir.UnaryOp: lambda node, imports: [node.operand],
    ir.Compare: lambda node, imports: [node.left, *node.comparators],
    ir.BoolOp: lambda node, imports: node.values,
    ir.IfExp: lambda node, imports: [node.test, node.body, node.orelse],
    ir.Subscript: lambda node, imports: [node.value, node.index],
    ir.Slice: lambda node, imports: [part for part in (node.lower, node.upper, node.step) if part is not None],
    ir.Tuple: lambda node, imports: node.elts,
    ir.List: lambda node, imports: node.elts,
}
"""By the type of an expression: what has to be finite in it."""


# --- dtypes and shapes that are written out -------------------------------------------------------------------

_FLOATING = frozenset({
    "arccos", "arcsin", "arctan", "arctan2", "cos", "cosh", "exp", "expm1", "log", "log1p", "mean", "sigmoid", "sin", "sinc",
    "sinh", "softmax", "softplus", "sqrt", "std", "tan", "tanh", "var",
})  # fmt: skip
_FILLED = frozenset({"zeros", "ones", "empty", "full"})
Shape = tuple[int, ...]


def is_surely_real(node: ir.Expr, imports: Imports) -> bool:
    """The value is no integer, whatever its operands are."""
    if isinstance(node, ir.UnaryOp):
        return node.op in "+-" and is_surely_real(node.operand, imports)
    if isinstance(node, ir.BinOp):
        sides = is_surely_real(node.left, imports) or is_surely_real(node.right, imports)
        return node.op == "/" or (node.op in ("+", "-", "*", "**", "%", "//", "@") and sides)
    if isinstance(node, ir.Call):
        module, _, function = (imports.resolve(node.func) or "").rpartition(".")
        return module in _MODULES and function in _FLOATING
    return isinstance(node, ir.Constant) and node.kind == "float"


def written_shape(node: ir.Expr, imports: Imports) -> Shape | None:
    """The shape of a number, or of an array whose shape is written out; None for any other expression."""
    if isinstance(node, ir.UnaryOp):
        return written_shape(node.operand, imports)
    if isinstance(node, ir.Constant):
        return () if node.kind in ("int", "float", "bool", "complex") else None
    if isinstance(node, ir.BinOp) and node.op != "@":
        sides = [written_shape(side, imports) for side in (node.left, node.right)]
        return max((s for s in sides if s is not None), key=len) if None not in sides and () in sides else None
    name = imports.resolve(node.func) if isinstance(node, ir.Call) else None
    module, _, function = (name or "").rpartition(".")
    if not isinstance(node, ir.Call) or module not in ("jax.numpy", "numpy") or not node.args or node.args[0].keyword:
        return None
    first = node.args[0].value
    if function in _FILLED:
        return _dimensions(first)
    if function in ("array", "asarray"):
        return (len(first.elts),) if isinstance(first, (ir.List, ir.Tuple)) and _are_numbers(first.elts) else None
    return None


def _are_numbers(nodes: list[ir.Expr]) -> bool:
    return all(isinstance(n.operand if isinstance(n, ir.UnaryOp) else n, ir.Constant) for n in nodes)


def _dimensions(node: ir.Expr) -> Shape | None:
    elements = node.elts if isinstance(node, (ir.Tuple, ir.List)) else [node]
    sizes = [e.value for e in elements if isinstance(e, ir.Constant) and isinstance(e.value, int)]
    return tuple(sizes) if len(sizes) == len(elements) else None
