"""Which of the new keys of a ``split`` the code uses: two splits of one key that use different ones share nothing.

``split(key, n)[i]`` and ``split(key, m)[i]`` are one key (since JAX 0.5, and with equal numbers before), and keys of different
indices differ.

Vocabulary
----------
children    the new keys, by index; ``more``: all from an index on. Unknown use is use of all.
unread      a name that nothing reads, and ``_``: no code uses its child.
stored      a child that is only put into a field: ``state.replace(rng=child)``. Two splits that store the same child
            in a field of the same name leave the object as one of them does.

Limitations: children of a mapped ``split``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import last_name, statement_at
from flake8_jax.semantics.domain.stack import Place
from flake8_jax.semantics.trackers.key_names import Names, NamesOfBodies, body_around, called_as

END = sys.maxsize


class Part(NamedTuple):
    """The children from ``start`` up to ``stop``. field: the name of the field that they are stored in, if that is all."""

    start: int
    stop: int
    field: str = ""


_ALL = (Part(0, END),)


def are_apart(first: Place, second: Place, names: NamesOfBodies) -> bool:
    """Of two splits of one key, no child that the code uses is the same."""
    ours, theirs = _children_used(second, names), _children_used(first, names)
    return not any(
        max(a.start, b.start) < min(a.stop, b.stop, _count(first), _count(second))
        and not (a.field and a.field == b.field)
        for a in ours
        for b in theirs
    )


def are_apart_by_chance(first: Place, second: Place, names: NamesOfBodies) -> bool:
    """Of two splits that are apart, in two functions, a new key is the same as soon as some code reads a name that one of
    them binds: ``key, *others = split(key, n)``, where nothing reads ``key``."""
    if first.function is second.function:
        return False
    ours, theirs = _children_used(second, names, unread=True), _children_used(first, names, unread=True)
    return any(max(a.start, b.start) < min(a.stop, b.stop, _count(first), _count(second)) for a in ours for b in theirs)


def gives_nothing(split: Place, names: NamesOfBodies) -> bool:
    """The code uses none of the new keys."""
    return not _children_used(split, names)


def is_other_child(split: Place, fold: Place, names: NamesOfBodies) -> bool:
    """``fold_in(key, i)`` is ``split(key, n)[i]`` if there is such a child; here there is none, or nothing uses it."""
    at = _folded(fold)
    if at is None:
        return True
    used = _children_used(split, names)
    return not any(max(at.start, part.start) < min(at.stop, part.stop, _count(split)) for part in used)


def _folded(place: Place) -> Part | None:
    """The children that ``fold_in`` may give; None for hashes and the like."""
    call: Any = place.node
    given = [a.value for a in call.args if not a.star] if isinstance(call, ir.Call) else []
    if len(given) != 2 or called_as(place.scope, call.func) != "fold_in":
        return None
    data = given[1]
    if (exact := _constant(data)) is not None:
        return Part(exact, exact + 1)
    if isinstance(data, ir.Call):
        return Part(0, END) if last_name(data.func) in _COUNTED else None
    if isinstance(data, ir.BinOp) and data.op == "+":
        return Part(max(_constant(side) or 0 for side in (data.left, data.right)), END)
    return Part(0, END) if isinstance(data, (ir.Name, ir.Attribute)) else None


_COUNTED = frozenset({"axis_index", "process_index", "program_id"})
"""Functions that count from zero."""


def _count(place: Place) -> int:
    """How many new keys there are, at most."""
    split: Any = place.node
    if not is_split(place) or any(a.star for a in split.args):
        return END
    for i, argument in enumerate(split.args):
        if argument.keyword == "num" or (i == 1 and not argument.keyword):
            count = _constant(argument.value)
            return END if count is None else count
    return 2


def _children_used(place: Place, names: NamesOfBodies, *, unread: bool = False) -> tuple[Part, ...]:
    """unread: those count, too, that have a name which nothing reads."""
    split: Any = place.node
    if not is_split(place):
        return _ALL
    statement = statement_at(body_around(place), split)
    if not isinstance(statement, ir.Assign):
        return _taken(statement, split) if statement is not None else _ALL
    if statement.value is not split:
        return _taken(statement, split)
    known = names.around(place)
    found: list[Part] = []
    for target in statement.targets:
        if isinstance(target, (ir.Tuple, ir.List)):
            found += _unpacked(target.elts, known, statement, unread=unread)
        else:
            found += _named(target, known, statement)
    return tuple(found)


def is_split(place: Place) -> bool:
    """The place is the call of ``split`` itself."""
    node: Any = place.node
    return isinstance(node, ir.Call) and called_as(place.scope, node.func) == "split"


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


def _unpacked(targets: list[ir.Expr], names: Names, binding: ir.Stmt, *, unread: bool) -> Iterator[Part]:
    """``a, b, *rest = split(key, n)``."""
    for i, target in enumerate(targets):
        if isinstance(target, ir.Starred):
            yield Part(i, END)
            return  # those after it count from the end
        if not isinstance(target, ir.Name) or (unread and not target.id.startswith("_")):
            yield Part(i, i + 1)
        elif target.id != "_":
            yield from _stored(i, names, names.read_after(target.id, binding))


def _stored(index: int, names: Names, reads: Iterator[ir.Name]) -> Iterator[Part]:
    """The child at an index, if something reads it."""
    fields: set[str] = set()
    for node in reads:
        parent = names.parents.get(id(node))
        fields.add((parent.keyword or "") if isinstance(parent, ir.Argument) else "")
        if len(fields) > 1 or "" in fields:
            yield Part(index, index + 1)
            return
    for field in fields:
        yield Part(index, index + 1, field)


def _named(target: ir.Expr, names: Names, binding: ir.Stmt) -> Iterator[Part]:
    """``keys = split(key, n)``: the children that ``keys[i]`` and ``keys[i:j]`` take."""
    if not isinstance(target, ir.Name):
        yield from _ALL
        return
    for node in names.read_after(target.id, binding):
        parent = names.parents.get(id(node))
        part = _part_at(parent.index) if isinstance(parent, ir.Subscript) else None
        if part is None:
            yield from _ALL
            return
        yield part
