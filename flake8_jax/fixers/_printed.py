"""What ``jax.debug.print`` makes of the values that it is given: traced ones are printed, others become arrays first."""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.findings import Fix
from flake8_jax.fixers._announced import NEVER_RUN, NO_EXPORT, PRINTED_ARRAYS, decided
from flake8_jax.fixers._callers import binders, scope_of
from flake8_jax.fixers._comments import comments_above
from flake8_jax.fixers._conditions import is_surely_traced, may_be_exported, may_be_traced_alone
from flake8_jax.fixers._source import Comment, FixSource, Refused
from flake8_jax.semantics.domain.values import ClassValue, Const, External, Static, TupleValue, Value

_LARGEST = 2**31 - 1
_ENOUGH = 1 << 64
_OF_TRACING = re.compile(
    r"\b(?:re-?)?trac(?:ing|ed|er|ers)\b|\b(?:re-?)?compil\w*|side[ _-]?effect|\b(?:im)?pure\b", re.IGNORECASE
)
"""Code of that kind prints to show what tracing does."""
_INSPECTING = frozenset({"type", "id", "hash", "vars", "dir"})


def decided_print(fix: Fix, source: FixSource, nodes: list[ir.Expr]) -> Fix:
    """The fix, safe where the fields are traced in every run (or small numbers that say something of a traced array)."""
    traced = [is_surely_traced(source, node) for node in nodes]
    certain = any(traced) and all(t or _is_small(source, node) for t, node in zip(traced, nodes, strict=True))
    if certain and may_be_exported(source):
        return decided(fix, safe=False, otherwise=NO_EXPORT)
    if certain and may_be_traced_alone(source):
        return decided(fix, safe=False, otherwise=NEVER_RUN)
    return decided(fix, safe=certain, otherwise=PRINTED_ARRAYS)


def refuse_demonstration(source: FixSource, call: ir.Call) -> None:
    """Raises Refused for a ``print`` that is there to show tracers, or when JAX traces: the text of the call, a comment in
    the function around it, or that function's name, says so."""
    around = source.functions(call)
    name = around[0].name.replace("_", " ") if around and not around[0].is_lambda else ""
    said = [name, source.slice(call)]
    if around:
        said += [comment.text for comment in source.comments(around[0].body[0].start, around[0].body[-1].end)]
        said += [comment.text for comment in _comments_below_head(source, around[0])]
    if any(map(_OF_TRACING.search, said)):
        raise Refused


def _comments_below_head(source: FixSource, function: ir.Function) -> list[Comment]:
    """The comments directly above the first statement of a function."""
    first = function.body[0]
    line = source.line_start(first.start)
    return source.comments(comments_above(source, first.start, next_to=True), line)


def refuse_static(source: FixSource, node: ir.Expr, value: Value | None) -> None:
    """Raises Refused for a value of which ``jax.debug.print`` would print something else, or which it does not take."""
    if isinstance(value, (ClassValue, External)) or _is_description(source, node) or _may_become_text(node):
        raise Refused
    if isinstance(value, Static) and value.kind == "shape":
        raise Refused
    if isinstance(value, TupleValue) and value.elts and all(isinstance(e, (Const, Static)) for e in value.elts):
        raise Refused
    number = _integer(source, node, 8)
    if isinstance(value, Const) and isinstance(value.value, int):
        number = value.value
    if number is not None and abs(number) > _LARGEST:
        raise Refused


def _is_description(source: FixSource, node: ir.Expr) -> bool:
    """A class, an identity, a shape: what one prints of an object without its value."""
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Name):
        return node.func.id in _INSPECTING and node.func.id not in source.module.bound_names
    if isinstance(node, ir.Attribute):
        return node.attr in ("shape", "__class__", "aval", "sharding")
    value = _bound_value(source, node)
    return value is not None and not isinstance(value, ir.Name) and _is_description(source, value)


def _may_become_text(node: ir.Expr) -> bool:
    """A text is one of the values that the expression chooses from: JAX 0.4 takes none (checked on 0.4.30)."""
    match node:
        case ir.IfExp():
            choices = [node.body, node.orelse]
        case ir.BoolOp():
            choices = node.values
        case ir.Call(func=ir.Attribute(attr="get" | "pop"), args=[_, default]):
            choices = [default.value]
        case ir.Call(func=ir.Name(id="getattr"), args=[_, _, default]):
            choices = [default.value]
        case _:
            return False
    return any((isinstance(c, ir.Constant) and c.kind == "str") or _may_become_text(c) for c in choices)


def _integer(source: FixSource, node: ir.Expr, depth: int) -> int | None:
    """The integer that an expression surely is; one that needs more than 64 bits is the largest of those."""
    if depth == 0:
        return None
    if isinstance(node, ir.Constant):
        if node.kind == "big":
            return _ENOUGH
        return node.value if node.kind == "int" and isinstance(node.value, int) else None
    if isinstance(node, ir.BinOp) and node.op in ("*", "+", "-", "**"):
        left, right = _integer(source, node.left, depth - 1), _integer(source, node.right, depth - 1)
        return None if left is None or right is None else _computed(left, node.op, right)
    value = _bound_value(source, node)
    return _integer(source, value, depth - 1) if value is not None and not isinstance(value, ir.Name) else None


def _computed(left: int, op: str, right: int) -> int | None:
    """The result of an operation; nothing of operands so large that only their being large matters."""
    if max(abs(left), abs(right)) > _ENOUGH or (op == "**" and not 0 <= right <= 64):
        return None
    if op == "**":
        return int(left**right)
    return left * right if op == "*" else left + right if op == "+" else left - right


def _bound_value(source: FixSource, node: ir.Expr) -> ir.Expr | None:
    """The expression that alone gives a name its value."""
    if not isinstance(node, ir.Name):
        return None
    owner = scope_of(source, node)
    if owner is not None and any(p.name == node.id for p in owner.params):
        return None
    bound = binders(source, owner if owner is not None else source.module, node.id)
    if len(bound) != 1 or not isinstance(bound[0], ir.Assign) or not isinstance(bound[0].targets[0], ir.Name):
        return None
    return bound[0].value


def _is_small(source: FixSource, node: ir.Expr) -> bool:
    """A number of dimensions, a length, a dtype of what is traced: printed alike."""
    if isinstance(node, ir.Attribute):
        return node.attr in ("ndim", "dtype") and is_surely_traced(source, node.value)
    if isinstance(node, ir.Subscript):
        shape = node.value
        if not isinstance(shape, ir.Attribute) or shape.attr != "shape" or isinstance(node.index, ir.Slice):
            return False
        return is_surely_traced(source, shape.value)
    if not isinstance(node, ir.Call) or not isinstance(node.func, ir.Name) or len(node.args) != 1:
        return False
    return node.func.id == "len" and not node.args[0].star and is_surely_traced(source, node.args[0].value)
