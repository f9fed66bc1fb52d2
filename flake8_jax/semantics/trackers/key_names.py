"""Where the body of a function, or a module, reads its names: looked up once for each.

Limitations: names that nested functions rebind.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import last_name, names_read, statement_at
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.stack import Place
from flake8_jax.semantics.domain.values import External, Unknown

MAX_PASSED = 20
"""So many assignments are followed from a draw to where its shape is read."""
_REPLACING = frozenset({"replace", "_replace"})
_INITIALIZING = frozenset({"init", "lazy_init", "init_with_output"})
_OF_SHAPE = frozenset({"shape", "dtype", "ndim", "size"})
_OF_KEYS = re.compile(r"(key|rng|seed)s?$|^(k|sub|prng)$")


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
        self._assigned: list[ir.Assign] = []
        names: list[ir.Name] = []
        bound: set[int] = set()
        for statement in body:
            for node in walk(statement):
                if isinstance(node, ir.Name):
                    names.append(node)
                elif isinstance(node, ir.Assign):
                    bound |= {id(name) for target in node.targets for name in names_bound(target)}
                    self._assigned.append(node)
                elif isinstance(node, ir.AnnAssign):
                    bound.add(id(node.target))
                elif isinstance(node, ir.Subscript):
                    self.parents[id(node.value)] = node
                elif isinstance(node, (ir.For, ir.While)):
                    self._loops.append((node.start, node.end))
                elif isinstance(node, ir.Call):
                    self._track_fields(node)
                    self._shapes += _read_for_shapes(scope, node)
                elif isinstance(node, ir.Attribute) and node.attr in _OF_SHAPE:
                    self._shapes.append((node.start, node.end))
                elif isinstance(node, ir.Function) and not self.nested.issuperset(map(id, node.body)):
                    self.nested |= {id(inner) for s in node.body for inner in walk(s)}
        for name in sorted(names, key=lambda n: n.start):
            if id(name) in bound:
                self.binds[name.id] = self.binds.get(name.id, 0) + 1
            else:
                self.reads.setdefault(name.id, []).append(name)
        self._assigned.sort(key=lambda one: one.value.start)
        self._shapes = _outermost(self._shapes)
        self._loops = _outermost(self._loops)

    def _track_fields(self, call: ir.Call) -> None:
        if isinstance(call.func, ir.Attribute) and call.func.attr in _REPLACING:
            for argument in call.args:
                if argument.keyword:
                    self.parents[id(argument.value)] = argument

    def read_after(self, name: str, binding: ir.Stmt) -> Iterator[ir.Name]:
        """The reads of a name that may see what a statement binds: after it, in nested functions, in a loop around it."""
        found = self.reads.get(name, [])
        if self._in_loop(binding):
            yield from found
            return
        behind = bisect_right(found, binding.end - 1, key=lambda node: node.start)
        yield from found[behind:]
        yield from (node for node in found[:behind] if id(node) in self.nested)

    def give_shapes(self, call: ir.Node, body: list[ir.Stmt]) -> bool:
        """What a call gives, and what is computed of it, goes where only shapes count, and nowhere else: into
        ``eval_shape``, or into the inputs that a module is initialized with."""
        statement = statement_at(body, call) if self._shapes else None
        if not isinstance(statement, ir.Assign) or statement.value is not call:
            return False
        found = False
        todo: list[ir.Assign] = [statement]
        known = {id(statement)}
        while todo:
            one = todo.pop()
            bound = [t for target in one.targets for t in parts_of_target(target)]
            if not all(isinstance(name, ir.Name) for name in bound):
                return False
            for read in [r for t in bound if t.id != "_" for r in self.read_after(t.id, one)]:  # type: ignore[union-attr]
                if _is_in(self._shapes, read.start):
                    found = True
                    continue
                passing = self._assignment_with(read)
                if passing is None or len(known) > MAX_PASSED:
                    return False
                if id(passing) not in known:
                    known.add(id(passing))
                    todo.append(passing)
        return found

    def is_read_for_shape(self, read: ir.Node) -> bool:
        """Only the shape of what stands there is asked for."""
        return _is_in(self._shapes, read.start)

    def _assignment_with(self, read: ir.Name) -> ir.Assign | None:
        """The assignment whose value reads a name, in this body itself."""
        if id(read) in self.nested:
            return None
        at = bisect_right(self._assigned, read.start, key=lambda one: one.value.start) - 1
        return self._assigned[at] if at >= 0 and read.start < self._assigned[at].value.end else None

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
    defines and for methods of ``self``; where it is not known what a name is, as the code spells it."""
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


def _outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, without those inside of others."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or end > kept[-1][1]:
            kept.append((start, end))
    return kept


def _is_in(spans: list[tuple[int, int]], offset: int) -> bool:
    at = bisect_right(spans, offset, key=lambda span: span[0]) - 1
    return at >= 0 and offset < spans[at][1]


def _read_for_shapes(scope: ModuleScope, call: ir.Call) -> list[tuple[int, int]]:
    """Where a call reads nothing but shapes: all of ``eval_shape``, and what a module gets beside its key to make its
    parameters. ``init(position, key)`` of a sampler starts there."""
    function = call.func
    if called_as(scope, function) == "eval_shape":
        return [(call.start, call.end)]
    if isinstance(function, ir.Call) and len(function.args) == 1:
        function = function.args[0].value  # jax.jit(model.init)(key, x)
    if not isinstance(function, ir.Attribute) or function.attr not in _INITIALIZING or len(call.args) < 2:
        return []
    first, *others = call.args
    if first.star or not any(is_of_key(name) for name in names_read(first.value)):
        return []
    return [(other.value.start, other.value.end) for other in others]


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case: of ``evalKey_2`` eval and key."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]


def is_of_key(name: str) -> bool:
    """A word of the name is one that keys are called by."""
    return any(_OF_KEYS.search(word) for word in words_of(name))


def names_bound(target: ir.Expr) -> Iterator[ir.Name]:
    for part in parts_of_target(target):
        bound = part.value if isinstance(part, ir.Starred) else part
        if isinstance(bound, ir.Name):
            yield bound


def parts_of_target(target: ir.Expr) -> Iterator[ir.Expr]:
    """What an assignment stores into: the elements of tuples and lists, those of nested ones too."""
    if isinstance(target, (ir.Tuple, ir.List)):
        for element in target.elts:
            yield from parts_of_target(element)
    else:
        yield target
