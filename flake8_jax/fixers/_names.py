"""Which names a piece of IR reads and binds, and which are surely bound before a statement.

Vocabulary
----------
reads       names whose value is looked up in the scope that the piece stands in: comprehension targets, lambda
            parameters and a nested function's own locals are left out, its free variables are in.
binds       names that running the piece binds in that scope.
bound before   on every path from the function's start to a statement the name has been bound.

Limitations: ``exec``, ``locals()``, names deleted with ``del`` (a deletion counts as binding nothing).
"""

from __future__ import annotations

import builtins
import functools
import keyword
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import children, walk
from flake8_jax.fixers._source import FixSource, Place, Refused


@dataclass(frozen=True, slots=True)
class Uses:
    reads: frozenset[str]
    binds: frozenset[str]


def target_names(target: ir.Expr) -> list[str]:
    """Plain names in an assignment target, in order; attributes and items bind none."""
    if isinstance(target, ir.Name):
        return [target.id]
    if isinstance(target, ir.Starred):
        return target_names(target.value)
    if isinstance(target, (ir.Tuple, ir.List)):
        return [name for elt in target.elts for name in target_names(elt)]
    return []


def _target_reads(target: ir.Expr) -> Iterator[ir.Expr]:
    if isinstance(target, ir.Starred):
        yield from _target_reads(target.value)
    elif isinstance(target, (ir.Tuple, ir.List)):
        for elt in target.elts:
            yield from _target_reads(elt)
    elif not isinstance(target, ir.Name):
        yield target


def imported_name(name: ir.ImportedName, *, from_import: bool) -> str:
    """The name that an import binds."""
    return name.alias or (name.name if from_import else name.name.partition(".")[0])


class _Collector:
    """Walks with an explicit stack: long operator chains nest too deep for recursion."""

    def __init__(self) -> None:
        self.reads: set[str] = set()
        self.binds: set[str] = set()
        self._stack: list[tuple[msgspec.Struct, frozenset[str]]] = []

    def run(self, nodes: Iterable[msgspec.Struct]) -> Uses:
        self._stack.extend((n, frozenset()) for n in nodes)
        while self._stack:
            self._visit(*self._stack.pop())
        return Uses(frozenset(self.reads), frozenset(self.binds))

    def _push(self, hidden: frozenset[str], *nodes: msgspec.Struct | None) -> None:
        self._stack.extend((n, hidden) for n in nodes if n is not None)

    def _target(self, target: ir.Expr, hidden: frozenset[str]) -> None:
        self.binds.update(target_names(target))
        self._push(hidden, *_target_reads(target))

    def _function(self, function: ir.Function, hidden: frozenset[str]) -> None:
        for parameter in function.params:
            self._push(hidden, parameter.default, parameter.annotation)
        self._push(hidden, function.returns)
        inner = _Collector().run(function.body)
        own = {p.name for p in function.params} | set(function.local_names)
        self.reads.update(inner.reads - own - hidden)
        self.binds.update(inner.binds & (set(function.nonlocal_names) | set(function.global_names)))

    def _visit(self, node: msgspec.Struct, hidden: frozenset[str]) -> None:
        visit = _VISIT.get(type(node))
        if visit is None:
            self._push(hidden, *children(node))
        else:
            visit(self, node, hidden)

    # --- by the type of the node: ``_VISIT`` names these ---

    def _name(self, node: ir.Name, hidden: frozenset[str]) -> None:
        if node.id not in hidden:
            self.reads.add(node.id)

    def _assign(self, node: ir.Assign, hidden: frozenset[str]) -> None:
        for target in node.targets:
            self._target(target, hidden)
        self._push(hidden, node.value)

    def _annotated(self, node: ir.AnnAssign, hidden: frozenset[str]) -> None:
        if node.value is not None:
            self._target(node.target, hidden)
        self._push(hidden, node.annotation, node.value)

    def _augmented(self, node: ir.AugAssign, hidden: frozenset[str]) -> None:
        self._target(node.target, hidden)
        self._push(hidden, node.target, node.value)

    def _for(self, node: ir.For, hidden: frozenset[str]) -> None:
        self._target(node.target, hidden)
        self._push(hidden, node.iter, *node.body, *node.orelse)

    def _walrus(self, node: ir.NamedExpr, hidden: frozenset[str]) -> None:
        self.binds.add(node.target.id)
        self._push(hidden, node.value)

    def _comprehension(self, node: ir.Comprehension, hidden: frozenset[str]) -> None:
        inner = hidden | {n for g in node.generators for n in target_names(g.target)}
        for at, generator in enumerate(node.generators):
            self._push(hidden if at == 0 else inner, generator.iter)
            self._push(inner, *generator.ifs)
        self._push(inner, node.key, node.element)

    def _lambda(self, node: ir.Lambda, hidden: frozenset[str]) -> None:
        self._function(node.function, hidden)

    def _definition(self, node: ir.FunctionDef, hidden: frozenset[str]) -> None:
        self.binds.add(node.function.name)
        self._push(hidden, *node.decorators)
        self._function(node.function, hidden)

    def _class(self, node: ir.ClassDef, hidden: frozenset[str]) -> None:
        self.binds.add(node.name)
        self._push(hidden, *node.decorators, *(b.value for b in node.bases))
        self.reads.update(_Collector().run(node.body).reads - hidden)

    def _import(self, node: ir.Import | ir.ImportFrom, hidden: frozenset[str]) -> None:
        self.binds.update(imported_name(n, from_import=isinstance(node, ir.ImportFrom)) for n in node.names)

    def _with_item(self, node: ir.WithItem, hidden: frozenset[str]) -> None:
        self._push(hidden, node.context)
        if node.target is not None:
            self._target(node.target, hidden)

    def _capture(self, node: ir.ExceptHandler | ir.MatchAs | ir.MatchStar, hidden: frozenset[str]) -> None:
        if node.name:
            self.binds.add(node.name)
        self._push(hidden, *children(node))

    def _mapping(self, node: ir.MatchMapping, hidden: frozenset[str]) -> None:
        if node.rest:
            self.binds.add(node.rest)
        self._push(hidden, *children(node))


_VISIT: dict[type, Callable[[_Collector, Any, frozenset[str]], None]] = {
    ir.Name: _Collector._name,
    ir.Assign: _Collector._assign,
    ir.AnnAssign: _Collector._annotated,
    ir.AugAssign: _Collector._augmented,
    ir.For: _Collector._for,
    ir.NamedExpr: _Collector._walrus,
    ir.Comprehension: _Collector._comprehension,
    ir.Lambda: _Collector._lambda,
    ir.FunctionDef: _Collector._definition,
    ir.ClassDef: _Collector._class,
    ir.Import: _Collector._import,
    ir.ImportFrom: _Collector._import,
    ir.WithItem: _Collector._with_item,
    ir.ExceptHandler: _Collector._capture,
    ir.MatchAs: _Collector._capture,
    ir.MatchStar: _Collector._capture,
    ir.MatchMapping: _Collector._mapping,
}
"""What reads or binds by itself; of all others, what stands below them does."""


def uses(*nodes: msgspec.Struct) -> Uses:
    """What running the nodes reads and binds in their own scope."""
    return _Collector().run(nodes)


def identifiers(root: msgspec.Struct) -> set[str]:
    """Every identifier that occurs in a tree in any role but as an attribute or a keyword."""
    found: set[str] = set()
    for node in walk(root):
        if isinstance(node, ir.Name):
            found.add(node.id)
        elif isinstance(node, ir.Parameter):
            found.add(node.name)
        elif isinstance(node, ir.Function):
            found.update((node.name, *node.local_names, *node.global_names, *node.nonlocal_names))
        elif isinstance(node, ir.ClassDef):
            found.add(node.name)
        elif isinstance(node, ir.ImportedName):
            found.add(node.alias or node.name.partition(".")[0])
    return found


def fresh(source: FixSource, at: msgspec.Struct, *wanted: str) -> list[str]:
    """Names like those wanted that are unused in the outermost function around ``at``. Variables of the module may have them
    as well, where the function does not know them; its functions, classes and imports may not."""
    around = source.functions(at)
    outermost = around[-1] if around else source.module
    taken = source.remember("taken names", outermost, lambda: _taken_names(source, outermost))
    found: list[str] = []
    for name in wanted:
        candidate, number = name, 2
        while candidate in taken or candidate in found:
            candidate, number = f"{name}_{number}", number + 1
        found.append(candidate)
    return found


def _taken_names(source: FixSource, outermost: msgspec.Struct) -> set[str]:
    """The names that mean something in a function or at the module's top level."""
    top: Iterable[str] = source.module.bound_names
    if outermost is not source.module:
        top = source.remember("defined names", source.module, lambda: _defined_names(source.module))
    return identifiers(outermost).union(top, dir(builtins), keyword.kwlist)


def _defined_names(module: ir.Module) -> frozenset[str]:
    """The functions, classes and imports of a module."""
    kinds = (ir.FunctionDef, ir.ClassDef, ir.Import, ir.ImportFrom)
    return uses(*(statement for statement in module.body if isinstance(statement, kinds))).binds


def surely_binds(statement: ir.Stmt, name: str) -> bool:
    """Whether running a statement to its end binds the name whatever happens."""
    if isinstance(statement, ir.If):
        return bool(statement.orelse) and all(
            leaves(branch) or any(surely_binds(s, name) for s in branch)
            for branch in (statement.body, statement.orelse)
        )
    if isinstance(statement, ir.With):
        targets = [item.target for item in statement.items if item.target is not None]
        return any(name in target_names(t) for t in targets) or any(surely_binds(s, name) for s in statement.body)
    if isinstance(statement, (ir.FunctionDef, ir.ClassDef, ir.Import, ir.ImportFrom)):
        return name in uses(statement).binds
    return any(name in target_names(target) for target in _assigned(statement))


def _assigned(statement: ir.Stmt) -> list[ir.Expr]:
    """The targets of an assignment."""
    if isinstance(statement, ir.Assign):
        return statement.targets
    if isinstance(statement, ir.AugAssign) or (isinstance(statement, ir.AnnAssign) and statement.value is not None):
        return [statement.target]
    return []


def leaves(block: list[ir.Stmt]) -> bool:
    """Whether control never reaches the end of the block."""
    last = block[-1] if block else None
    if isinstance(last, ir.If):
        return bool(last.orelse) and leaves(last.body) and leaves(last.orelse)
    return isinstance(last, (ir.Return, ir.Raise, ir.Break, ir.Continue))


def bound_before(source: FixSource, statement: ir.Stmt, name: str) -> bool:
    """Whether the innermost function's own ``name`` is surely bound when ``statement`` begins."""
    function = source.functions(statement)
    if not function:
        return False
    if any(p.name == name for p in function[0].params):
        return True
    return binder_before(source, statement, name) is not None


def binder_before(source: FixSource, statement: ir.Stmt, name: str) -> ir.Stmt | None:
    """The last statement before this one that surely binds the name, going outwards to the function's start."""
    place: Place = source.place(statement)
    while True:
        block = place.block
        binding = source.remember(f"{name} in {id(block)}", place.owner, functools.partial(_binding, block, name))
        earlier = bisect_left(binding, place.index)
        if earlier:
            return block[binding[earlier - 1]]
        owner = place.owner
        if isinstance(owner, (ir.ExceptHandler, ir.MatchCase)):
            owner = source.parent(owner)
        if not isinstance(owner, (ir.If, ir.For, ir.While, ir.With, ir.Try, ir.Match)):
            return None
        if isinstance(owner, ir.For) and name in target_names(owner.target) and place.block is owner.body:
            return owner
        if isinstance(owner, ir.With) and surely_binds(owner, name):
            return owner
        place = source.place(owner)


def _binding(block: list[ir.Stmt], name: str) -> list[int]:
    """Which statements of a block surely bind a name."""
    return [index for index, statement in enumerate(block) if surely_binds(statement, name)]


def read_outside(source: FixSource, function: ir.Function, inside: msgspec.Struct, name: str) -> bool:
    """Whether the function reads the name anywhere but within ``inside``."""
    skip = id(inside)
    stack: list[msgspec.Struct] = [*function.body]
    while stack:
        node = stack.pop()
        if id(node) == skip:
            continue
        if isinstance(node, ir.Name) and node.id == name and not is_target(source, node):
            return True
        stack.extend(children(node))
    return name in function.global_names or name in function.nonlocal_names


def is_target(source: FixSource, node: ir.Name) -> bool:
    """Whether a name stands where it is only bound."""
    below: msgspec.Struct = node
    for above in source.ancestors(node):
        if isinstance(above, (ir.Tuple, ir.List, ir.Starred)):
            below = above
            continue
        if isinstance(above, ir.Assign):
            return any(below is t for t in above.targets)
        if isinstance(above, (ir.AnnAssign, ir.For, ir.Generator, ir.WithItem)):
            return below is above.target
        return False
    raise Refused


def own_statements(owner: ir.Function | ir.Module) -> Iterator[ir.Stmt]:
    """The statements of a function or module, in no particular order, without those of functions and classes in it."""
    stack: list[msgspec.Struct] = [*owner.body]
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Node) and not isinstance(node, (ir.ExceptHandler, ir.MatchCase)):
            yield node  # type: ignore[misc]
        if isinstance(node, (ir.If, ir.For, ir.While)):
            stack += [*node.body, *node.orelse]
        elif isinstance(node, ir.With):
            stack += node.body
        elif isinstance(node, ir.Try):
            stack += [*node.body, *node.handlers, *node.orelse, *node.finalbody]
        elif isinstance(node, (ir.ExceptHandler, ir.MatchCase)):
            stack += node.body
        elif isinstance(node, ir.Match):
            stack += node.cases


def header_of(statement: ir.Stmt) -> list[msgspec.Struct] | None:
    """What a compound statement evaluates itself, without the statements in it; None for a simple one."""
    if isinstance(statement, (ir.If, ir.While)):
        return [statement.test]
    if isinstance(statement, ir.For):
        return [msgspec.structs.replace(statement, body=[], orelse=[])]
    if isinstance(statement, ir.With):
        return list(statement.items)
    if isinstance(statement, ir.Try):
        return [msgspec.structs.replace(handler, body=[]) for handler in statement.handlers]
    if isinstance(statement, ir.Match):
        return [statement.subject, *[msgspec.structs.replace(case, body=[]) for case in statement.cases]]
    return None
