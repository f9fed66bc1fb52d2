"""Collections of keys of any number: what a loop over all of them has used, none of their elements has left.

    [init(k) for k in keys]      each element is another key, and in the end the loop has used them all:
    [noise(k) for k in keys]     the elements of a second loop, and ``keys[0]``, are used by then

Vocabulary
----------
whole       a value that stands for all elements of a collection: of an array of keys what each element of a ``vmap`` over it
            gets, of a list of unknown length the value that is any element.
member      an element that a loop, an index or ``zip`` has taken out of a collection, which has a whole.

A loop that is left early, and a use that hangs on a test, say nothing of all elements. Limitations: collections of known
length (their elements are distinguished), dictionaries, collections of unknown type (they may be iterators), slices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.boundary import mapped_element
from flake8_jax.semantics.domain.values import Array, ListValue, TupleValue, Value, canonical_key
from flake8_jax.semantics.machine.tracker import Tracker
from flake8_jax.semantics.trackers.keys import DONATE, Keys

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.domain.stack import LoopState
    from flake8_jax.semantics.machine.core import Machine

Members = list[tuple[Value, Value]]
"""Elements with their wholes."""


class KeyCollections(Tracker):
    """wholes: of each member, by the member."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.wholes: dict[Value, Value] = {}

    def enter(self) -> dict[Value, Value]:
        saved, self.wholes = self.wholes, {}
        return saved

    def leave(self, saved: dict[Value, Value], *, finished: bool) -> None:
        self.wholes = saved

    def loop_leave(self, frame: Frame, loop: LoopState, at: ir.Expr, trips: int | None) -> None:
        members: Members | None = loop.records.get(KeyCollections)
        if members and not loop.exits and not _skips(loop.node):
            track_all_used(self.m, members)


def _skips(node: Any) -> bool:
    """A comprehension that leaves elements out."""
    return isinstance(node, ir.Comprehension) and any(generator.ifs for generator in node.generators)


def whole_of(value: Value) -> Value | None:
    """What stands for all elements of a collection; None where it has no keys, or each key is known by itself."""
    if isinstance(value, Array):
        return mapped_element(value) if value.dtype == "key" and value.ndim != 0 else None
    if isinstance(value, ListValue) and value.known() is None:
        element = value.slots.get("*")
        return element if isinstance(element, Array) and element.dtype == "key" else None
    return None


def members_taken(m: Machine, collection: Value, element: Value) -> Members:
    """An element is taken out of a collection: it is used if all are."""
    whole = whole_of(collection)
    if whole is not None:
        return _linked(m, element, whole)
    wholes = m.trackers[KeyCollections].wholes
    produced = getattr(collection, "element", None)  # of a generator, such as ``zip`` makes
    return _members_within(m, wholes, produced, element) if wholes and produced is not None else []


def _members_within(m: Machine, wholes: dict[Value, Value], model: Any, element: Any) -> Members:
    """The members among the parts of what a generator gives, which is another one each time."""
    if isinstance(model, TupleValue) and isinstance(element, TupleValue):
        pairs = zip(model.elts, element.elts, strict=False)
        return [member for part, other in pairs for member in _members_within(m, wholes, part, other)]
    whole = wholes.get(model) if isinstance(model, Array) else None
    return _linked(m, element, whole) if whole is not None else []


def _linked(m: Machine, element: Value, whole: Value) -> Members:
    if not isinstance(element, Array) or canonical_key(element) is canonical_key(whole):
        return []
    collections, keys = m.trackers[KeyCollections], m.trackers[Keys]
    whole = collections.wholes.get(whole, whole)  # ``list(keys)`` has the keys of the array
    collections.wholes[element] = whole
    used = keys.uses.get(canonical_key(whole), ())
    earlier = keys.uses.get(canonical_key(element), ())
    added = tuple(use for use in used if use not in earlier and use.effect != DONATE)
    if added:
        m.journal.write(keys.uses, canonical_key(element), (*added, *earlier))
    return [(element, whole)]


def track_all_used(m: Machine, members: Members) -> None:
    """A loop has run for all elements: what it did with each of these, it did with every other one."""
    keys = m.trackers[Keys]
    if not keys.uses:
        return
    held = frozenset(m.path.conditions)
    for element, whole in members:
        known = keys.uses.get(canonical_key(whole), ())
        used = [
            use for use in keys.uses.get(canonical_key(element), ()) if use.effect != DONATE and use.conditions <= held
        ]
        added = tuple(use for use in used if use not in known)
        if added:
            m.journal.write(keys.uses, canonical_key(whole), (*known, *added))
