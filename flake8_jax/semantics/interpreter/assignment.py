"""Binding targets: names, unpacking, attributes, items.

Vocabulary
----------
target      what stands on the left: a name, an attribute, an item, a tuple of targets.
source      the IR of the value, for reports about unpacking and for ``x = x + 1``.
star        the target that takes what the others leave: ``a, *rest = x``.

Limitations: ``del`` of names seen from other scopes, extended slices on the left of an assignment.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.code import reads_itself
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.sizes import track_filled
from flake8_jax.semantics.domain.values import (
    GRAD,
    LIBRARY,
    Array,
    Const,
    DictValue,
    External,
    HostArray,
    Instance,
    ListValue,
    Tree,
    UnionValue,
    Unknown,
    Value,
    hashes_tracer,
    known_elements,
    level_of,
)
from flake8_jax.semantics.events.events import Hashing, HashKind, Iteration, Store, StoreKind
from flake8_jax.semantics.events.facts import TAKES_ITEMS
from flake8_jax.semantics.interpreter.attributes import store_attribute
from flake8_jax.semantics.interpreter.containers import item_of, set_item
from flake8_jax.semantics.interpreter.iteration import iterated
from flake8_jax.semantics.interpreter.operations import call_method
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import evaluate
from flake8_jax.semantics.trackers.allocations import Change, emit_change, undo_changes
from flake8_jax.semantics.trackers.clocks import DeviceWork, track_wait
from flake8_jax.semantics.trackers.contracts import track_stored_rule
from flake8_jax.semantics.trackers.effects import may_wait
from flake8_jax.semantics.trackers.freshness import track_kept
from flake8_jax.semantics.trackers.globals import GlobalReads, track_contents, track_rebinding, track_second_assignment
from flake8_jax.semantics.trackers.host_buffers import track_kept_result, track_overwritten
from flake8_jax.semantics.trackers.late_binding import track_stored
from flake8_jax.semantics.trackers.loaders import vary_parts
from flake8_jax.semantics.trackers.process import ENVIRON, set_variable
from flake8_jax.semantics.trackers.products import Products, check_unpacking
from flake8_jax.semantics.trackers.staleness import Staleness, track_rebound_variable, track_replaced_item
from flake8_jax.semantics.trackers.steps import TrainingSteps, keep
from flake8_jax.semantics.trackers.versions import track_member


def emit_hash(m: Machine, frame: Frame, at: Any, value: Value, how: HashKind) -> None:
    """Tell the rules that a value that holds a tracer is hashed."""
    if m.bus.wants(Hashing) and hashes_tracer(value, GRAD):
        m.bus.emit(Hashing(m.path.context(frame.scope), at, value, how))


def store_item(m: Machine, change: Change, index: Value) -> None:
    """``base[index] = value``."""
    frame, node, base, value = change.frame, change.node, change.target, change.value
    assert base is not None and value is not None
    track_kept(m, value)
    track_stored(m, value)
    track_kept_result(m, value)
    if isinstance(base, Array) and isinstance(index, Const) and isinstance(index.value, str):
        base = Unknown("no array")  # which has no such items: a guess somewhere above was wrong
        change = msgspec.structs.replace(change, target=base)
    if m.bus.wants(Store):
        how: StoreKind = "item-augmented" if change.how == "item-augmented" else "item"
        m.bus.emit(Store(m.path.context(frame.scope), node, how, base, value, "", change.op, index))
        if not isinstance(base, (Array, Tree, UnionValue)):
            m.bus.record_fact(TAKES_ITEMS, frame.scope, node.start)
    if isinstance(base, External):
        track_stored_rule(m, base, value)
        if base.name == ENVIRON:
            set_variable(m, frame, node, index, value)
    if isinstance(base, DictValue):
        emit_hash(m, frame, node.index, index, "dict-key")
    if m.trackers[TrainingSteps].taken is not None and not isinstance(base, (Array, HostArray)):
        keep(m, value)
    if m.path.mode.staged:
        emit_change(m, change)
    else:
        track_contents(m, frame, node, base, value, index)
        track_replaced_item(m, frame, node, base, index)
    if isinstance(base, Instance):
        call_method(m, frame, node, base, "__setitem__", index, value)
        return
    track_filled(base)
    if isinstance(base, HostArray):
        track_overwritten(m, frame, node, base)
        if m.trackers[DeviceWork].timing and may_wait(value):  # NumPy copies it
            track_wait(m, frame, node)
    set_item(m, base, index, value)


def assign(m: Machine, frame: Frame, target: ir.Expr, value: Value, source: ir.Expr | None, op: str = "") -> None:
    """Bind a target to a value. ``source``: the IR of the value, for events about unpacking."""
    kind = type(target)
    if kind is ir.Name:
        _bind(m, frame, target, value, source, op)  # type: ignore[arg-type]
    elif kind is ir.Tuple or kind is ir.List:
        _unpack(m, frame, target, value, source)  # type: ignore[arg-type]
    elif kind is ir.Attribute:
        base = evaluate(m, frame, target.value)  # type: ignore[union-attr,arg-type]
        track_member(m, frame.scope, target, base)  # type: ignore[arg-type]
        change = Change(frame, target, "attribute", base, value, target.attr, op)  # type: ignore[union-attr]
        store_attribute(m, change, source)
    elif kind is ir.Subscript:
        base = evaluate(m, frame, target.value)  # type: ignore[union-attr,arg-type]
        index = evaluate(m, frame, target.index)  # type: ignore[union-attr]
        if isinstance(base, HostArray) and isinstance(index, Const) and isinstance(index.value, str):
            base = _as_mapping(m, frame, target.value)  # type: ignore[union-attr,arg-type]
        itself = reads_itself(frame.scope, target, source)
        store_item(m, Change(frame, target, "item", base, value, itself=itself), index)
    elif kind is ir.Starred:
        assign(m, frame, target.value, value, source)  # type: ignore[union-attr,arg-type]


def _as_mapping(m: Machine, frame: Frame, node: ir.Expr) -> Value:
    """Data of the host, as a file gives it, that takes items by name, and so is a dict: from now on it may hold anything."""
    mapping = Unknown(LIBRARY)
    if isinstance(node, ir.Name) and node.id in frame.slots:
        m.journal.write(frame.slots, node.id, mapping)
    return mapping


def _emit_rebinding(m: Machine, change: Change, source: ir.Expr | None) -> None:
    """A variable of an outer scope is rebound; ``made_in``: the trace in which that scope was made."""
    if m.path.mode.staged:
        itself = bool(change.op) or reads_itself(change.frame.scope, change.node, source)
        if not itself and change.value is not None and not level_of(change.value) >= GRAD:
            undo_changes(m, None, change.name, change.made_in)
        emit_change(m, msgspec.structs.replace(change, itself=itself))


def _bind(m: Machine, frame: Frame, target: ir.Name, value: Value, source: ir.Expr | None, op: str) -> None:
    fn = frame.fn
    name = target.id
    if fn is not None:
        if name in fn.global_names:
            track_kept(m, value)
            _emit_rebinding(m, Change(frame, target, "global", None, value, name, op, 0), source)
            track_rebinding(m, frame, name)
            joined = joining.join(frame.scope.slots.get(name, value), value)
            # Which of its values a global has by then, only the host knows.
            m.journal.write(
                frame.scope.slots, name, Unknown(name, host_test=True) if type(joined) is Unknown else joined
            )
            return
        if name in fn.nonlocal_names:
            track_kept(m, value)
            outer = frame.parent
            while outer is not None and name not in outer.slots:
                outer = outer.parent
            if outer is not None:
                _emit_rebinding(m, Change(frame, target, "nonlocal", None, value, name, op, outer.trace), source)
            slots = outer.slots if outer is not None else frame.slots
            track_rebound_variable(m, frame, target, slots, name, value)
            m.journal.write(slots, name, value)
            return
    elif m.trackers[GlobalReads].staged and frame.slots is frame.scope.slots:
        track_second_assignment(m, frame.scope, name, target.start)
    if fn is not None and m.trackers[Staleness].cells:
        track_rebound_variable(m, frame, target, frame.slots, name, value)
    m.journal.write(frame.slots, name, value)


class Targets(NamedTuple):
    """What a value is unpacked to. star: the index of the target that takes what is left."""

    node: ir.Tuple | ir.List
    number: int
    star: int | None


def _unpack(m: Machine, frame: Frame, target: ir.Tuple | ir.List, value: Value, source: ir.Expr | None) -> None:
    star = next((i for i, t in enumerate(target.elts) if isinstance(t, ir.Starred)), None)
    targets = Targets(target, len(target.elts), star)
    if id(value) in m.trackers[Products].made:
        if not check_unpacking(m, frame, source if source is not None else target, value, targets.number, star):
            value = Unknown("unpack")
    if isinstance(value, UnionValue):
        per_member = [_unpacked(m, frame, targets, v, source) for v in value.members]
        values = [joining.union_of(column) for column in zip(*per_member, strict=True)]
    else:
        values = _unpacked(m, frame, targets, value, source)
    for t, v in zip(target.elts, values, strict=True):
        assign(m, frame, t, v, source)


def _unpacked(m: Machine, frame: Frame, targets: Targets, value: Value, source: ir.Expr | None) -> list[Value]:
    """One value per target."""
    node, count, star = targets
    known = known_elements(value)
    if known is not None:
        return _spread(m, known, count, star)
    if isinstance(value, Array) and value.dtype != "key" and source is not None:
        if m.bus.wants(Iteration):
            length = count if star is None else None
            m.bus.emit(Iteration(m.path.context(frame.scope), source, value, "unpack", length))
    if isinstance(value, (Array, Tree, Unknown, HostArray)) and star is None:
        parts = [item_of(m, value, Const(i)) for i in range(count)]
        vary_parts(m, value, parts)
        return parts
    make_element = iterated(m, frame, node, value, "no-events", None)
    values = [make_element() if make_element is not None else Unknown("unpack") for _ in range(count)]
    if star is not None and make_element is not None:
        values[star] = _rest_of(m, value, values[star])
    return values


def _rest_of(m: Machine, value: Value, element: Value) -> ListValue:
    """What a starred target takes. ``slots["apart"]``: the element, if these are the keys of one array, and they are many."""
    rest = ListValue(None, element, made_in=m.path.mode.trace)
    few = isinstance(value, Array) and value.length is not None and value.length <= _FEW_KEYS
    if isinstance(value, Array) and value.dtype == "key" and not few:
        rest.slots["apart"] = element
    return rest


_FEW_KEYS = 8
"""So few keys cost little time to take apart and to join again."""


def _spread(m: Machine, known: tuple[Value, ...], count: int, star: int | None) -> list[Value]:
    """Known elements by target; the starred target takes those in the middle."""
    if star is None and len(known) == count:
        return list(known)
    if star is None or len(known) < count - 1:
        return [Unknown("unpack") for _ in range(count)]
    tail = count - star - 1
    middle = ListValue(known[star : len(known) - tail], made_in=m.path.mode.trace)
    return [*known[:star], middle, *known[len(known) - tail :]]
