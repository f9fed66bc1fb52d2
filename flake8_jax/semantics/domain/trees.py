"""The leaves of pytrees of known structure.

Vocabulary
----------
leaf        what JAX does not take apart: an array, a number, an unknown value.
children    what a node of a pytree holds directly; None where not all of it is known.

Three walks with bounds of their own, because their callers want different things: all leaves in order
(``collect_leaves``), one list value of them (``listed_leaves``), and what may be read or donated (``leaves_of``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.values import (
    UNKNOWN_TRACE,
    Array,
    Const,
    DictValue,
    ExternalInstance,
    HostArray,
    Instance,
    Level,
    ListValue,
    Room,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    copy_with_new_identity,
    is_registered,
)

MAX_COLLECTED = 32


def collect_leaves(value: Value, found: list[Value], depth: int = 8, room: Room | None = None) -> bool:
    """Gather the leaves of a pytree; False if its structure is not fully known."""
    if isinstance(value, (Array, HostArray, Static)) or (isinstance(value, Const) and value.value is not None):
        found.append(value)
        return True
    if isinstance(value, Const):
        return True
    room = room if room is not None else Room()
    if depth == 0 or len(found) > MAX_COLLECTED or not room.enter(value):
        return False
    listed = _CHILDREN.get(type(value))
    children = listed(value) if listed is not None else None
    return children is not None and all(collect_leaves(c, found, depth - 1, room) for c in children)


def _closed_items(value: DictValue) -> Iterable[Value] | None:
    return [v for _, v in value.items()] if value.is_closed() else None


def _fields(value: Instance) -> Iterable[Value] | None:
    """The leaves of an object of a pytree class all of whose attributes are known."""
    if "pytree" not in value.cls.traits or not value.complete:
        return None
    return [v for k, v in value.slots.items() if k not in value.cls.static_names]


_CHILDREN: dict[type, Callable[[Any], Iterable[Value] | None]] = {
    TupleValue: lambda value: None if is_registered(value) else value.elts,
    ListValue: ListValue.known,
    DictValue: _closed_items,
    Instance: _fields,
}
"""The children of a pytree node, by its type; None where not all are known."""


def leaf_of(value: Value, depth: int = 6) -> Value:
    """Any one leaf of a pytree."""
    if isinstance(value, Tree):
        return Array(value.level)
    if isinstance(value, (Array, HostArray)):
        return value
    found: list[Value] = []
    if depth <= 0:
        return Unknown("deep")
    if collect_leaves(value, found) and found:
        return copy_with_new_identity(joining.join_all(found))
    if isinstance(value, Unknown):
        return Unknown("leaf", host_test=value.host_test, untraced=value.untraced)
    if isinstance(value, ListValue):
        return leaf_of(joining.any_element(value), depth - 1)
    if isinstance(value, DictValue) and value.slots.get("*") is not None:
        return leaf_of(value.slots["*"], depth - 1)
    return Unknown("leaf")


MAX_LISTED = 16


def listed_leaves(value: Value | None, made_in: int = UNKNOWN_TRACE) -> Value:
    """A list of the leaves of an argument, made in that trace."""
    found: list[Value] = []
    if value is None:
        return Unknown("leaves")
    if collect_leaves(value, found) and len(found) <= MAX_LISTED:
        return ListValue(tuple(found), made_in=made_in)
    return ListValue(None, leaf_of(value), made_in=made_in)


def tree_of(value: Value | None) -> Value:
    """A pytree with the leaves of an argument, where these are alike."""
    found = _leaves_level(value) if value is not None else None
    return Tree(found) if found is not None else Unknown("tree")


def _leaves_level(value: Value, depth: int = 8, room: Room | None = None) -> Level | None:
    """The level that all leaves of a pytree have, None where they differ or are not all known to be arrays."""
    if isinstance(value, (Array, Tree)):
        return value.level
    listed = _ALIKE.get(type(value))
    parts = listed(value) if listed is not None else ()
    room = room if room is not None else Room()
    levels = {_leaves_level(v, depth - 1, room) for v in parts} if depth and room.enter(value) else {None}
    return levels.pop() if len(levels) == 1 else None


def _elements_or_any(value: ListValue) -> Iterable[Value]:
    known = value.known()
    return (joining.any_element(value),) if known is None else known


_ALIKE: dict[type, Callable[[Any], Iterable[Value]]] = {
    TupleValue: lambda value: value.elts,
    ListValue: _elements_or_any,
    DictValue: lambda value: [v for slot, v in value.slots.items() if slot != "open"],
    UnionValue: lambda value: value.members,
    Instance: lambda value: _fields(value) or (),
}
"""What stands for all children of a value, by its type."""


MAX_LEAVES = 60

_NODES = frozenset({TupleValue, ListValue, DictValue, ExternalInstance, Instance})


def leaves_of(value: Value, *, individual: bool = False) -> list[Value]:
    """The arrays, and the unknown values, that a pytree of known structure holds; the value itself if it is one.

    individual: leave out those that stand for any number of them (the items under unknown keys, the fields of a generic
    object): what happens to one of those says nothing of the next.
    """
    found: list[Value] = []
    todo, room = [value], Room()
    while todo and len(found) < MAX_LEAVES:
        current = todo.pop()
        if isinstance(current, (Array, Tree, Unknown, HostArray)):
            found.append(current)
        elif type(current) in _NODES:
            if not room.enter(current):
                break
            todo += _children_of(current, individual)[::-1]
    return found


def _children_of(node: Value, individual: bool) -> Sequence[Value]:
    if isinstance(node, TupleValue):
        return node.elts
    if isinstance(node, (ListValue, DictValue, ExternalInstance)):
        return [v for k, v in node.slots.items() if isinstance(v, Value) and not (individual and k == "*")]
    if not isinstance(node, Instance) or "pytree" not in node.cls.traits or (individual and node is node.cls.generic):
        return ()
    return [v for k, v in node.slots.items() if isinstance(v, Value) and k not in node.cls.static_names]
