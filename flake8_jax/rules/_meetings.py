"""Whether what two uses of a key gave ever meets: results that never do need not be independent.

Vocabulary
----------
experiment   a cell of a notebook that starts a new experiment: what earlier cells drew with the key is no longer read.
compared     one statement asserts something of both results: that they are equal, or how far apart.

Limitations: what was computed from a result under another name.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.nodes import children, walk
from flake8_jax.semantics.domain.code import last_name, statement_at
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import External
from flake8_jax.semantics.events.events import KeyUse

_BINDING = (ir.AugAssign, ir.AnnAssign, ir.For, ir.NamedExpr)


class Meetings:
    """Asks of many uses; what it reads of a module, it reads once.

    reads, binds: by name, the numbers of the statements of the module's body. asserted: the names that each assertion reads,
    with its place.
    """

    def __init__(self) -> None:
        self._lines: dict[int, tuple[dict[str, list[int]], dict[str, list[int]]]] = {}
        self._asserted: dict[int, list[tuple[int, set[str]]]] = {}

    def never_meet(self, event: KeyUse, start: int) -> bool:
        """A cell of a notebook uses a key again at ``start``, and what another cell drew with it is no longer used."""
        earlier, scope = event.earlier, event.context.scope
        body = scope.tree.body
        if not scope.path.endswith(SUFFIX) or earlier is None or earlier.scope is not scope or not body:
            return False
        cell = scope.cell_of(start)
        if scope.cell_of(earlier.start) == cell:
            return False
        first = body[max(_number(body, earlier.start), 0)]
        if isinstance(first, (ir.FunctionDef, ir.ClassDef)):
            return False
        behind = next((i for i, statement in enumerate(body) if scope.cell_of(statement.start) >= cell), len(body))
        return not any(self._is_read(scope, name, behind) for name in _changed_by(first, scope))

    def are_compared(self, event: KeyUse) -> bool:
        """Both results are named, and an assertion behind them reads the two."""
        earlier, last, scope = event.earlier, event.at, event.context.scope
        if earlier is None or earlier.scope is not scope or event.in_loop:
            return False
        if id(scope) not in self._asserted:
            self._asserted[id(scope)] = _asserted(scope)
        asserted = self._asserted[id(scope)]
        if not asserted or asserted[-1][0] < last.start:
            return False
        (first, body), (second, same) = _statement(scope, earlier), _statement(scope, last)
        if not isinstance(first, ir.Assign) or not isinstance(second, ir.Assign) or first is second or body is not same:
            return False
        names = [{t.id for t in one.targets if isinstance(t, ir.Name)} for one in (first, second)]
        behind = asserted[bisect_right(asserted, last.start, key=lambda one: one[0]) :][:MAX_ASSERTIONS]
        return any(all(some & read for some in names) for at, read in behind if at < body[-1].end)

    def _is_read(self, scope: ModuleScope, name: str, behind: int) -> bool:
        """From a statement of the module on, the name is read before it is rebound."""
        if id(scope) not in self._lines:
            self._lines[id(scope)] = _lines(scope.tree.body)
        reads, binds = (lines.get(name, []) for lines in self._lines[id(scope)])
        read, bound = bisect_left(reads, behind), bisect_left(binds, behind)
        return read < len(reads) and (bound == len(binds) or reads[read] <= binds[bound])


MAX_ASSERTIONS = 20
"""So many assertions behind a use are looked at."""


def _lines(body: list[ir.Stmt]) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """The numbers of the statements that read a name, and of those that do nothing but bind it."""
    reads: dict[str, list[int]] = {}
    binds: dict[str, list[int]] = {}
    for i, statement in enumerate(body):
        for name in _loaded([statement]):
            reads.setdefault(name, []).append(i)
        if isinstance(statement, ir.Assign):
            for name in {p.id for target in statement.targets for p in walk(target) if isinstance(p, ir.Name)}:
                binds.setdefault(name, []).append(i)
    return reads, binds


def _number(body: list[ir.Stmt], start: int) -> int:
    return bisect_right(body, start, key=lambda statement: statement.start) - 1


def _statement(scope: ModuleScope, node: Any) -> tuple[ir.Stmt | None, list[ir.Stmt]]:
    """The innermost statement around a node, and the body of the function, class or module in which that stands."""
    body = scope.tree.body
    while True:
        found = statement_at(body, node)
        if isinstance(found, ir.FunctionDef):
            body = found.function.body
        elif isinstance(found, ir.ClassDef):
            body = found.body
        else:
            return found, body


def _changed_by(statement: ir.Stmt, scope: ModuleScope) -> set[str]:
    """The names that a statement binds or stores into, and the objects whose methods it calls."""
    changed: set[str] = set()
    for node in walk(statement):
        if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
            owner = node.func.value
            if isinstance(owner, ir.Name) and not isinstance(scope.slots.get(owner.id), External):
                changed.add(owner.id)
        targets = node.targets if isinstance(node, ir.Assign) else [node.target] if isinstance(node, _BINDING) else []
        changed |= {part.id for target in targets for part in walk(target) if isinstance(part, ir.Name)}
    return changed


def _loaded(nodes: Iterable[msgspec.Struct]) -> set[str]:
    """The names that the nodes read, but for those that functions and comprehensions in them bind themselves."""
    found: set[str] = set()
    todo: list[tuple[Any, frozenset[str]]] = [(node, frozenset()) for node in nodes]
    while todo:
        node, hidden = todo.pop()
        if isinstance(node, ir.Name):
            found |= {node.id} - hidden
            continue
        below: Iterable[Any] = children(node)
        if isinstance(node, ir.Function):
            hidden |= frozenset(node.local_names)
        elif isinstance(node, ir.Comprehension):
            targets = [part for generator in node.generators for part in walk(generator.target)]
            hidden |= frozenset(part.id for part in targets if isinstance(part, ir.Name))
        elif isinstance(node, ir.Assign):
            below = [node.value, *(part for target in node.targets for part in _reading(target))]
        elif isinstance(node, ir.For):
            below = [node.iter, *_reading(node.target), *node.body, *node.orelse]
        todo += [(part, hidden) for part in below]
    return found


def _reading(target: ir.Expr) -> list[ir.Expr]:
    """What a target of an assignment reads: all but names of its own."""
    if isinstance(target, (ir.Tuple, ir.List)):
        return [part for element in target.elts for part in _reading(element)]
    return [] if isinstance(target, ir.Name) else [target]


def _asserted(scope: ModuleScope) -> list[tuple[int, set[str]]]:
    """What the ``assert`` statements of a module read, and its calls of functions whose names say that they assert."""
    found: list[tuple[int, set[str]]] = []
    for node in walk(scope.tree):
        if isinstance(node, ir.Assert):
            found.append((node.start, _loaded([node])))
        elif isinstance(node, ir.Call):
            if last_name(node.func).startswith("assert"):
                found.append((node.start, _loaded([node])))
    return sorted(found, key=lambda one: one[0])
