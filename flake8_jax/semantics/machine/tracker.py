"""What every tracker can be asked to do, and how the machine reaches all of them.

Vocabulary
----------
tracker     the memory of one concern, open for one analysis; its module says which.
slots       a dictionary whose contents the journal writes for a tracker; on branches the tracker merges them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from flake8_jax.core import ir
    from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
    from flake8_jax.semantics.domain.stack import Link, LoopState, Writes
    from flake8_jax.semantics.domain.values import FunctionValue, Value

    Entry = tuple[dict[Any, Any], Any, Any]
    """Of the journal: slots, slot, old contents."""

T = TypeVar("T", bound="Tracker")


class FinishedRun(msgspec.Struct, frozen=True, eq=False):
    """A function that has just run. inputs: what could matter to it, in the order of visit. written: the slots outside of
    its own frame that it wrote, in order."""

    inputs: list[Any]
    result: Value
    written: list[tuple[dict[Any, Any], Any]]


class Replay(msgspec.Struct, frozen=True, eq=False):
    """A remembered run that is done again, to other inputs.

    events: those that its reports are about. depth: so many links the call stack had outside of it; outside: those of
    today, with that of this call. mapping: from identities of then to objects of today. remembered: its result then.
    """

    inputs: list[Any]
    events: list[Any]
    depth: int
    outside: tuple[Link, ...]
    mapping: dict[int, Any]
    scope: ModuleScope
    node: Any
    remembered: Value


class Tracker:
    """A tracker that does nothing: override what concerns yours."""

    def __init__(self, m: Any) -> None:
        """An analysis begins. m: its ``Machine``, which knows trackers; keep what you need of it."""

    def enter(self) -> Any:
        """An entry begins, whatever path asked for it: what was known before, for ``leave``."""
        return None

    def leave(self, saved: Any, *, finished: bool) -> None:
        """The entry is over, and the path is back where it was. finished: it ran to its end; else it was cut off."""

    def owns(self, slots: dict[Any, Any]) -> bool:
        """Whether these are slots of the tracker's own."""
        return False

    def merge(self, contents: list[Any]) -> Any:
        """The contents of one of the tracker's own slots, whichever of the branches was taken."""
        raise NotImplementedError

    def joined(self, contents: list[Any], result: Value) -> None:
        """Branches left ``contents`` in one slot (some may be MISSING), which now holds ``result``; or a function
        returned any of ``contents``."""

    # --- loops: those that run here, Python's own or what maps over leaves ----------------------------------

    def loop_enter(self, frame: Frame, loop: LoopState) -> None:
        """A loop begins."""

    def iteration(self, loop: LoopState) -> None:
        """An iteration begins; the loop is on the path."""

    def widen(self, frame: Frame, loop: LoopState, branches: list[Writes], written: list[Entry]) -> bool:
        """An iteration is over, with these ways out of it, and its state was joined into that before it. Whether
        something was learnt that another iteration has to see."""
        return False

    def loop_leave(self, frame: Frame, loop: LoopState, at: ir.Expr, trips: int | None) -> None:
        """A loop is over. at: where a report on it stands. trips: how often it ran, unless it was left."""

    # --- functions, and remembered runs of them -----------------------------------------------------------

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> Any:
        """A function begins to run, on the path as it is: a mark for what comes after."""
        return None

    def returned(self, mark: Any, *, suspended: bool) -> None:
        """Its body has run, and the path is back at the call. suspended: it is a generator, so nothing of it has
        happened yet."""

    def settle(self, mark: int, result: Value) -> None:
        """It gives ``result``. mark: the length of the journal when it began."""

    def since(self, mark: Any, run: FinishedRun) -> Any:
        """The record that a later call with such inputs needs; None for nothing."""
        return None

    def replay_events(self, record: Any, replay: Replay) -> None:
        """A remembered run is done again: before its reports are made again. record: None where there was nothing."""

    def replay(self, record: Any, replay: Replay) -> None:
        """After that, before its result is instantiated. Called with a record only."""

    def replayed(self, record: Any, replay: Replay, result: Value) -> None:
        """It gives ``result`` now. record: None where there was nothing."""


_HOOKS = (
    "merge", "joined", "loop_enter", "iteration", "widen", "loop_leave", "call", "returned", "settle", "since",
    "replay_events", "replay", "replayed",
)  # fmt: skip


class Trackers(dict["type[Tracker]", Tracker]):
    """The trackers of one analysis, by class. Its methods call the hook of that name of those that have one, in the order
    in which they were added."""

    if TYPE_CHECKING:

        def __getitem__(self, kind: type[T]) -> T:
            """The one of that class. Left to ``dict``, for it is asked for all the time."""

    def __init__(self) -> None:
        super().__init__()
        self._having: dict[str, list[Tracker]] = {hook: [] for hook in _HOOKS}

    def add(self, tracker: Tracker) -> None:
        """Open a tracker."""
        kind = type(tracker)
        self[kind] = tracker
        for hook, having in self._having.items():
            if getattr(kind, hook) is not getattr(Tracker, hook):
                having.append(tracker)

    def owner_of(self, slots: dict[Any, Any]) -> Tracker | None:
        """The tracker that merges those slots itself."""
        for tracker in self._having["merge"]:
            if tracker.owns(slots):
                return tracker
        return None

    def enter(self) -> list[tuple[Tracker, Any]]:
        return [(tracker, tracker.enter()) for tracker in self.values()]

    def leave(self, saved: list[tuple[Tracker, Any]], *, finished: bool) -> None:
        for tracker, known in saved:
            tracker.leave(known, finished=finished)

    def joined(self, contents: list[Any], result: Value) -> None:
        for tracker in self._having["joined"]:
            tracker.joined(contents, result)

    def loop_enter(self, frame: Frame, loop: LoopState) -> None:
        for tracker in self._having["loop_enter"]:
            tracker.loop_enter(frame, loop)

    def iteration(self, loop: LoopState) -> None:
        for tracker in self._having["iteration"]:
            tracker.iteration(loop)

    def widen(self, frame: Frame, loop: LoopState, branches: list[Writes], written: list[Entry]) -> bool:
        learnt = False
        for tracker in self._having["widen"]:
            learnt = tracker.widen(frame, loop, branches, written) or learnt
        return learnt

    def loop_leave(self, frame: Frame, loop: LoopState, at: ir.Expr, trips: int | None) -> None:
        for tracker in self._having["loop_leave"]:
            tracker.loop_leave(frame, loop, at, trips)

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> dict[type[Tracker], Any]:
        return {type(tracker): tracker.call(function, bound) for tracker in self._having["call"]}

    def returned(self, marks: dict[type[Tracker], Any], *, suspended: bool) -> None:
        for tracker in self._having["returned"]:
            tracker.returned(marks[type(tracker)], suspended=suspended)

    def settle(self, mark: int, result: Value) -> None:
        for tracker in self._having["settle"]:
            tracker.settle(mark, result)

    def since(self, marks: dict[type[Tracker], Any], run: FinishedRun) -> dict[type[Tracker], Any]:
        found = {type(tracker): tracker.since(marks.get(type(tracker)), run) for tracker in self._having["since"]}
        return {kind: record for kind, record in found.items() if record is not None}

    def replay_events(self, records: dict[type[Tracker], Any], replay: Replay) -> None:
        for tracker in self._having["replay_events"]:
            tracker.replay_events(records.get(type(tracker)), replay)

    def replay(self, records: dict[type[Tracker], Any], replay: Replay) -> None:
        for tracker in self._having["replay"]:
            if type(tracker) in records:
                tracker.replay(records[type(tracker)], replay)

    def replayed(self, records: dict[type[Tracker], Any], replay: Replay, result: Value) -> None:
        for tracker in self._having["replayed"]:
            tracker.replayed(records.get(type(tracker)), replay, result)
