"""Whether the device has finished what the running loops gave it.

Reading a result waits for the device only if something was dispatched since the last wait: after ``float(loss)``,
``float(accuracy)`` of the same step costs nothing.

Vocabulary
----------
wait        the host needs a result, or asks JAX to wait: the device is done with everything before.

Limitations: results that are read out of order, several devices.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.values import NONE, Array, Static, Value, contents_of
from flake8_jax.semantics.machine.path import DISPATCHED, DONE
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker

if TYPE_CHECKING:
    from flake8_jax.semantics.machine.core import Machine

_WAITING = frozenset({"block_until_ready", "device_get"})


class Readiness(Tracker):
    """state: whether the running path has waited since the last compiled call; the path's ``device``."""

    def __init__(self, m: Machine) -> None:
        self.state = m.path.device
        self.state[DISPATCHED] = NONE
        self.journal = m.journal

    def enter(self) -> Any:
        saved, self.state[DISPATCHED] = self.state[DISPATCHED], NONE
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.state[DISPATCHED] = saved

    def owns(self, slots: dict[Any, Any]) -> bool:
        return slots is self.state

    def merge(self, contents: list[Any]) -> Any:
        return DONE if all(content is DONE for content in contents) else NONE

    def since(self, mark: Any, run: FinishedRun) -> Any:
        return self.state[DISPATCHED] if any(slots is self.state for slots, _ in run.written) else None

    def replay(self, record: Any, replay: Replay) -> None:
        self.journal.write(self.state, DISPATCHED, record)


def is_ready(m: Machine) -> bool:
    """The path has surely waited since the last compiled call in a loop."""
    return m.path.device[DISPATCHED] is DONE


def note_dispatch(m: Machine) -> None:
    """Eager code in a loop makes a compiled call."""
    if m.path.device[DISPATCHED] is not NONE:
        m.journal.write(m.path.device, DISPATCHED, NONE)


def note_read(m: Machine, values: Iterable[Value], sync: str | None = "") -> None:
    """Eager code in a loop reads results on the host, or waits for them. sync: what the function that does so is for."""
    if m.path.mode.staged or is_ready(m):
        return
    if sync in _WAITING or any(_is_running(m, value) for value in values):
        m.journal.write(m.path.device, DISPATCHED, DONE)


def _is_running(m: Machine, value: Value) -> bool:
    """The value surely is, or holds, a result that a loop still running has dispatched."""
    if isinstance(value, Array):
        return value.dispatched != 0 and any(id(loop) == value.dispatched for loop in m.path.loops)
    if isinstance(value, Static):
        return any(_is_running(m, held) for held in value.holds if not isinstance(held, Static))
    members = joining.members_of(value)
    if len(members) > 1:
        return all(isinstance(v, Array) and _is_running(m, v) for v in members)
    return any(isinstance(v, Array) and _is_running(m, v) for v in contents_of(value) or ())
