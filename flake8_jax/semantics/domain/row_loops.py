"""Loops of Python that take one row of an array, or one leaf of a pytree, after the other, as the code spells them.

Vocabulary
----------
source      what the rows come from: ``xs`` of ``for x in xs``, ``for i, x in enumerate(xs)``, ``for x, y in zip(xs, ys)``,
            ``for x in reversed(xs)`` and ``for t in range(xs.shape[0])``.
row         the name of an element, or ``xs[t]``.
plain       the loop uses a row as one uses an array: it calls no method of it and takes no attribute or item by name. The
            layers of a network are not used so; a loop over parameters, by its names, is not plain either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, bound_paths, last_name, names_read

_WRAPPERS = frozenset({"reversed", "tqdm", "list", "tuple"})
_OF_NETWORKS = re.compile(
    r"(?:^|_)(?:params?|parameters?|layers?|blocks?|weights?|biases|kernels?|modules?|models?|nets?|networks?|heads?|stages?"
    r"|convs?|lins?|linears?|dims|sizes|fns?|funs?|functions?|grads?|gradients?|moments?|momentum|velocity|velocities|updates?|leaves|keys?|theta|names|w|b|ws|bs|p|ps|axes|axis|shape|shapes)"
    r"(?:_|\d|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rows:
    """source: see above. row: its name, empty if the loop counts. counter: the variable that counts, empty if it does not."""

    source: ir.Expr
    row: str
    counter: str


def rows_of(node: ir.For | ir.Comprehension) -> tuple[Rows, ...]:
    """The sources of a loop, in order; none if it may go over something else."""
    if isinstance(node, ir.For):
        return _rows(node.target, node.iter)
    if len(node.generators) != 1 or node.generators[0].ifs or node.kind == "dict":
        return ()
    return _rows(node.generators[0].target, node.generators[0].iter)


def _rows(target: ir.Expr, iterable: ir.Expr) -> tuple[Rows, ...]:
    if isinstance(iterable, ir.Call):
        return _rows_of_call(target, iterable)
    if isinstance(iterable, ir.Subscript) and isinstance(iterable.index, ir.Slice):
        return _rows(target, iterable.value)
    is_row = isinstance(target, ir.Name) and isinstance(iterable, ir.Name)
    return (Rows(iterable, target.id, ""),) if is_row and isinstance(target, ir.Name) else ()


def _rows_of_call(target: ir.Expr, call: ir.Call) -> tuple[Rows, ...]:
    name, given = last_name(call.func), [a.value for a in call.args if not (a.star or a.keyword)]
    if len(given) != len(call.args) or not given:
        return ()
    if name in _WRAPPERS:
        return _rows(target, given[0])
    targets = target.elts if isinstance(target, ir.Tuple) else []
    if name == "enumerate" and len(targets) == 2:
        return _rows(targets[1], given[0])
    if name == "zip" and len(targets) == len(given):
        found = [_rows(*pair) for pair in zip(targets, given, strict=True)]
        return tuple(rows for part in found for rows in part) if all(found) else ()
    return ()


def is_plain(node: ir.For | ir.Comprehension, rows: tuple[Rows, ...]) -> bool:
    """All rows are used as arrays are, and nothing is named after the parts of a network."""
    named = {rows.row for rows in rows} | {last_name(rows.source) for rows in rows}
    if any(_OF_NETWORKS.search(name) for name in named):
        return False
    own = {rows.row for rows in rows}
    body = node.body if isinstance(node, ir.For) else [node.element]
    for part in body:
        for inner in walk(part):
            value = inner.func if isinstance(inner, ir.Call) else None
            if isinstance(inner, ir.Attribute) or (isinstance(inner, ir.Subscript) and _is_name(inner.index)):
                value = inner.value
            if isinstance(value, ir.Name) and value.id in own:
                return False
            if isinstance(inner, ir.Assign) and isinstance(inner.value, ir.Name) and inner.value.id in own:
                return False  # ``w, b = row``
    return True


def _is_name(index: ir.Expr) -> bool:
    return isinstance(index, ir.Constant) and isinstance(index.value, str)


def uses_before_binding(node: ir.For | ir.Comprehension) -> bool:
    """An iteration reads what the one before has bound: ``h = cell(x, h)``."""
    if isinstance(node, ir.Comprehension):
        return False
    later = set().union(*[bound_paths(statement) for statement in node.body])
    for statement in node.body:
        if not names_read(_value_of(statement)).isdisjoint(later):
            return True
        if isinstance(statement, (ir.Assign, ir.AnnAssign)):
            later -= bound_paths(statement)
    return False


def _value_of(statement: ir.Stmt) -> ir.Node:
    """Without the target of ``a[i] = …``."""
    return statement.value if isinstance(statement, ir.Assign) else statement


def replaces_each(node: ir.For) -> bool:
    """``for i in range(len(params)): params[i] -= rate * grads[i]``: each turn computes an item from that of another
    container, in place."""
    counters = names_read(node.target)
    for statement in node.body:
        if isinstance(statement, ir.For) and replaces_each(statement):
            return True
        if isinstance(statement, ir.AugAssign):
            target: ir.Expr = statement.target
        elif isinstance(statement, ir.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
        else:
            continue
        if not isinstance(target, ir.Subscript) or counters.isdisjoint(names_read(target.index)):
            continue
        items = [n for n in walk(statement.value) if isinstance(n, ir.Subscript)]
        if any(
            last_name(n.value) != last_name(target.value) and not counters.isdisjoint(names_read(n.index))
            for n in items
        ):
            return True
    return False


_STEPS = re.compile(
    r"(?:^|_)(?:steps?|timesteps?|iters?|iterations?|time|times|horizon|length|len|seq|rows?|cols?|columns|width|height|samples?"
    r"|points|particles|neurons|episodes)(?:_|$)|^T$|^nt$",
    re.IGNORECASE,
)


def is_step_by_step(node: Any) -> bool:
    """A loop that counts, and that sets one element of an array in each iteration (``grid = grid.at[i, j].set(…)``); or that
    goes over steps or a length by its name, and whose iterations need what the one before has computed."""
    if not isinstance(node, ir.For) or not isinstance(node.iter, ir.Call) or last_name(node.iter.func) != "range":
        return False
    counters = names_read(node.target)
    if any(_sets_element(statement, counters) for statement in all_statements(node.body)):
        return True
    count = node.iter.args[-1].value if node.iter.args else node.iter
    named = [
        n.attr if isinstance(n, ir.Attribute) else n.id for n in walk(count) if isinstance(n, (ir.Attribute, ir.Name))
    ]
    if any(map(_OF_NETWORKS.search, named)):
        return False
    names_it = any(map(_STEPS.search, named)) or _is_length(count)
    return names_it and uses_before_binding(node)


def _is_length(count: ir.Expr) -> bool:
    return isinstance(count, ir.Call) and last_name(count.func) == "len"


def _sets_element(statement: ir.Stmt, counters: set[str]) -> bool:
    """``a = a.at[i].set(x)``."""
    value = statement.value if isinstance(statement, ir.Assign) else None
    if not isinstance(value, ir.Call) or not isinstance(value.func, ir.Attribute):
        return False
    item = value.func.value
    is_at = isinstance(item, ir.Subscript) and isinstance(item.value, ir.Attribute) and item.value.attr == "at"
    return is_at and isinstance(item, ir.Subscript) and not counters.isdisjoint(names_read(item.index))


def leaf_update(body: list[ir.Stmt]) -> ir.Node | None:
    """Where code updates parameters leaf by leaf, by their gradients: ``p - rate * g for p, g in zip(params, grads)``, a loop
    that does so, or ``jax.tree.map`` of such a lambda."""
    for statement in body:
        for node in walk(statement):
            found = _update_in(node)
            if found is not None:
                return found
    return None


_TREE_MAPS = frozenset({"map", "tree_map", "tree_multimap"})
_GRADIENT = re.compile(r"(^|_)(d?grads?|gradients?)(_|$)")


def _update_in(node: Any) -> ir.Node | None:
    if isinstance(node, ir.For):
        inner = next((loop for loop in node.body if isinstance(loop, ir.For) and _computed(loop.body)), node)
        names_it = _names_gradients(node.iter) or (replaces_each(node) and _names_gradients(node))
        return _computed(inner.body) if names_it else None
    if isinstance(node, ir.Comprehension):
        goes_over = any(_names_gradients(generator.iter) for generator in node.generators)
        return node if goes_over and _computes(node.element) else None
    if isinstance(node, ir.Call) and last_name(node.func) in _TREE_MAPS and node.args:
        mapped = node.args[0].value
        if isinstance(mapped, ir.Lambda) and any(map(_computes, mapped.function.body)):
            return node if any(_names_gradients(argument.value) for argument in node.args[1:]) else None
    return None


def _names_gradients(node: ir.Node) -> bool:
    return any(_GRADIENT.search(name) for name in names_read(node))


def _computed(body: Iterable[ir.Stmt]) -> ir.Expr | None:
    """What the first statement computes that does."""
    values = (statement.value for statement in body if isinstance(statement, (ir.Assign, ir.AugAssign)))
    return next((value for value in values if _computes(value)), None)


def _computes(node: ir.Node) -> bool:
    return any(isinstance(inner, ir.BinOp) for inner in walk(node))
