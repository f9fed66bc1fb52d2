"""Whether code uses gradients of single examples for nothing but their mean or sum, as the code spells it.

Vocabulary
----------
held        names of the gradients, or of leaves of theirs.
averaged    the code takes the mean or the sum over the first axis.

Limitations: gradients that the code stores in objects, or passes to functions that are not in the same file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import children, walk
from flake8_jax.semantics.domain.code import functions_of, last_name, nodes_around, statement_at
from flake8_jax.semantics.events.events import Context

_AVERAGES = frozenset({"mean", "sum", "average", "nanmean", "nansum"})
_TREE_MAPS = frozenset({"map", "tree_map", "tree_multimap"})
_DEPTH = 3


def is_only_averaged(context: Context, call: ir.Call, *, with_value: bool) -> bool:
    """The function around the call that gives gradients of single examples takes their mean or sum over the first axis, and
    makes nothing else of them. with_value: the call gives a pair, of which the gradients are the second part."""
    body = context.inner.body if context.inner is not None else context.scope.tree.body
    if not with_value and _is_averaged_here(context, body, call):
        return True
    statement = statement_at(body, call)
    if not isinstance(statement, ir.Assign) or statement.value is not call or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if with_value:
        if not isinstance(target, ir.Tuple) or len(target.elts) != 2:
            return False
        target = target.elts[1]
    return isinstance(target, ir.Name) and _uses(context, _after(body, statement), frozenset({target.id}), _DEPTH)


def _after(body: list[ir.Stmt], statement: ir.Stmt) -> list[ir.Stmt]:
    """The statements that follow one, in its own block and in those around it."""
    found: list[ir.Stmt] = []
    for inner in body:
        if inner.start <= statement.start < inner.end and inner is not statement:
            for block in _blocks_of(inner):
                if any(s.start <= statement.start < s.end for s in block):
                    found += _after(block, statement)
        elif inner.start > statement.start:
            found.append(inner)
    return found


def _blocks_of(statement: ir.Stmt) -> Iterator[list[ir.Stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if block and isinstance(block, list):
            yield block


def _uses(context: Context, body: Iterable[ir.Stmt], held: frozenset[str], depth: int) -> bool:
    """Some statement averages what is held, and none makes anything else of it, until the name is bound to something else."""
    found = False
    for statement in body:
        verdict = _use_in(context, statement, held, depth)
        if verdict is False:
            return False
        found = found or verdict is True
        if isinstance(statement, ir.Assign):
            held = held - {part.id for t in statement.targets for part in walk(t) if isinstance(part, ir.Name)}
        if not held:
            break
    return found


def _use_in(context: Context, node: Any, held: frozenset[str], depth: int) -> bool | None:
    """Whether all uses of what is held are averages; None if there is no use."""
    if isinstance(node, ir.Name):
        return False if node.id in held else None
    if isinstance(node, ir.Call):
        averaged = _averages(node, held)
        if averaged:
            return True
        mapped = _mapped_over(context, node, held, depth)
        if mapped is not None:
            return mapped
        passed = _passed_on(context, node, held, depth)
        if passed is not None:
            return passed
    if isinstance(node, (ir.Comprehension, ir.For)):
        rows = _rows_held(node, held)
        if rows:
            parts: list[ir.Node] = list(node.body) if isinstance(node, ir.For) else [node.element]
            return _all(_use_in(context, part, rows, depth) for part in parts)
    if isinstance(node, ir.Assign):
        parts = [node.value, *(t for t in node.targets if not isinstance(t, (ir.Name, ir.Tuple)))]
        return _all(_use_in(context, part, held, depth) for part in parts)
    return _all(_use_in(context, child, held, depth) for child in children(node))


def _all(verdicts: Iterable[bool | None]) -> bool | None:
    known = [verdict for verdict in verdicts if verdict is not None]
    return all(known) if known else None


def _is_held(node: ir.Expr, held: frozenset[str]) -> bool:
    """``grads``, ``grads["w"]``, ``grads[0]``, ``grads.w``."""
    while isinstance(node, (ir.Subscript, ir.Attribute)):
        node = node.value
    return isinstance(node, ir.Name) and node.id in held


def _averages(call: ir.Call, held: frozenset[str]) -> bool:
    """``jnp.mean(g, axis=0)``, ``g.sum(0)``."""
    if last_name(call.func) not in _AVERAGES:
        return False
    positional = [a.value for a in call.args if not a.keyword]
    is_method = isinstance(call.func, ir.Attribute) and _is_held(call.func.value, held)
    axes = [a.value for a in call.args if a.keyword == "axis"] + (positional if is_method else positional[1:])
    if not axes or not isinstance(axes[0], ir.Constant) or axes[0].value != 0:
        return False
    return is_method or bool(positional and _is_held(positional[0], held))


def _mapped_over(context: Context, call: ir.Call, held: frozenset[str], depth: int) -> bool | None:
    """Of ``jax.tree.map(f, …, grads, …)``: whether ``f`` only averages its leaves."""
    if last_name(call.func) not in _TREE_MAPS or len(call.args) < 2:
        return None
    over = [i for i, argument in enumerate(call.args[1:]) if _is_held(argument.value, held)]
    if not over:
        return None
    function = _function(context, call.args[0].value)
    if function is None:
        return _is_partial_mean(call.args[0].value)
    return _body_averages(context, function, over, depth)


def _is_partial_mean(node: ir.Expr) -> bool:
    """``partial(jnp.mean, axis=0)``."""
    if not isinstance(node, ir.Call) or last_name(node.func) != "partial" or not node.args:
        return False
    axes = [a.value for a in node.args if a.keyword == "axis"]
    return last_name(node.args[0].value) in _AVERAGES and [getattr(axis, "value", None) for axis in axes] == [0]


def _passed_on(context: Context, call: ir.Call, held: frozenset[str], depth: int) -> bool | None:
    """Of a call of a function in the same file: whether it only averages what it gets."""
    over = [i for i, argument in enumerate(call.args) if _is_held(argument.value, held) and not argument.star]
    if not over or depth == 0:
        return None
    function = _function(context, call.func)
    if function is None:
        return None
    if isinstance(call.func, ir.Attribute) and function.params and function.params[0].name == "self":
        over = [i + 1 for i in over]
    return _body_averages(context, function, over, depth - 1)


def _body_averages(context: Context, function: ir.Function, over: list[int], depth: int) -> bool:
    if depth == 0 or any(i >= len(function.params) for i in over):
        return False
    names = frozenset(function.params[i].name for i in over)
    return _uses(context, function.body, names, depth)


def _function(context: Context, node: ir.Expr) -> ir.Function | None:
    """The function that a name or a method of ``self`` stands for, if the file has one of that name."""
    if isinstance(node, ir.Lambda):
        return node.function
    if isinstance(node, ir.Attribute) and not (isinstance(node.value, ir.Name) and node.value.id == "self"):
        return None
    name = last_name(node)
    named = [function for function, *_ in functions_of(context.scope.tree) if function.name == name]
    if len(named) == 1:
        return named[0]
    bound = [
        statement.value
        for statement in context.scope.tree.body
        if isinstance(statement, ir.Assign) and any(isinstance(t, ir.Name) and t.id == name for t in statement.targets)
    ]
    return bound[0].function if len(bound) == 1 and isinstance(bound[0], ir.Lambda) else None


def _rows_held(node: ir.Comprehension | ir.For, held: frozenset[str]) -> frozenset[str]:
    """The variables of a loop that take the leaves of what is held: ``dw`` of ``for w, dw in zip(params, grads)``."""
    pairs = [(node.target, node.iter)] if isinstance(node, ir.For) else [(g.target, g.iter) for g in node.generators]
    found: set[str] = set()
    for target, iterable in pairs:
        if isinstance(iterable, ir.Call) and last_name(iterable.func) == "items" and _is_held(iterable.func, held):
            target = target.elts[-1] if isinstance(target, ir.Tuple) else target
            found |= {part.id for part in walk(target) if isinstance(part, ir.Name)}
        elif _is_held(iterable, held) or (isinstance(iterable, ir.Call) and _is_held(iterable.func, held)):
            found |= {part.id for part in walk(target) if isinstance(part, ir.Name)}
        elif isinstance(iterable, ir.Call) and last_name(iterable.func) == "zip" and isinstance(target, ir.Tuple):
            for part, argument in zip(target.elts, iterable.args):
                if _is_held(argument.value, held):
                    found |= {n.id for n in walk(part) if isinstance(n, ir.Name)}
    return frozenset(found)


def _is_averaged_here(context: Context, body: list[ir.Stmt], call: ir.Call) -> bool:
    """``jnp.mean(vmap(grad(f))(p, x), axis=0)``, ``vmap(grad(f))(p, x).sum(0)``, ``tree.map(mean, vmap(grad(f))(p, x))``."""
    around = [n for n in nodes_around(body, call.start, call.end) if not isinstance(n, ir.Argument) and n is not call]
    outer = [n for n in around if isinstance(n, (ir.Call, ir.Attribute)) and n.end - n.start > call.end - call.start]
    for node in reversed(outer[-2:]):
        if isinstance(node, ir.Call):
            replaced = _with_name(node, call)
            return replaced is not None and _use_in(context, replaced, frozenset({_HERE}), _DEPTH) is True
    return False


_HERE = "<gradients>"


def _with_name(around: ir.Call, call: ir.Call) -> ir.Call | None:
    """The call around with a name in the place of the inner one."""
    name = ir.Name(call.start, call.end, _HERE)
    if isinstance(around.func, ir.Attribute) and around.func.value is call:
        return msgspec.structs.replace(around, func=msgspec.structs.replace(around.func, value=name))
    if not any(argument.value is call for argument in around.args):
        return None
    args = [msgspec.structs.replace(a, value=name) if a.value is call else a for a in around.args]
    return msgspec.structs.replace(around, args=args)
