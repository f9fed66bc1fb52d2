"""What a function does with a parameter that gets a list: is a tuple as good?

Limitations: what the function passes on to other functions of the project.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._references import is_bound
from flake8_jax.fixers._source import FixSource
from flake8_jax.fixers._staging import may_hold_argument
from flake8_jax.knowledge import load
from flake8_jax.knowledge.model import FunctionFact
from flake8_jax.semantics.domain.values import FunctionValue
from flake8_jax.semantics.events.events import TransformCall

_ALIKE = frozenset({
    "all", "any", "enumerate", "len", "list", "map", "max", "min", "range", "reversed", "set", "frozenset", "sorted",
    "sum", "tuple", "zip",
})  # fmt: skip
"""Builtins that make the same of a list and of a tuple (but for ``reversed`` and the like, which give iterators)."""
_LIST_METHODS = frozenset({"append", "clear", "copy", "extend", "insert", "pop", "remove", "reverse", "sort"})


class Use(enum.IntEnum):
    """How a function uses a parameter: as well with a tuple, maybe otherwise, or such that a tuple breaks it."""

    ALIKE = 0
    UNKNOWN = 1
    BREAKS = 2


def use_of_list(event: TransformCall, source: FixSource, parameter: int | str) -> Use:
    """The worst that the transformed function does with a parameter."""
    function = event.operand
    if not isinstance(function, FunctionValue) or not event.sure or source.program is None:
        return Use.UNKNOWN
    positional = [p.name for p in function.fn.params if p.kind in ("posonly", "positional")]
    if isinstance(parameter, int):
        if parameter >= len(positional):
            return Use.UNKNOWN
        parameter = positional[parameter]
    if parameter not in (p.name for p in function.fn.params if p.kind in ("posonly", "positional", "kwonly")):
        return Use.UNKNOWN
    there = source.program.source(function.scope.path)
    reads = [n for s in function.fn.body for n in walk(s) if isinstance(n, ir.Name) and n.id == parameter]
    kept = [node for node in reads if not is_bound(there, node) and may_hold_argument(there, node, function.fn)]
    return max((_of_read(there, node) for node in kept), default=Use.ALIKE)


def _of_read(source: FixSource, node: ir.Name) -> Use:
    """What the function does with the parameter where it reads it."""
    above = source.parent(node)
    if isinstance(above, ir.Argument):
        return _as_argument(source, node, above)
    answer = _READ_BY.get(type(above))
    return answer(above, node) if answer is not None else Use.UNKNOWN


def _alike_if(alike: bool) -> Use:
    return Use.ALIKE if alike else Use.UNKNOWN


def _in_assignment(above: ir.Assign, node: ir.Name) -> Use:
    return _alike_if(isinstance(above.targets[0], (ir.Tuple, ir.List)) and len(above.targets) == 1)


def _as_container(above: ir.Subscript, node: ir.Name) -> Use:
    return _alike_if(above.value is node and isinstance(above.index, (ir.Constant, ir.UnaryOp)))


def _by_attribute(above: ir.Attribute, node: ir.Name) -> Use:
    return Use.BREAKS if above.attr in _LIST_METHODS else _alike_if(above.attr in ("count", "index"))


def _in_comparison(above: ir.Compare, node: ir.Name) -> Use:
    if all(op in ("in", "not in") for op in above.ops) and above.left is not node:
        return Use.ALIKE
    others = [above.left, *above.comparators]
    return Use.BREAKS if any(isinstance(other, ir.List) for other in others) else Use.UNKNOWN


def _in_operation(above: ir.BinOp, node: ir.Name) -> Use:
    other = above.left if above.right is node else above.right
    is_list = isinstance(other, (ir.List, ir.Comprehension)) or (
        isinstance(other, ir.Call) and isinstance(other.func, ir.Name) and other.func.id == "list"
    )
    return Use.BREAKS if is_list and above.op == "+" else Use.UNKNOWN


def _alike(above: ir.Node, node: ir.Name) -> Use:
    return Use.ALIKE


_READ_BY: dict[type, Callable[[Any, ir.Name], Use]] = {
    ir.For: lambda above, node: _alike_if(above.iter is node),
    ir.Generator: lambda above, node: _alike_if(above.iter is node),
    ir.Starred: _alike,
    ir.If: _alike,
    ir.While: _alike,
    ir.Assert: _alike,
    ir.UnaryOp: lambda above, node: _alike_if(above.op == "not"),
    ir.Assign: _in_assignment,
    ir.Subscript: _as_container,
    ir.Attribute: _by_attribute,
    ir.Compare: _in_comparison,
    ir.BinOp: _in_operation,
}
"""By what stands above the parameter where it is read."""


def _as_argument(source: FixSource, node: ir.Name, argument: ir.Argument) -> Use:
    call: msgspec.Struct = source.parent(argument)
    if argument.star == 1:
        return Use.ALIKE
    if not isinstance(call, ir.Call) or argument.star:
        return Use.UNKNOWN
    name = Imports(source, call).resolve(call.func)
    if name is None and not isinstance(call.func, ir.Attribute):
        return _of_builtin(source, call)
    if name == "math.prod":
        return Use.ALIKE
    if isinstance(call.func, ir.Attribute) and name is None:
        fact = load().method("jax.Array", call.func.attr)
    else:
        fact = load().function(name) if name is not None and name.startswith("jax.") else None
    return _of_parameter(fact, argument, next(i for i, other in enumerate(call.args) if other is argument))


def _of_builtin(source: FixSource, call: ir.Call) -> Use:
    """An argument of a function without a qualified name: only builtins are known."""
    if not isinstance(call.func, ir.Name) or call.func.id in source.module.bound_names:
        return Use.UNKNOWN
    if call.func.id == "isinstance" and len(call.args) == 2 and source.slice(call.args[1].value) == "list":
        return Use.BREAKS
    return _alike_if(call.func.id in _ALIKE)


def _of_parameter(fact: FunctionFact | None, argument: ir.Argument, position: int) -> Use:
    """An argument of a library: a shape or an axis may as well be a tuple."""
    if fact is None:
        return Use.UNKNOWN
    positional = [p for p in fact.params if p != "*"]
    parameter = argument.keyword or (positional[position].lstrip("*") if position < len(positional) else "")
    return Use.ALIKE if parameter in (*fact.shape_params, *fact.axis_params) else Use.UNKNOWN
