"""What every tracker can be asked to do, and how the machine reaches all of them.

Vocabulary
----------
tracker     the memory of one concern, open for one analysis; its module says which.
slots       a dictionary whose contents the journal writes for a tracker; on branches the tracker merges them.
active      whether a tracker has anything to say right now. What asks often asks this first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.values import Value

T = TypeVar("T", bound="Tracker")


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
        """The contents of one of the tracker's own slots, whichever of the arms was taken."""
        raise NotImplementedError

    def joined(self, contents: list[Any], result: Value) -> None:
        """Arms of a branch left ``contents`` in one slot (some may be MISSING), which now holds ``result``."""


class Trackers(dict["type[Tracker]", Tracker]):
    """The trackers of one analysis, by class."""

    if TYPE_CHECKING:

        def __getitem__(self, kind: type[T]) -> T:
            """The one of that class. Left to ``dict``, for it is asked for all the time."""

    def __init__(self) -> None:
        super().__init__()
        self._merging: list[Tracker] = []
        self._joining: list[Tracker] = []

    def add(self, tracker: Tracker) -> None:
        """Hooks are called in the order in which trackers were added."""
        kind = type(tracker)
        self[kind] = tracker
        if kind.merge is not Tracker.merge:
            self._merging.append(tracker)
        if kind.joined is not Tracker.joined:
            self._joining.append(tracker)

    def owner_of(self, slots: dict[Any, Any]) -> Tracker | None:
        """The tracker that merges those slots itself."""
        for tracker in self._merging:
            if tracker.owns(slots):
                return tracker
        return None

    def joined(self, contents: list[Any], result: Value) -> None:
        """See ``Tracker.joined``."""
        for tracker in self._joining:
            tracker.joined(contents, result)

    def enter(self) -> list[tuple[Tracker, Any]]:
        """See ``Tracker.enter``."""
        return [(tracker, tracker.enter()) for tracker in self.values()]

    def leave(self, saved: list[tuple[Tracker, Any]], *, finished: bool) -> None:
        """See ``Tracker.leave``."""
        for tracker, known in saved:
            tracker.leave(known, finished=finished)
