"""Conditions that Python knows while JAX traces: flags, ``x is None``, comparisons of strings and shapes.

Vocabulary
----------
host test   an expression whose value is a Python bool on every path, whatever the caller passes, or on the path that runs.

Limitations: comparisons of numbers count only if the code shows that no caller may pass an array for them.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.values import Const, Instance, Static, Tree, UnionValue, Unknown, Value, known_elements

CHOOSING = {
    "jax.numpy.where": ("condition", "x", "y"),
    "jax.lax.select": ("pred", "on_true", "on_false"),
    "jax.numpy.select": ("condlist", "choicelist", "default"),
}
"""Functions that choose between values, both of which are computed: the parameters of the condition and of the values."""
_TESTS = (ir.Compare, ir.BoolOp, ir.Attribute)
_ASKING = frozenset({"isinstance", "issubclass", "hasattr", "callable"})


def is_host_test(value: Value | None, node: Any, function: ir.Function | None) -> bool:
    """A condition, or each of a list of conditions, is a Python bool. function: in which it stands."""
    elements = known_elements(value) if value is not None else None
    if elements is not None:
        nodes = node.elts if isinstance(node, (ir.List, ir.Tuple)) and len(node.elts) == len(elements) else []
        return bool(nodes) and all(is_host_test(v, n, function) for v, n in zip(elements, nodes))
    written = written_as(node, function)
    if _asks_python(written):
        return True
    # for a parameter that is only declared to be a bool, some caller may pass an array
    compared = isinstance(written, _TESTS) and isinstance(value, Static) and value.kind == "bool"
    return (compared or is_python_bool(value)) and not _compares_numbers(written)


def is_python_bool(value: Value | None) -> bool:
    """The value is a Python bool on the path that runs."""
    if isinstance(value, UnionValue):
        return all(is_python_bool(member) for member in value.members)
    if isinstance(value, Const):
        return type(value.value) is bool
    return isinstance(value, Unknown) and value.doubt is not None


def written_as(node: Any, function: ir.Function | None) -> Any:
    """The expression itself, or the one that the only assignment to a variable of the function binds to it."""
    if not isinstance(node, ir.Name) or function is None or any(p.name == node.id for p in function.params):
        return node
    found = [
        n.value
        for statement in function.body
        for n in walk(statement)
        if isinstance(n, ir.Assign) and any(isinstance(t, ir.Name) and t.id == node.id for t in n.targets)
    ]
    return found[0] if len(found) == 1 else node


def is_leaf(node: Any, bound: dict[str, Value] | None) -> bool:
    """The expression reads a field of an object that is a pytree, whose leaves another caller may trace. bound: the arguments
    of the function in which it stands."""
    if not isinstance(node, ir.Attribute) or _is_shape(node):
        return False
    owner = _value_of(node.value, bound or {})
    if not isinstance(owner, Instance):
        return owner is None or isinstance(owner, (Unknown, Tree))
    return "pytree" in owner.cls.traits and node.attr not in owner.cls.static_names


def _value_of(node: Any, bound: dict[str, Value]) -> Value | None:
    if isinstance(node, ir.Name):
        return bound.get(node.id)
    owner = _value_of(node.value, bound) if isinstance(node, ir.Attribute) else None
    found = owner.slots.get(node.attr) if isinstance(owner, Instance) else None
    return found if isinstance(found, Value) else None


def _asks_python(node: Any) -> bool:
    """An expression that gives a Python bool whatever its operands are."""
    if isinstance(node, ir.Compare) and len(node.ops) == 1:
        operands = [node.left, node.comparators[0]]
        if node.ops[0] in ("is", "is not") or any(map(_is_shape, operands)):
            return True
        return node.ops[0] in ("==", "!=") and any(
            isinstance(o, ir.Constant) and type(o.value) is str for o in operands
        )
    if isinstance(node, ir.UnaryOp):
        return node.op == "not"
    return isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id in _ASKING


def _is_shape(node: ir.Expr) -> bool:
    """A rank or a size: ``x.ndim``, ``x.shape[0]``, ``len(x.shape)``."""
    if isinstance(node, ir.Subscript):
        return _is_shape(node.value)
    if isinstance(node, ir.Call):
        return isinstance(node.func, ir.Name) and node.func.id == "len"
    return isinstance(node, ir.Attribute) and node.attr in ("ndim", "shape")


def _compares_numbers(node: Any) -> bool:
    """A comparison of variables, or of what is computed of them: another caller may pass an array."""
    if not isinstance(node, ir.Compare):
        return False
    return any(_is_variable(part) for operand in (node.left, *node.comparators) for part in _terms(operand))


def _terms(node: Any) -> list[Any]:
    if isinstance(node, ir.BinOp):
        return [*_terms(node.left), *_terms(node.right)]
    return _terms(node.operand) if isinstance(node, ir.UnaryOp) else [node]


def _is_variable(node: Any) -> bool:
    return not isinstance(node, (ir.Constant, ir.Attribute)) and not (isinstance(node, ir.Name) and node.id.isupper())
