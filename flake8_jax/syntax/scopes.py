"""What a module's top level says about its own names.

Vocabulary
----------
path        one way through the top level's ``if`` and ``try`` branches. A name is rebound if some path assigns it twice.
exports     the strings of ``__all__``, where they are literals.

``def`` and ``class`` do not count as assignments, nor does importing the same thing again: the name keeps its
meaning. Names bound by ``:=`` are counted by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from flake8_jax.core import ir

Counts = dict[str, int]


def rebound_names(body: list[ir.Stmt]) -> list[str]:
    """Names that some path through these statements assigns more than once, in source order."""
    return [name for name, count in _path_counts(body).items() if count > 1]


def _path_counts(body: list[ir.Stmt]) -> Counts:
    counts: Counts = {}
    imported: dict[str, str] = {}
    for statement in body:
        if isinstance(statement, (ir.Import, ir.ImportFrom)):
            for name, origin in _origins(statement):
                if imported.get(name) != origin:
                    imported[name] = origin
                    counts[name] = counts.get(name, 0) + 1
        else:
            for name, count in _statement_counts(statement).items():
                counts[name] = counts.get(name, 0) + count
    return counts


def _origins(statement: ir.Import | ir.ImportFrom) -> Iterable[tuple[str, str]]:
    """Each name that an import binds, and what it stands for."""
    if isinstance(statement, ir.Import):
        for imported in statement.names:
            root = imported.name.partition(".")[0]
            yield (imported.alias, imported.name) if imported.alias else (root, root)
    else:
        source = "." * statement.level + statement.module
        for imported in statement.names:
            yield imported.alias or imported.name, f"{source}:{imported.name}"


def _statement_counts(statement: ir.Stmt) -> Counts:
    count = _COUNTERS.get(type(statement))
    return {} if count is None else count(statement)


def _assign_counts(statement: ir.Assign) -> Counts:
    return _added([_target_counts(target) for target in statement.targets])


def _annotated_counts(statement: ir.AnnAssign) -> Counts:
    return {} if statement.value is None else _target_counts(statement.target)


def _augmented_counts(statement: ir.AugAssign) -> Counts:
    return _target_counts(statement.target)


def _for_counts(statement: ir.For) -> Counts:
    return _added([_target_counts(statement.target), _path_counts(statement.body + statement.orelse)])


def _while_counts(statement: ir.While) -> Counts:
    return _path_counts(statement.body + statement.orelse)


def _with_counts(statement: ir.With) -> Counts:
    targets = [_target_counts(item.target) for item in statement.items if item.target is not None]
    return _added([*targets, _path_counts(statement.body)])


def _match_counts(statement: ir.Match) -> Counts:
    return _largest([_path_counts(case.body) for case in statement.cases])


def _try_counts(statement: ir.Try) -> Counts:
    branches = [_path_counts(statement.body + statement.orelse)]
    branches += [_path_counts(handler.body) for handler in statement.handlers]
    return _added([_largest(branches), _path_counts(statement.finalbody)])


def _if_counts(statement: ir.If) -> Counts:
    branches: list[Counts] = []
    current = statement
    while True:
        branches.append(_path_counts(current.body))
        following = current.orelse
        if len(following) == 1 and isinstance(following[0], ir.If) and following[0].is_elif:
            current = following[0]
        else:
            branches.append(_path_counts(following))
            return _largest(branches)


def _target_counts(target: ir.Expr) -> Counts:
    if isinstance(target, ir.Name):
        return {target.id: 1}
    if isinstance(target, (ir.Tuple, ir.List)):
        return _added([_target_counts(element) for element in target.elts])
    if isinstance(target, ir.Starred):
        return _target_counts(target.value)
    return {}


def _added(parts: list[Counts]) -> Counts:
    total: Counts = {}
    for part in parts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total


def _largest(branches: list[Counts]) -> Counts:
    largest: Counts = {}
    for branch in branches:
        for name, count in branch.items():
            largest[name] = max(largest.get(name, 0), count)
    return largest


_COUNTERS: dict[type[msgspec.Struct], Callable[[Any], Counts]] = {
    ir.Assign: _assign_counts,
    ir.AnnAssign: _annotated_counts,
    ir.AugAssign: _augmented_counts,
    ir.If: _if_counts,
    ir.Try: _try_counts,
    ir.For: _for_counts,
    ir.While: _while_counts,
    ir.With: _with_counts,
    ir.Match: _match_counts,
}


def star_exports(body: list[ir.Stmt]) -> list[str] | None:
    """The strings that the top level puts into ``__all__``; None if it has none or they are not all literals."""
    exports: list[str] | None = None
    for statement in body:
        if isinstance(statement, ir.Assign):
            if any(_is_all(target) for target in statement.targets):
                exports = _strings(statement.value)
        elif isinstance(statement, ir.AnnAssign):
            if _is_all(statement.target) and statement.value is not None:
                exports = _strings(statement.value)
        elif isinstance(statement, ir.AugAssign) and _is_all(statement.target):
            more = _strings(statement.value)
            exports = None if exports is None or more is None else exports + more
        elif isinstance(statement, ir.ExprStmt) and _is_method_of_all(statement.value):
            return None
    return exports


def _is_all(target: ir.Expr) -> bool:
    return isinstance(target, ir.Name) and target.id == "__all__"


def _is_method_of_all(value: ir.Expr) -> bool:
    return isinstance(value, ir.Call) and isinstance(value.func, ir.Attribute) and _is_all(value.func.value)


def _strings(value: ir.Expr) -> list[str] | None:
    if isinstance(value, ir.BinOp) and value.op == "+":
        left, right = _strings(value.left), _strings(value.right)
        return None if left is None or right is None else left + right
    if not isinstance(value, (ir.List, ir.Tuple)):
        return None
    strings: list[str] = []
    for element in value.elts:
        if not isinstance(element, ir.Constant) or not isinstance(element.value, str):
            return None
        strings.append(element.value)
    return strings
