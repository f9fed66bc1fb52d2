"""Where the body of a function, or a module, reads its names: looked up once for each.

Not modelled: names that nested functions bind anew.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import last_name, statement_at
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.stack import Place
from flake8_jax.semantics.domain.values import External, Unknown

_REPLACING = frozenset({"replace", "_replace"})


class Names:
    """reads: of each name, in the order of the text. binds: how many assignments bind it. parents: the subscript that
    takes of what is read, or the argument of ``replace`` that stores it in a field. nested: reads in nested functions."""

    def __init__(self, scope: ModuleScope, body: list[ir.Stmt]) -> None:
        self.reads: dict[str, list[ir.Name]] = {}
        self.binds: dict[str, int] = {}
        self.parents: dict[int, ir.Subscript | ir.Argument] = {}
        self.nested: set[int] = set()
        self._loops: list[tuple[int, int]] = []
        self._shapes: list[tuple[int, int]] = []
        names: list[ir.Name] = []
        bound: set[int] = set()
        for statement in body:
            for node in walk(statement):
                if isinstance(node, ir.Name):
                    names.append(node)
                elif isinstance(node, ir.Assign):
                    bound |= {id(name) for target in node.targets for name in names_bound(target)}
                elif isinstance(node, ir.Subscript):
                    self.parents[id(node.value)] = node
                elif isinstance(node, (ir.For, ir.While)):
                    self._loops.append((node.start, node.end))
                elif isinstance(node, ir.Call):
                    self._note_fields(node)
                    if called_as(scope, node.func) == "eval_shape":
                        self._shapes.append((node.start, node.end))
                elif isinstance(node, ir.Function) and not self.nested.issuperset(map(id, node.body)):
                    self.nested |= {id(inner) for s in node.body for inner in walk(s)}
        for name in sorted(names, key=lambda n: n.start):
            if id(name) in bound:
                self.binds[name.id] = self.binds.get(name.id, 0) + 1
            else:
                self.reads.setdefault(name.id, []).append(name)
        self._loops.sort()
        ends = 0
        outermost = []
        for start, end in self._loops:
            if end > ends:
                outermost.append((start, end))
                ends = end
        self._loops = outermost

    def _note_fields(self, call: ir.Call) -> None:
        if isinstance(call.func, ir.Attribute) and call.func.attr in _REPLACING:
            for argument in call.args:
                if argument.keyword:
                    self.parents[id(argument.value)] = argument

    def read_after(self, name: str, binding: ir.Stmt) -> Iterator[ir.Name]:
        """The reads of a name that may see what a statement binds: behind it, in nested functions, in a loop around it."""
        found = self.reads.get(name, [])
        if self._in_loop(binding):
            yield from found
            return
        behind = bisect_right(found, binding.end - 1, key=lambda node: node.start)
        yield from found[behind:]
        yield from (node for node in found[:behind] if id(node) in self.nested)

    def give_shapes(self, call: ir.Node, body: list[ir.Stmt]) -> bool:
        """What a call gives goes into calls of ``eval_shape`` and nowhere else."""
        statement = statement_at(body, call) if self._shapes else None
        if not isinstance(statement, ir.Assign) or statement.value is not call:
            return False
        bound = [name.id for target in statement.targets for name in names_bound(target)]
        reads = [read for name in bound if name != "_" for read in self.read_after(name, statement)]
        return bool(reads) and all(any(a <= read.start < b for a, b in self._shapes) for read in reads)

    def _in_loop(self, statement: ir.Stmt) -> bool:
        at = bisect_right(self._loops, statement.start, key=lambda span: span[0]) - 1
        return at >= 0 and statement.end <= self._loops[at][1]


class NamesOfBodies:
    """The names of each body that was asked for."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Names]] = {}

    def around(self, place: Place) -> Names:
        body = body_around(place)
        known = self._known.get(id(body))
        if known is None:
            known = self._known[id(body)] = body, Names(place.scope, body)
        return known[1]


def called_as(scope: ModuleScope, function: ir.Expr) -> str:
    """The last part of the name of a library's function, by whatever name it was imported. Empty for what the project
    defines and for methods of ``self``; where nobody knows what a name is, as the code spells it."""
    root = function
    while isinstance(root, ir.Attribute):
        root = root.value
    name = root.id if isinstance(root, ir.Name) else ""
    bound = scope.slots.get(name)
    if root is function and isinstance(bound, External):
        return bound.name.rpartition(".")[2]
    is_own = name in ("self", "cls") or not (bound is None or isinstance(bound, (External, Unknown)))
    return "" if is_own else last_name(function)


def body_around(place: Place) -> list[ir.Stmt]:
    return place.function.body if place.function is not None else place.scope.tree.body


def names_bound(target: ir.Expr) -> Iterator[ir.Name]:
    if isinstance(target, (ir.Tuple, ir.List)):
        for element in target.elts:
            yield from names_bound(element)
    elif isinstance(target, ir.Starred):
        yield from names_bound(target.value)
    elif isinstance(target, ir.Name):
        yield target
