"""Programs that run once per device on data of their own: do they bring their gradients together?

Vocabulary
----------
replica     one run of the operand of a ``pmap`` with a named axis, or of a ``shard_map`` that does not check for
            replication. Each device has parameters of its own there, which stay equal only if the updates are.
synced      a collective ran in the replica, or in something it called: somebody thought of the other devices.
doubt       a gradient was handed to code that nobody knows, which may do the same.

Not modelled: which axis a collective runs over, and of which value it takes the mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flake8_jax.semantics.domain.values import (
    Const,
    External,
    TransformedValue,
    TupleValue,
    UnionValue,
    Value,
    canonical_key,
    held_by,
)
from flake8_jax.semantics.events.events import MissingSync
from flake8_jax.semantics.machine.tracker import Tracker

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
    from flake8_jax.semantics.machine.core import Machine

_COLLECTIVES = frozenset({f"jax.lax.{name}" for name in ("pmean", "psum", "psum_scatter", "all_gather")})
_UPDATES = frozenset({"update", "apply_gradients", "apply_updates"})
"""Methods that optimizers and training states have: they use a gradient and do not know of devices."""


@dataclass(eq=False)
class Replica:
    """One replica being run. gradients: what was differentiated in it, and where."""

    transform: str
    synced: bool = False
    doubt: bool = False
    gradients: list[tuple[Value, ModuleScope, Any]] = field(default_factory=list)


class Replicas(Tracker):
    """running: the replicated code that is running, innermost last. collecting: functions that call a collective."""

    def __init__(self, m: Machine) -> None:
        self.running: list[Replica] = []
        self.collecting: set[int] = set()


def enter_replica(m: Machine, tv: TransformedValue) -> Replica | None:
    """The operand of this transform is about to run, once per device."""
    if not _is_replicating(tv) or not m.bus.wants(MissingSync):
        return None
    replica = Replica(tv.name)
    m.trackers[Replicas].running.append(replica)
    return replica


def _is_replicating(tv: TransformedValue) -> bool:
    if tv.name in ("jax.pmap", "equinox.filter_pmap"):
        axis = tv.options.get("axis_name")
        return isinstance(axis, Const) and isinstance(axis.value, str)
    if tv.name in ("jax.shard_map", "jax.experimental.shard_map.shard_map"):
        checked = tv.options.get("check_vma", tv.options.get("check_rep"))
        return isinstance(checked, Const) and checked.value is False
    return False


def leave_replica(m: Machine, replica: Replica, result: Value) -> None:
    """It has run: tell the rules if nobody brought the gradients together."""
    m.trackers[Replicas].running.remove(replica)
    if replica.synced or replica.doubt or not replica.gradients:
        return
    returned = set(_with_parts(result))
    if any(part in returned for gradient, _scope, _node in replica.gradients for part in _with_parts(gradient)):
        return  # whoever called it gets the gradients of all devices
    _gradient, scope, node = replica.gradients[0]
    m.bus.emit(MissingSync(m.path.context(scope), node, replica.transform))


def _with_parts(value: Value, depth: int = 4) -> Iterable[Value]:
    """The value and what it holds."""
    yield value
    if depth and isinstance(value, (TupleValue, UnionValue)):
        for part in held_by(value):
            yield from _with_parts(part, depth - 1)


def note_gradient(m: Machine, frame: Frame, node: Any, tv: TransformedValue, result: Value) -> None:
    """Something was differentiated, with this result."""
    if not m.trackers[Replicas].running or tv.fact.result not in ("gradient", "value_and_gradient"):
        return
    gradient = result
    if tv.fact.result == "value_and_gradient" and isinstance(result, TupleValue) and len(result.elts) == 2:
        gradient = result.elts[1]
    m.trackers[Replicas].running[-1].gradients.append((gradient, frame.scope, node))


def note_collective(m: Machine) -> None:
    """A collective runs: the functions on the way to it are known to use one, whenever they are called again."""
    m.trackers[Replicas].collecting.update(id(link.fn) for link in m.path.stack if link.fn is not None)
    for replica in m.trackers[Replicas].running:
        replica.synced = True


def note_call(m: Machine, fn: Any, closure: Frame | None) -> None:
    """A function of the project was called, or a remembered run of it repeated. closure: of the function that it stands in,
    which may have been given a collective."""
    given = closure.slots.values() if closure is not None and closure.fn is not None else ()
    wraps = any(isinstance(value, External) and value.name in _COLLECTIVES for value in given)
    if wraps or id(fn) in m.trackers[Replicas].collecting:
        m.trackers[Replicas].collecting.update(id(link.fn) for link in m.path.stack if link.fn is not None)
        for replica in m.trackers[Replicas].running:
            replica.synced = True


def note_unknown_call(m: Machine, name: str, arguments: Iterable[Value]) -> None:
    """Code that nobody knows was called. name: of the method or function, where it has one."""
    if name in _UPDATES:
        return
    handed = {part for argument in arguments for part in _with_parts(argument)}
    for replica in m.trackers[Replicas].running:
        if any(
            canonical_key(part) in handed or part in handed for g, *_ in replica.gradients for part in _with_parts(g)
        ):
            replica.doubt = True
