"""Programs that run once per device on data of their own: do they bring their gradients together?

Vocabulary
----------
replica     one run of the operand of a ``pmap`` with a named axis, or of a ``shard_map`` that does not check for
            replication. Each device has parameters of its own there, which stay equal only if the updates are. Inside of
            one, the elements of a ``vmap`` with a named axis are replicas too.
synced      a collective over the axis of the replica ran in it, or in something it called: its author thought of the others.
doubt       a gradient was passed to unknown code, which may do the same.
inner       a gradient inside of a further derivative, or of each element of a ``vmap``: part of what the step computes (a
            Laplacian, the residual of a differential equation), not what it updates parameters with.

Limitations: which axis of a mesh a collective runs over, and of which value it takes the mean.
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

ANY = "*"
"""Stands for axes whose names are not known."""
_COLLECTIVES = frozenset({f"jax.lax.{name}" for name in ("pmean", "psum", "psum_scatter", "all_gather")})
_PMAPS = frozenset({"jax.pmap", "equinox.filter_pmap"})
_VMAP = "jax.vmap"
_UPDATES = frozenset({"update", "apply_gradients", "apply_updates"})
"""Methods that optimizers and training states have: they use a gradient and do not know of devices."""


@dataclass(eq=False)
class Replica:
    """One replica being run. axis: its name, ANY for those of a mesh. mapped: number of mapped axes in it. differentiated:
    it runs under a derivative. gradients: what was differentiated in it, and where."""

    transform: str
    axis: str = ANY
    mapped: int = 0
    differentiated: bool = False
    synced: bool = False
    doubt: bool = False
    gradients: list[tuple[Value, ModuleScope, Any]] = field(default_factory=list)


class Replicas(Tracker):
    """running: the replicated code that is running, innermost last. collecting: functions that call a collective, and over
    which axes."""

    def __init__(self, m: Machine) -> None:
        self.running: list[Replica] = []
        self.collecting: dict[int, set[str]] = {}


def enter_replica(m: Machine, tv: TransformedValue, *, maps: bool) -> Replica | None:
    """The operand of this transform is about to run, once per device. maps: the transform maps an axis."""
    running = m.trackers[Replicas].running
    axis = _axis_of(tv, inside=bool(running))
    if not axis or not m.bus.wants(MissingSync):
        return None
    replica = Replica(tv.name, axis, len(m.path.mode.mapped_axes) + maps, m.path.mode.differentiated)
    running.append(replica)
    return replica


def _axis_of(tv: TransformedValue, *, inside: bool) -> str:
    """The axis that the replicas of a transform lie on, empty if it makes none. inside: of another replica."""
    if tv.name in _PMAPS or (inside and tv.name == _VMAP):
        axis = tv.options.get("axis_name")
        return axis.value if isinstance(axis, Const) and isinstance(axis.value, str) else ""
    if tv.name in ("jax.shard_map", "jax.experimental.shard_map.shard_map"):
        checked = tv.options.get("check_vma", tv.options.get("check_rep"))
        return ANY if isinstance(checked, Const) and checked.value is False else ""
    return ""


def leave_replica(m: Machine, replica: Replica, result: Value) -> None:
    """It has run: emit that no code averaged the gradients."""
    running = m.trackers[Replicas].running
    running.remove(replica)
    if replica.synced or replica.doubt or not replica.gradients:
        return
    over = next((other.axis for other in running if other.synced and other.axis != ANY), "")
    if replica.transform == _VMAP and not over:
        return  # no code here knows replicas, or all code around does
    returned = set(_with_parts(result))
    if any(part in returned for gradient, _scope, _node in replica.gradients for part in _with_parts(gradient)):
        return  # the caller gets the gradients of all devices
    _gradient, scope, node = replica.gradients[0]
    mapped_axis = replica.axis if replica.transform == _VMAP else ""
    m.bus.emit(MissingSync(m.path.context(scope), node, replica.transform, mapped_axis, over))


def _with_parts(value: Value, depth: int = 4) -> Iterable[Value]:
    """The value and what it holds."""
    yield value
    if depth and isinstance(value, (TupleValue, UnionValue)):
        for part in held_by(value):
            yield from _with_parts(part, depth - 1)


def track_gradient(m: Machine, frame: Frame, node: Any, tv: TransformedValue, result: Value) -> None:
    """Something was differentiated, with this result."""
    if not m.trackers[Replicas].running or tv.fact.result not in ("gradient", "value_and_gradient"):
        return
    gradient = result
    if isinstance(result, TupleValue) and len(result.elts) == 2:
        if tv.fact.result == "value_and_gradient":
            gradient = result.elts[1]
        elif "has_aux" in tv.options:
            gradient = result.elts[0]
    mode, running = m.path.mode, m.trackers[Replicas].running
    for depth, replica in enumerate(running):
        mapped = replica.mapped + sum(other.transform == _VMAP for other in running[depth + 1 :])
        inner = len(mode.mapped_axes) > mapped or (mode.differentiated and not replica.differentiated)
        if not inner:
            replica.gradients.append((gradient, frame.scope, node))


def track_collective(m: Machine, axes: Iterable[str]) -> None:
    """A collective runs: the functions on the way to it are known to use one, whenever they are called again."""
    replicas = m.trackers[Replicas]
    for link in m.path.stack:
        if link.fn is not None:
            replicas.collecting.setdefault(id(link.fn), set()).update(axes)
    for replica in replicas.running:
        if replica.axis == ANY or ANY in axes or replica.axis in axes:
            replica.synced = True


def track_call(m: Machine, fn: Any, closure: Frame | None) -> None:
    """A function of the project was called, or a remembered run of it repeated. closure: of the function that it stands in,
    which may have been given a collective."""
    given = closure.slots.values() if closure is not None and closure.fn is not None else ()
    wraps = any(isinstance(value, External) and value.name in _COLLECTIVES for value in given)
    axes = {ANY} if wraps else m.trackers[Replicas].collecting.get(id(fn))
    if axes is not None:
        track_collective(m, tuple(axes))


def track_unknown_call(m: Machine, name: str, arguments: Iterable[Value]) -> None:
    """Unknown code was called. name: of the method or function, where it has one."""
    if name in _UPDATES:
        return
    handed = {part for argument in arguments for part in _with_parts(argument)}
    for replica in m.trackers[Replicas].running:
        if any(
            canonical_key(part) in handed or part in handed for g, *_ in replica.gradients for part in _with_parts(g)
        ):
            replica.doubt = True
