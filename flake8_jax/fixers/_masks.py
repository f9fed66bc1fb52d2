"""Updates of the elements that a traced mask selects: ``x[mask] = 0`` becomes ``x = jnp.where(mask, 0, x)``.

JAX takes no traced mask as an index, not even in ``.at[…]``. ``jnp.where`` takes one of the array's own shape.

Limitations: values other than numbers that are written out; masks of fewer axes than the array.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.fixers._expressions import condition
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource
from flake8_jax.semantics.domain.values import Array, Value

_PER_ELEMENT = frozenset({"isnan", "isinf", "isfinite", "isneginf", "isposinf", "logical_not", "signbit"})
_OPERATORS = {"set": "", "add": "+", "multiply": "*", "divide": "/", "power": "**"}


def selected(
    source: FixSource, imports: Imports, target: ir.Subscript, base: Value | None, method: str, value: ir.Expr
) -> str | None:
    """The call of ``jnp.where`` that updates ``target``, as ``.at[…].method(value)`` would; None where it may do something
    else. base: the value of the array."""
    array, mask = target.value, target.index
    if not (isinstance(base, Array) and base.dtype == "float") or method not in _OPERATORS or not _is_number(value):
        return None
    if not _is_of_shape(source, mask, source.slice(array)):
        return None
    name, new = source.slice(array), source.argument(value)
    if method != "set":
        new = f"{name} {_OPERATORS[method]} {new}"
    return f"{imports.spell('jax.numpy.where')}({condition(source, mask, imports)}, {new}, {name})"


def _is_number(node: ir.Expr) -> bool:
    if isinstance(node, ir.UnaryOp) and node.op == "-":
        node = node.operand
    return isinstance(node, ir.Constant) and node.kind in ("int", "float")


def _is_of_shape(source: FixSource, mask: ir.Expr, array: str) -> bool:
    """Each element of the mask is computed of one element of the array."""
    if isinstance(mask, ir.Compare):
        sides = [mask.left, *mask.comparators]
        return len(sides) == 2 and all(_is_number(side) or source.slice(side) == array for side in sides)
    if isinstance(mask, ir.UnaryOp):
        return mask.op == "~" and _is_of_shape(source, mask.operand, array)
    if isinstance(mask, ir.BinOp):
        return mask.op in ("&", "|") and all(_is_of_shape(source, side, array) for side in (mask.left, mask.right))
    if not isinstance(mask, ir.Call) or len(mask.args) != 1:
        return False
    module, _, name = (Imports(source, mask).resolve(mask.func) or "").rpartition(".")
    return module == "jax.numpy" and name in _PER_ELEMENT and source.slice(mask.args[0].value) == array
