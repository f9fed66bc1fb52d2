"""What is older than the running trace: writing to it makes a staged function impure.

Vocabulary
----------
escapes     a container or an object was made before a trace began, so it is still there when the trace is over.
change      something is put into it: an item, an element, an attribute; or a variable of an outer scope is rebound.
undone      the change is reverted while the same code runs: a stack that is popped, an attribute that is put back.
            Whether it is on every path is not asked.
owner       the generic instance during whose construction something was made. Whether it escapes a trace shows on the
            call stack: it does if a method of it runs outside of the trace, or is what the trace stages.

A container that is stored in an older one is as old as that from then on: it can be reached from there.

Limitations: objects that library calls make, views, weak references, objects reached through opaque ones.
"""

from __future__ import annotations

from typing import Any

import msgspec

from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import (
    UNKNOWN_TRACE,
    ClassValue,
    DictValue,
    ExternalInstance,
    GeneratorValue,
    Instance,
    ListValue,
    Static,
    TupleValue,
    UnionValue,
    Value,
)
from flake8_jax.semantics.events.events import ChangeKind, Mutation
from flake8_jax.semantics.events.facts import CHANGED_HERE, READ_LATER, UNDONE
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import Tracker
from flake8_jax.semantics.trackers.eagerness import is_model_code
from flake8_jax.semantics.trackers.freshness import track_needs_python

_ALLOCATED = (ListValue, DictValue, Instance, ExternalInstance, Static, GeneratorValue, ClassValue)


class Allocations(Tracker):
    """generics: generic instances, in the order in which they were made. changes: what staged code has put where."""

    def __init__(self, m: Machine) -> None:
        self.generics: list[Instance] = []
        self.changes: dict[tuple[int | None, str], list[tuple[int, str, int, str]]] = {}


def escapes_trace(m: Machine, value: Value | None, trace: int) -> bool:
    """``value`` was surely made before ``trace``, one of those that are running, began."""
    if isinstance(value, UnionValue):
        return all(escapes_trace(m, member, trace) for member in value.members)
    if not isinstance(value, _ALLOCATED):
        return False
    if isinstance(value, ClassValue):
        return value.closure is None and trace > 0
    if value.made_in >= 0:
        return value.made_in < trace
    return _is_outside(m, m.trackers[Allocations].generics[-value.made_in - 1])


def allocation_of_generic(m: Machine, made: Instance) -> int:
    """The allocation trace of a generic instance, and of all that is made while it is constructed."""
    m.trackers[Allocations].generics.append(made)
    return -len(m.trackers[Allocations].generics)


def _is_outside(m: Machine, owner: Instance) -> bool:
    """The object behind a generic instance is older than the innermost trace."""
    roots = [i for i, link in enumerate(m.path.stack) if link.kind in ("root", "contract")]
    if not roots:
        return False
    last = roots[-1]
    outer = [link.receiver for link in m.path.stack[:last] if isinstance(link.receiver, Instance)]
    if m.path.stack[last].kind == "root" and last + 1 < len(m.path.stack):
        outer += [r for r in (m.path.stack[last + 1].receiver,) if isinstance(r, Instance)]
    return any(owner is known or any(owner is part for part in known.slots.values()) for known in outer)


def _may_be_set_up(m: Machine, target: Value | None) -> bool:
    """An object that a library runs staged by contract may have been run eagerly before, to set itself up."""
    roots = [link for link in m.path.stack if link.kind in ("root", "contract")]
    if not roots or roots[-1].kind != "contract" or target is None:
        return False
    receivers = [link.receiver for link in m.path.stack if isinstance(link.receiver, Instance)]
    return isinstance(target, Instance) or any(target is part for r in receivers for part in r.slots.values())


def settle_allocations(value: Value, trace: int, depth: int = 4) -> None:
    """What came into being at a staging boundary was made in ``trace``."""
    if isinstance(value, (ListValue, DictValue, Instance, ExternalInstance)):
        if value.made_in != UNKNOWN_TRACE:
            return
        value.made_in = trace
        parts = list(value.slots.values())
    elif isinstance(value, TupleValue):
        parts = list(value.elts)
    elif isinstance(value, UnionValue):
        parts = list(value.members)
    else:
        return
    if depth:
        for part in parts:
            if isinstance(part, Value):
                settle_allocations(part, trace, depth - 1)


def track_made_here(m: Machine, iterator: Value) -> None:
    """A call has made an iterator."""
    if isinstance(iterator, (GeneratorValue, ListValue)) and iterator.made_in == UNKNOWN_TRACE:
        iterator.made_in = m.path.mode.trace


def hand_over(value: Value, trace: int, depth: int = 4) -> None:
    """What was made in ``trace`` is not met there again: it is as old as the trace that takes it."""
    if isinstance(value, (ListValue, DictValue, Instance, ExternalInstance)):
        if value.made_in != trace:
            return
        value.made_in = UNKNOWN_TRACE
        parts = list(value.slots.values())
    elif isinstance(value, TupleValue):
        parts = list(value.elts)
    else:
        return
    if depth:
        for part in parts:
            if isinstance(part, Value):
                hand_over(part, trace, depth - 1)


class Change(msgspec.Struct, frozen=True, eq=False):
    """Something is stored at a node: ``value`` is put into ``target``, or a variable is bound to it.

    how, target, value, op: as in ``events.Mutation``. name: of the attribute, variable or method. made_in: of the scope of a
    variable, whose ``target`` is None. itself: what is stored was computed from what was there.
    """

    frame: Frame
    node: Any
    how: ChangeKind
    target: Value | None
    value: Value | None
    name: str = ""
    op: str = ""
    made_in: int | None = None
    itself: bool = False

    def is_older(self, m: Machine, trace: int) -> bool:
        """What is changed was there before the trace."""
        return self.made_in < trace if self.made_in is not None else escapes_trace(m, self.target, trace)


def emit_change(m: Machine, change: Change) -> None:
    """Tell the rules that staged code changes what is older than the trace."""
    mode, target, value = m.path.mode, change.target, change.value
    if not mode.staged or mode.presumed or not m.bus.wants(Mutation):
        return
    scope, start = change.frame.scope, change.node.start
    place = (id(target) if target is not None else change.made_in, change.name if change.how != "method" else "")
    changes = m.trackers[Allocations].changes
    for trace, path, earlier, op in changes.get(place, ()):
        if trace > mode.trace:  # what an inner trace left there is overwritten
            m.bus.recorded.add((UNDONE, path, earlier))
        elif trace == mode.trace and op == _TAKEN_BACK_BY.get(change.op):  # a level that goes up, and down again
            m.bus.recorded |= {(UNDONE, path, earlier), (UNDONE, scope.path, start)}
    if not change.is_older(m, mode.trace) or _may_be_set_up(m, target):
        return
    if not (m.path.stack and is_model_code(m.path.stack[-1])):  # a module sets up its layers in each call
        track_needs_python(m, stores=change.how == "attribute")
    changes.setdefault(place, []).append((mode.trace, scope.path, start, change.op))
    m.bus.record_fact(CHANGED_HERE, scope, start)
    if target is not None:
        m.journal.keep_alive.append(target)
        if value is not None:
            _escape(value, target)
    older = mode.compiled > 0 and change.is_older(m, mode.compiled)
    once, enclosed = older and not mode.shapes_only, mode.compiled > 0 and not older
    m.bus.emit(
        Mutation(
            m.path.context(scope),
            change.node,
            change.how,
            target,
            value,
            change.name,
            change.op,
            once,
            change.itself,
            enclosed,
        )
    )


_TAKEN_BACK_BY = {"+": "-", "-": "+"}


def _escape(value: Value, target: Value) -> None:
    """A container that is stored in an older one escapes the traces that the older one escapes."""
    made_in = getattr(target, "made_in", UNKNOWN_TRACE)
    if isinstance(value, (ListValue, DictValue)) and 0 <= made_in < value.made_in:
        value.made_in = made_in


def emit_read(m: Machine, target: Instance, name: str) -> None:
    """An attribute is read that staged code has set: once that trace is over, what is there is of no use."""
    changes = m.trackers[Allocations].changes.get((id(target), name))
    if changes:
        trace, path, start, _ = changes[-1]
        if trace < max(m.path.mode.outermost, 1) or not m.path.mode.staged:
            m.bus.recorded.add((READ_LATER, path, start))


def forget_changes(m: Machine, target: Value, name: str) -> None:
    """Eager code sets an attribute again."""
    if m.trackers[Allocations].changes:
        m.trackers[Allocations].changes.pop((id(target), name), None)


def undo_changes(m: Machine, target: Value | None, name: str = "", made_in: int | None = None) -> None:
    """Something is taken out again, or put back: the changes that the running trace has made were for the time being."""
    if m.path.mode.staged and m.trackers[Allocations].changes:
        for trace, path, start, _ in m.trackers[Allocations].changes.get(
            (id(target) if target is not None else made_in, name), ()
        ):
            if trace >= m.path.mode.trace:
                m.bus.recorded.add((UNDONE, path, start))
