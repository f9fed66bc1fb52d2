"""Whether the device has finished what the running loops gave it.

Reading a result waits for the device only if something was dispatched since the last wait: after ``float(loss)``,
``float(accuracy)`` of the same step costs nothing.

Vocabulary
----------
wait        the host needs a result, or asks JAX to wait: the device is done with everything before.
coarse      one iteration gives the device so much that a wait at its end costs little: a compiled function with a loop
            (``scan`` and similar functions), or an epoch.
epoch       one iteration contains the compiled calls of a loop of Python's own, or a loop that JAX runs and that is no part
            of a function that is differentiated: such a part belongs to one step.
steady      what makes an iteration coarse stands below no ``if`` in it.
carries     what an iteration computes is passed on to the next: it trains, or simulates. Else each result is wanted for its
            own sake.

Limitations: results that are read out of order, several devices, loops in the code of libraries.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.code import bound_paths, nodes_around, paths_read
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.signatures import underlying
from flake8_jax.semantics.domain.values import (
    NONE,
    Array,
    FunctionValue,
    Opaque,
    Static,
    TransformedValue,
    Unknown,
    Value,
    contents_of,
)
from flake8_jax.semantics.machine.path import DISPATCHED, DONE
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.freshness import hands_on

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.domain.stack import LoopState
    from flake8_jax.semantics.machine.core import Machine

_WAITING = frozenset({"block_until_ready", "device_get"})
_CHANGING = frozenset({"flax.nnx.jit", "flax.nnx.pmap", "flax.nnx.shard_map"})
"""What they return changes the objects that it is called with."""


class Readiness(Tracker):
    """state: whether the running path has waited since the last compiled call; the path's ``device``. looping: functions in
    which JAX runs a loop; epochs: those in which it runs one that is not differentiated. given: of each compiled call in a
    loop, whether it is coarse, whether it is part of an epoch, whether its own function passes on what it computes, and how
    many loops are around. bound: paths that a function binds, by its identity."""

    def __init__(self, m: Machine) -> None:
        self.state = m.path.device
        self.state[DISPATCHED] = NONE
        self.journal = m.journal
        self.path = m.path
        self.looping: set[int] = set()
        self.epochs: set[int] = set()
        self.given: list[tuple[bool, bool, bool, int]] = []
        self.bound: dict[int, set[str]] = {}

    def enter(self) -> Any:
        saved, self.state[DISPATCHED] = self.state[DISPATCHED], NONE
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.state[DISPATCHED] = saved

    def owns(self, slots: dict[Any, Any]) -> bool:
        return slots is self.state

    def merge(self, contents: list[Any]) -> Any:
        return DONE if all(content is DONE for content in contents) else NONE

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> tuple[int, int, int]:
        return len(self.given), id(function.fn), self._depth()

    def since(self, mark: tuple[int, int, int], run: FinishedRun) -> Any:
        device = self.state[DISPATCHED] if any(slots is self.state for slots, _ in run.written) else None
        given = frozenset([
            (coarse, epoch or depth > mark[2], carries) for coarse, epoch, carries, depth in self.given[mark[0] :]
        ])  # fmt: skip
        loops = (mark[1] in self.looping) + (mark[1] in self.epochs)
        return (device, given, loops) if device is not None or given or loops else None

    def replay(self, record: Any, replay: Replay) -> None:
        device, given, loops = record
        if device is not None:
            self.journal.write(self.state, DISPATCHED, device)
        if loops:
            self.track_device_loop(epoch=loops > 1)
        for coarse, epoch, carries in given:
            self.track_given(coarse, carries or self.is_handed_on(replay.node), epoch=epoch, node=replay.node)

    def _depth(self) -> int:
        return sum([not loop.unrolled for loop in self.path.loops])

    def track_device_loop(self, *, epoch: bool | None = None) -> None:
        """What runs now leads to a loop that JAX runs."""
        epoch = not self.path.mode.differentiated if epoch is None else epoch
        if self.path.mode.staged:
            around = [id(link.fn) for link in self.path.stack if link.fn is not None]
            self.looping.update(around)
            self.epochs.update(around if epoch else ())
        else:
            self.track_given(coarse=True, carries=False, epoch=epoch)

    def track_given(self, coarse: bool, carries: bool, *, epoch: bool = False, node: Any = None) -> None:
        """A compiled call, in a loop of Python's own."""
        loops = self.path.loops
        self.given.append((coarse, epoch, carries, self._depth()))
        if not loops or self.path.mode.staged:
            return
        for loop in reversed(loops):
            loop.epoch = loop.epoch or epoch
            loop.coarse = loop.coarse or coarse or loop.epoch
            loop.carries = loop.carries or carries
            if (coarse or epoch) and not loop.steady:
                loop.steady = not self._is_optional(loop, node)
            epoch = epoch or not loop.unrolled

    def _is_optional(self, loop: LoopState, node: Any) -> bool:
        """Some iterations make no such call: it stands below an ``if`` of the loop. node: the call, in the running function."""
        stack = self.path.stack
        place = stack[loop.links].node if len(stack) > loop.links else node
        if place is None or not isinstance(loop.node, (ir.For, ir.While)):
            return False
        return any(isinstance(around, ir.If) for around in nodes_around(loop.node.body, place.start, place.end))

    def is_handed_on(self, node: Any) -> bool:
        """What the call computes is an input of the same call in the next iteration."""
        loops, stack = self.path.loops, self.path.stack
        if not loops:
            return False
        loop: LoopState = loops[-1]
        calls = [link.node for link in stack[loop.links :]] + [node]
        if calls[0] is not None and isinstance(loop.node, (ir.For, ir.While)) and hands_on(loop.node, calls[0]):
            return True
        around = [link.fn for link in stack[loop.links :]]
        return any(fn is not None and self._keeps(fn, call) for fn, call in zip(around, calls[1:], strict=True))

    def _keeps(self, fn: ir.Function, call: Any) -> bool:
        """``self.state = self._step(self.state)``, or the same of a variable that outlives the function."""
        if call is None:
            return False
        bound = self.bound.get(id(fn))
        if bound is None:
            local = set(fn.local_names)
            bound = {path for statement in fn.body for path in bound_paths(statement)}
            bound = self.bound[id(fn)] = {path for path in bound if "." in path or path not in local}
        return not bound.isdisjoint(paths_read(call))


def is_ready(m: Machine) -> bool:
    """The path has surely waited since the last compiled call in a loop."""
    return m.path.device[DISPATCHED] is DONE


def queued(m: Machine) -> int:
    """The loop behind whose compiled calls the device does what eager code gives it now; 0 if there is none."""
    if m.path.mode.staged:
        return 0
    return id(m.path.loops[-1]) if m.path.loops[-1].carries else 0


def track_dispatch(m: Machine, frame: Frame, node: Any, tv: TransformedValue) -> None:
    """Eager code in a loop makes a compiled call."""
    readiness, function = m.trackers[Readiness], underlying(tv)
    called = id(function.fn) if isinstance(function, FunctionValue) else 0
    carries = tv.name in _CHANGING or readiness.is_handed_on(node)
    readiness.track_given(called in readiness.looping, carries, epoch=called in readiness.epochs, node=node)
    if m.path.device[DISPATCHED] is not NONE:
        m.journal.write(m.path.device, DISPATCHED, NONE)


def track_read(m: Machine, values: Iterable[Value], sync: str | None = "") -> None:
    """Eager code in a loop reads results on the host, or waits for them. sync: what the function that does so is for."""
    if m.path.mode.staged or is_ready(m):
        return
    if sync in _WAITING or any(_is_running(m, value) for value in values):
        m.journal.write(m.path.device, DISPATCHED, DONE)


def track_number(m: Machine, value: Value) -> None:
    """Eager code in a loop makes a number of a value: if it is not known, it hardly is anything but a result."""
    if isinstance(value, Unknown) and not m.path.mode.staged and not is_ready(m):
        m.journal.write(m.path.device, DISPATCHED, DONE)


def _is_running(m: Machine, value: Value) -> bool:
    """The value surely is, or holds, a result that a loop still running has dispatched."""
    if isinstance(value, (Array, Opaque)):
        dispatched = dispatched_in(value)
        return dispatched != 0 and any(id(loop) == dispatched for loop in m.path.loops)
    if isinstance(value, Static):
        return any(_is_running(m, held) for held in value.holds if not isinstance(held, Static))
    members = joining.members_of(value)
    if len(members) > 1:
        return all(isinstance(v, (Array, Opaque)) and _is_running(m, v) for v in members)
    return any(isinstance(v, (Array, Opaque)) and _is_running(m, v) for v in contents_of(value) or ())
