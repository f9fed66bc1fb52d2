"""Which of the new keys of a ``split`` the code uses: two splits of one key that use different ones share nothing.

``split(key, n)[i]`` and ``split(key, m)[i]`` are one key (since JAX 0.5, and with equal numbers before), and keys of different
indices differ.

Vocabulary
----------
children    the new keys, by index; ``more``: all from an index on. Unknown use is use of all.
unread      a name that nothing reads, and ``_``: its child is used by nobody.
stored      a child that is only put into a field: ``state.replace(rng=child)``. Two splits that store the same child
            in a field of the same name leave the object as one of them does.

Not modelled: names that nested functions bind anew, children of a mapped ``split``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import statement_at
from flake8_jax.semantics.domain.stack import Place

END = sys.maxsize


class Part(NamedTuple):
    """The children from ``start`` up to ``stop``. field: the name of the field that they are stored in, if that is all."""

    start: int
    stop: int
    field: str = ""


_ALL = (Part(0, END),)
_REPLACING = frozenset({"replace", "_replace"})


def are_apart(first: Place, second: Place) -> bool:
    """Of two splits of one key, no child that the code uses is the same."""
    ours, theirs = _children_used(second), _children_used(first)
    return not any(
        max(a.start, b.start) < min(a.stop, b.stop, _count(first.node), _count(second.node))
        and not (a.field and a.field == b.field)
        for a in ours
        for b in theirs
    )


def _count(split: Any) -> int:
    """How many new keys there are, at most."""
    if not isinstance(split, ir.Call) or not _is_plain(split.func) or any(a.star for a in split.args):
        return END
    for i, argument in enumerate(split.args):
        if argument.keyword == "num" or (i == 1 and not argument.keyword):
            count = _constant(argument.value)
            return END if count is None else count
    return 2


def _children_used(place: Place) -> tuple[Part, ...]:
    split: Any = place.node
    if not isinstance(split, ir.Call) or not _is_plain(split.func):
        return _ALL
    body = place.function.body if place.function is not None else place.scope.tree.body
    statement = statement_at(body, split)
    if not isinstance(statement, ir.Assign):
        return _taken(statement, split) if statement is not None else _ALL
    if statement.value is not split:
        return _taken(statement, split)
    reads = _Reads(body, statement)
    found: list[Part] = []
    for target in statement.targets:
        if isinstance(target, (ir.Tuple, ir.List)):
            found += _unpacked(target.elts, reads)
        else:
            found += _named(target, reads)
    return tuple(found)


def _is_plain(function: ir.Expr) -> bool:
    return (isinstance(function, ir.Attribute) and function.attr == "split") or (
        isinstance(function, ir.Name) and function.id == "split"
    )


def _taken(statement: ir.Node, split: ir.Call) -> tuple[Part, ...]:
    """``split(key)[1]`` in the middle of a statement."""
    for node in walk(statement):
        if isinstance(node, ir.Subscript) and node.value is split:
            part = _part_at(node.index)
            return (part,) if part is not None else _ALL
    return _ALL


def _part_at(index: ir.Expr) -> Part | None:
    """The children at an index or slice of constants that count from the start."""
    if isinstance(index, ir.Slice):
        start = 0 if index.lower is None else _constant(index.lower)
        stop = END if index.upper is None else _constant(index.upper)
        return Part(start, stop) if start is not None and stop is not None and index.step is None else None
    at = _constant(index)
    return Part(at, at + 1) if at is not None else None


def _constant(node: ir.Expr) -> int | None:
    return node.value if isinstance(node, ir.Constant) and type(node.value) is int and node.value >= 0 else None


class _Reads:
    """Where the names are read that a statement binds: behind it, in a loop around it, in nested functions."""

    def __init__(self, body: list[ir.Stmt], binding: ir.Assign) -> None:
        self.nodes: dict[str, list[ir.Name]] = {}
        self.parents: dict[int, Any] = {}
        names: list[ir.Name] = []
        stored: set[int] = set()
        since = 0 if _is_in_loop(body, binding) else binding.end
        nested: set[int] = set()
        for statement in body:
            for node in walk(statement):
                if isinstance(node, ir.Name):
                    names.append(node)
                elif isinstance(node, ir.Assign):
                    stored |= {id(name) for target in node.targets for name in _names_bound(target)}
                elif isinstance(node, ir.Subscript):
                    self.parents[id(node.value)] = node
                elif isinstance(node, ir.Call):
                    self._note_fields(node)
                elif isinstance(node, ir.Function):
                    nested |= {id(name) for name in walk(node) if isinstance(name, ir.Name)}
        for name in names:
            if id(name) not in stored and (name.start >= since or id(name) in nested):
                self.nodes.setdefault(name.id, []).append(name)

    def _note_fields(self, call: ir.Call) -> None:
        if isinstance(call.func, ir.Attribute) and call.func.attr in _REPLACING:
            for argument in call.args:
                if argument.keyword:
                    self.parents[id(argument.value)] = argument


def _names_bound(target: ir.Expr) -> Iterator[ir.Name]:
    if isinstance(target, (ir.Tuple, ir.List)):
        for element in target.elts:
            yield from _names_bound(element)
    elif isinstance(target, ir.Starred):
        yield from _names_bound(target.value)
    elif isinstance(target, ir.Name):
        yield target


def _is_in_loop(body: list[ir.Stmt], statement: ir.Stmt) -> bool:
    loops = (node for s in body for node in walk(s) if isinstance(node, (ir.For, ir.While)))
    return any(loop.start <= statement.start and statement.end <= loop.end for loop in loops)


def _unpacked(targets: list[ir.Expr], reads: _Reads) -> Iterator[Part]:
    """``a, b, *rest = split(key, n)``."""
    for i, target in enumerate(targets):
        if isinstance(target, ir.Starred):
            yield Part(i, END)
            return  # those behind it count from the end
        if not isinstance(target, ir.Name):
            yield Part(i, i + 1)
        elif target.id != "_" and target.id in reads.nodes:
            uses = [reads.parents.get(id(node)) for node in reads.nodes[target.id]]
            fields = {(use.keyword or "") if isinstance(use, ir.Argument) else "" for use in uses}
            yield Part(i, i + 1, fields.pop() if len(fields) == 1 else "")


def _named(target: ir.Expr, reads: _Reads) -> Iterator[Part]:
    """``keys = split(key, n)``: the children that ``keys[i]`` and ``keys[i:j]`` take."""
    if not isinstance(target, ir.Name):
        yield from _ALL
        return
    for node in reads.nodes.get(target.id, []):
        parent = reads.parents.get(id(node))
        part = _part_at(parent.index) if isinstance(parent, ir.Subscript) else None
        yield part if part is not None else _ALL[0]
