"""The memory of a run: every write to a run-time slot, with the old contents, so that branches are cheap.

Vocabulary
----------
slots       a dictionary that holds what running code can change: local names, attributes, items.
journal     the list of all writes. One branch is run, its writes are reverted and kept aside, the next branch is
            run, and then the branches that go on are merged.
writes      what a branch would leave behind.
watched     everything that was written while something ran that an exception may interrupt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.conditions import Labels, either_key, labelled, still_labelled
from flake8_jax.semantics.domain.stack import Flow, Watched, Writes
from flake8_jax.semantics.domain.values import MISSING, Condition, UnionValue, Unknown, Value

if TYPE_CHECKING:
    from flake8_jax.semantics.machine.tracker import Trackers

MAX_WATCHED = 400
MAX_INTERRUPTIONS = 4


class Journal:
    """All writes, in order. keep_alive: objects whose identity stands for them in a dictionary or a set."""

    __slots__ = ("entries", "keep_alive", "trackers", "watches")

    def __init__(self, trackers: Trackers) -> None:
        self.trackers = trackers
        self.entries: list[tuple[dict[Any, Any], Any, Any]] = []
        self.watches: list[Watched] = []
        self.keep_alive: list[Any] = []

    def begin(self) -> tuple[Any, ...]:
        """An entry begins: what was written before, for ``resume``."""
        saved = self.entries, self.watches
        self.entries, self.watches = [], []
        return saved

    def resume(self, saved: tuple[Any, ...]) -> None:
        """The entry is over; what it wrote is for good."""
        self.entries, self.watches = saved

    def write(self, slots: dict[Any, Any], slot: Any, value: Any) -> None:
        """Set ``slots[slot]``, remembering what was there."""
        self.entries.append((slots, slot, slots.get(slot, MISSING)))
        if self.watches:
            self.watches[-1].setdefault((id(slots), slot), (slots, slot, []))[2].append(value)
        if value is MISSING:
            slots.pop(slot, None)
        else:
            slots[slot] = value

    def since(self, mark: int) -> Writes:
        """What all writes since ``mark`` amount to, right now: how a path looks that leaves here."""
        taken: Writes = {}
        for slots, slot, _ in self.entries[mark:]:
            taken[(id(slots), slot)] = (slots, slot, slots.get(slot, MISSING))
        return taken

    def watch(self, run: Callable[[], Flow]) -> tuple[Flow, Watched]:
        """Run something that an exception may interrupt: how it ends, and every value that it wrote anywhere."""
        self.watches.append({})
        result = run()
        seen = self.watches.pop()
        if self.watches:
            outer = self.watches[-1]
            for where, (slots, slot, values) in seen.items():
                outer.setdefault(where, (slots, slot, []))[2].extend(values)
        return result, seen

    def interrupted(self, seen: Watched) -> None:
        """Any of the watched writes may have been the last one."""
        branches: list[Writes] = [{}]
        for where, (slots, slot, values) in list(seen.items())[:MAX_WATCHED]:
            distinct = list({id(v): v for v in values}.values())
            if len(distinct) > MAX_INTERRUPTIONS:
                distinct = [Unknown("interrupted")] if isinstance(distinct[0], Value) else distinct[:MAX_INTERRUPTIONS]
            for i, value in enumerate(distinct, 1):
                while len(branches) <= i:
                    branches.append({})
                branches[i][where] = (slots, slot, value)
        self.merge(branches)

    def rollback(self, mark: int) -> Writes:
        """Undo all writes since ``mark`` and return what they amounted to."""
        journal = self.entries
        taken: Writes = {}
        for i in range(len(journal) - 1, mark - 1, -1):
            slots, slot, old = journal[i]
            where = (id(slots), slot)
            if where not in taken:
                taken[where] = (slots, slot, slots.get(slot, MISSING))
            if old is MISSING:
                slots.pop(slot, None)
            else:
                slots[slot] = old
        del journal[mark:]
        return taken

    def replay(self, writes: Writes) -> None:
        """Do the writes of a branch for good."""
        for slots, slot, value in writes.values():
            self.write(slots, slot, value)

    def merge(
        self, branches: list[Writes], labels: Labels | None = None, tests: list[Condition | None] | None = None
    ) -> None:
        """Leave behind what holds whichever of the branches was taken.

        labels: what held where each branch was taken. A value that differs between branches remembers the condition of each,
        so a later test of the same condition distinguishes them again, and so does another value of the same branch.
        tests: the one test that each branch depends on.
        """
        if not branches:
            return
        if len(branches) == 1:
            self.replay(branches[0])
            return
        places = {where: (slots, slot) for branch in branches for where, (slots, slot, _) in branch.items()}
        resized: list[dict[Any, Any]] = []
        for where, (slots, slot) in places.items():
            now = slots.get(slot, MISSING)
            contents = [branch[where][2] if where in branch else now for branch in branches]
            owner = self.trackers.owner_of(slots)
            if owner is not None:
                self.write(slots, slot, owner.merge(contents))
            elif all(content is contents[0] for content in contents):
                if contents[0] is not now:
                    self.write(slots, slot, contents[0])
            elif slot in ("n", "open") and not any(isinstance(c, Value) for c in contents):
                if slot == "open" or all(c == contents[0] for c in contents):
                    self.write(slots, slot, any(contents) if slot == "open" else contents[0])
                else:
                    resized.append(slots)
            else:
                self._join(slots, slot, contents, labels, tests)
        for slots in resized:
            self._forget_length(slots)

    def _forget_length(self, slots: dict[Any, Any]) -> None:
        """A list is of another length on another branch: its elements become one."""
        elements = [v for k, v in slots.items() if k != "n" and isinstance(v, Value)]
        self.write(slots, "*", joining.join_all(elements))
        self.write(slots, "n", None)

    def _join(
        self, slots: dict[Any, Any], slot: Any, contents: list[Any], labels: Labels | None,
        tests: list[Condition | None] | None,
    ) -> None:  # fmt: skip
        """Write what one slot holds if it holds any of ``contents``."""
        if type(slot) is tuple and any(c is MISSING for c in contents) and "open" in slots:
            self.write(slots, "open", True)
        joined = either_key(contents, tests) or contents[0]
        for other in contents[1:] if joined is contents[0] else ():
            joined = joining.join(joined, other)
        if labels is not None:
            joined = labelled(joined, contents, labels)
        elif type(joined) is UnionValue:
            joined = still_labelled(joined, contents)
        self.trackers.joined(contents, joined)
        self.write(slots, slot, joined)

    def join(self, writes: Writes) -> None:
        """Another path also ends here: keep what holds on both."""
        self.merge([{}, writes])
