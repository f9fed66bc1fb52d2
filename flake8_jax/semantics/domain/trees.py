"""The leaves of pytrees of known structure.

Three walks with bounds of their own, because their callers want different things: all leaves in order
(``collect_leaves``), one list value of them (``listed_leaves``), and what may be read or donated (``leaves_of``).
"""

from __future__ import annotations

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.values import (
    Array,
    Const,
    DictValue,
    ExternalInstance,
    HostArray,
    Instance,
    ListValue,
    Room,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    freshen,
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
    children: list[Value] | None = None
    if isinstance(value, TupleValue):
        children = list(value.elts)
    elif isinstance(value, ListValue) and value.known() is not None:
        children = list(value.known() or ())
    elif isinstance(value, DictValue) and not value.slots["open"] and "*" not in value.slots:
        children = [v for _, v in value.items()]
    elif isinstance(value, Instance) and "pytree" in value.cls.traits and value.complete:
        children = [v for k, v in value.slots.items() if k not in value.cls.static_names]
    if children is None:
        return False
    return all(collect_leaves(c, found, depth - 1, room) for c in children)


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
        return freshen(joining.join_all(found))
    if isinstance(value, ListValue):
        return leaf_of(joining.any_element(value), depth - 1)
    if isinstance(value, DictValue) and value.slots.get("*") is not None:
        return leaf_of(value.slots["*"], depth - 1)
    return Unknown("leaf")


MAX_LISTED = 16


def listed_leaves(value: Value | None) -> Value:
    """A list of the leaves of an argument."""
    found: list[Value] = []
    if value is None:
        return Unknown("leaves")
    if collect_leaves(value, found) and len(found) <= MAX_LISTED:
        return ListValue(tuple(found))
    return ListValue(None, leaf_of(value))


def tree_of(value: Value | None) -> Value:
    """A pytree with the leaves of an argument, where these are alike."""
    found = _leaves_level(value) if value is not None else None
    return Tree(found) if found is not None else Unknown("tree")


def _leaves_level(value: Value, depth: int = 8, room: Room | None = None) -> int | None:
    """The level that all leaves of a pytree have, None where they differ or are not all known to be arrays."""
    if isinstance(value, (Array, Tree)):
        return value.level
    parts: list[Value] = []
    if isinstance(value, TupleValue):
        parts = list(value.elts)
    elif isinstance(value, ListValue):
        known = value.known()
        parts = [joining.any_element(value)] if known is None else list(known)
    elif isinstance(value, DictValue):
        parts = [v for slot, v in value.slots.items() if slot != "open"]
    elif isinstance(value, UnionValue):
        parts = list(value.members)
    elif isinstance(value, Instance) and "pytree" in value.cls.traits and value.complete:
        parts = [v for name, v in value.slots.items() if name not in value.cls.static_names]
    room = room if room is not None else Room()
    levels = {_leaves_level(v, depth - 1, room) for v in parts} if depth and room.enter(value) else {None}
    return levels.pop() if len(levels) == 1 else None


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
        elif type(current) in _NODES and not room.enter(current):
            break
        elif isinstance(current, TupleValue):
            todo += current.elts[::-1]
        elif isinstance(current, (ListValue, DictValue, ExternalInstance)):
            held = [v for k, v in current.slots.items() if isinstance(v, Value) and not (individual and k == "*")]
            todo += held[::-1]
        elif isinstance(current, Instance) and "pytree" in current.cls.traits:
            if individual and current is current.cls.generic:
                continue
            static = current.cls.static_names
            todo += [v for k, v in current.slots.items() if isinstance(v, Value) and k not in static][::-1]
    return found
