"""Conditions that Python knows while JAX traces: flags, ``x is None``, comparisons of strings and shapes.

Vocabulary
----------
host test   an expression whose value is a Python bool on every path, whatever the caller passes, or on the path that runs.

Limitations: comparisons of numbers count only if the code shows that no caller may pass an array for them.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.values import Const, Static, UnionValue, Unknown, Value, known_elements

CHOOSING = {
    "jax.numpy.where": ("condition", "x", "y"),
    "jax.lax.select": ("pred", "on_true", "on_false"),
    "jax.numpy.select": ("condlist", "choicelist", "default"),
}
"""Functions that choose between values, both of which are computed: the parameters of the condition and of the values."""
_ASKING = frozenset({"isinstance", "issubclass", "hasattr", "callable"})


def is_host_test(value: Value | None, node: Any, function: ir.Function | None) -> bool:
    """A condition, or each of a list of conditions, is a Python bool. function: in which it stands."""
    elements = known_elements(value) if value is not None else None
    if elements is not None:
        nodes = node.elts if isinstance(node, (ir.List, ir.Tuple)) and len(node.elts) == len(elements) else []
        return bool(nodes) and all(is_host_test(v, n, function) for v, n in zip(elements, nodes))
    return _asks_python(node) or (is_python_bool(value) and not _compares_numbers(node, function))


def is_python_bool(value: Value | None) -> bool:
    """The value is a Python bool on the path that runs."""
    if isinstance(value, UnionValue):
        return all(is_python_bool(member) for member in value.members)
    if isinstance(value, Const):
        return type(value.value) is bool
    if isinstance(value, Static):
        return value.kind == "bool"
    return isinstance(value, Unknown) and value.doubt is not None


def _asks_python(node: Any) -> bool:
    """An expression that gives a Python bool whatever its operands are."""
    if isinstance(node, ir.Compare) and len(node.ops) == 1:
        if node.ops[0] in ("is", "is not"):
            return True
        operands = [node.left, node.comparators[0]]
        return node.ops[0] in ("==", "!=") and any(isinstance(o, ir.Constant) and type(o.value) is str for o in operands)
    if isinstance(node, ir.UnaryOp):
        return node.op == "not"
    return isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id in _ASKING


def _compares_numbers(node: Any, function: ir.Function | None) -> bool:
    """A comparison of a parameter, or of a variable, with another number: another caller may pass an array."""
    if not isinstance(node, ir.Compare):
        return False
    typed = {p.name for p in function.params if isinstance(p.annotation, ir.Name)} if function is not None else set()
    operands = [node.left, *node.comparators]
    return any(isinstance(operand, ir.Name) and operand.id not in typed and not operand.id.isupper() for operand in operands)
