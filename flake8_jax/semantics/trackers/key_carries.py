"""Keys that come back to the head of a loop: where an iteration rebinds a key, the next one starts with another key.

    key, sub = split(key)        the head's key stands for the one from before the loop, and for the one of each iteration;
    x = normal(key)       ─►     whatever used these used that, and the next iteration splits it

Vocabulary
----------
head        the value of a slot at the start of an iteration: the join of what was there and of what the iterations leave.
carried     a use of one of the values in that join, by which the head counts as used.

Limitations: keys in lists, and in containers of another type before the loop than behind an iteration.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flake8_jax.semantics.domain.boundary import ELEMENT, mapped_element
from flake8_jax.semantics.domain.values import (
    MISSING,
    Array,
    DictValue,
    Instance,
    Opaque,
    Room,
    TupleValue,
    Value,
    canonical_key,
)
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.key_paths import may_be_key
from flake8_jax.semantics.trackers.keys import DONATE, Keys, Use, as_remembered, as_used_here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.domain.stack import LoopState, Writes
    from flake8_jax.semantics.domain.values import FunctionValue
    from flake8_jax.semantics.machine.core import Machine

    UsedResult = tuple[tuple[Any, ...], tuple[Use, ...]]
    """The steps to a key in a result, and its uses."""

    UsesOf = Callable[[Value], tuple[Use, ...]]
    Source = tuple[Any, UsesOf]
    """A value on one of the ways to the head, and the uses as they are on that way."""


MAX_DEPTH = 3
MAX_CARRIED = 4
"""So many uses make it to the next iteration."""


class KeyCarries(Tracker):
    """Nothing of its own: what is carried is kept among the uses of keys."""

    def __init__(self, m: Machine) -> None:
        self.m = m

    def widen(self, frame: Frame, loop: LoopState, branches: list[Writes], written: list[Any]) -> bool:
        uses = self.m.trackers[Keys].uses
        if not uses:
            return False
        before: dict[Any, Any] = {}
        for slots, slot, old in written:
            if slots is uses:
                before.setdefault(slot, old)

        def at_head(key: Value) -> tuple[Use, ...]:
            found = before.get(key, uses.get(key, ()))
            return () if found is MISSING else found

        ways = [_after(uses, branch, at_head) for branch in branches]
        learnt = False
        for slots, slot, old in written:
            now, where = slots.get(slot), (id(slots), slot)
            if slots is not uses and isinstance(now, Value) and isinstance(old, Value) and now is not old:
                ends = [
                    (branch[where][2] if where in branch else old, way)
                    for branch, way in zip(branches, ways, strict=True)
                ]
                learnt = _carry(self.m, now, (old, at_head), ends) or learnt
        return learnt

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> int:
        """How many steps of a path lead to what the function does."""
        return sum(link.node is not None for link in self.m.path.stack)

    def since(self, mark: int, run: FinishedRun) -> list[UsedResult] | None:
        """The uses of keys that the run has made and gives back."""
        uses = self.m.trackers[Keys].uses
        if not uses:
            return None
        given = {id(canonical_key(v)) for v in run.inputs if isinstance(v, (Array, Opaque))}
        found: list[UsedResult] = []
        for steps, key in _steps_to_keys(run.result):
            of_key = [use for use in uses.get(canonical_key(key), ()) if use.effect != DONATE]
            if of_key and id(canonical_key(key)) not in given and getattr(canonical_key(key), "parent", None) is None:
                found.append((steps, tuple(as_remembered(use, mark) for use in of_key)))
        return found or None

    def replayed(self, record: list[UsedResult] | None, replay: Replay, result: Value) -> None:
        for steps, uses in record or ():
            key: Any = result
            for step in steps:
                key = _parts(key).get(step)
            if isinstance(key, (Array, Opaque)):
                here = tuple(as_used_here(self.m, use, replay) for use in uses)
                self.m.journal.write(self.m.trackers[Keys].uses, canonical_key(key), here)


def _after(uses: dict[Value, Any], branch: Writes, at_head: UsesOf) -> UsesOf:
    """The uses as one way out of the iteration leaves them."""

    def at_end(key: Value) -> tuple[Use, ...]:
        where = (id(uses), key)
        found = branch[where][2] if where in branch else at_head(key)
        return () if found is MISSING else found

    return at_end


def carry_uses(m: Machine, now: Value, first: Value, once: Value) -> None:
    """A loop of JAX runs its body again: ``first`` and ``once`` are the carries of the first two iterations, ``now`` is any."""
    uses = m.trackers[Keys].uses
    if uses and now is not first:
        # Python keeps no record of the uses that ``first`` had before the loop; those of the first iteration are its own.
        _carry(m, now, (first, lambda _key: ()), [(once, lambda key: uses.get(key, ()))])


def hand_out(m: Machine, inside: Value, outside: Value, *, mapped: bool = False) -> Value:
    """What a staged function returned, as its caller has it: a key among it was used in there. mapped: so was each key of an
    array of them, which another map over the array takes apart again."""
    uses = m.trackers[Keys].uses
    if uses and outside is not inside:
        for head, old, _ in _keys_within(outside, (inside, lambda key: uses.get(key, ())), []):
            used = _uses_of(old)
            key = canonical_key(mapped_element(head) if mapped and used and isinstance(head, (Array, Opaque)) else head)
            if used and not uses.get(key):
                m.journal.write(uses, key, used)
    return outside


def _carry(m: Machine, now: Value, first: Source, ends: list[Source]) -> bool:
    """Note the uses of what a head stands for. first: from before the iteration. Whether there are new ones."""
    keys = m.trackers[Keys]
    learnt = False
    for head, old, others in _keys_within(now, first, ends):
        key, entered = canonical_key(head), _uses_of(old)
        returned = [replace(use, carried=True) for end in others for use in _uses_of(end) if use not in entered]
        carried = _distinct([*entered, *returned])
        if not carried or keys.uses.get(key):
            continue
        m.journal.write(keys.uses, key, carried)
        if isinstance(old[0], Value):
            entering = canonical_key(old[0])
            keys.started_as[key] = keys.started_as.get(entering, entering)
            if not returned:
                keys.stand_for[key] = keys.stand_for.get(entering, entering)
        learnt = learnt or len(carried) > len(entered)
    return learnt


def _uses_of(source: Source) -> tuple[Use, ...]:
    value, uses_of = source
    if not isinstance(value, Value) or not may_be_key(value):
        return ()
    return tuple(use for use in uses_of(canonical_key(value)) if use.effect != DONATE)


def _distinct(uses: list[Use]) -> tuple[Use, ...]:
    """The first uses at different places: each pass over a loop finds them again, in further runs of functions."""
    found = {(use.effect, tuple(id(place.node) for place in (*use.path, *use.inner))): use for use in reversed(uses)}
    return tuple(list(found.values())[::-1][:MAX_CARRIED])


def _keys_within(now: Value, first: Source, ends: list[Source]) -> Iterator[tuple[Value, Source, list[Source]]]:
    """What a head holds that may be a key, each with what it joins."""
    todo, room = [(now, first, ends, MAX_DEPTH)], Room(100)
    while todo:
        head, old, others, depth = todo.pop()
        if isinstance(head, (Array, Opaque)):
            if may_be_key(head) and all(value is not head for value, _ in (old, *others)):
                yield head, old, others
                if any(_mapped_element(value) is not None for value, _ in (old, *others)):
                    elements = [(_mapped_element(value), uses_of) for value, uses_of in (old, *others)]
                    yield mapped_element(head), elements[0], elements[1:]
        elif depth and room.enter(head):
            for step, part in _parts(head).items():
                inner = [(_parts(value).get(step), uses_of) for value, uses_of in (old, *others)]
                if isinstance(part, Value):
                    todo.append((part, inner[0], inner[1:], depth - 1))


def _mapped_element(keys: object) -> Value | None:
    """What each element of a map has of an array of keys, if there was a map over it."""
    whole = canonical_key(keys) if isinstance(keys, (Array, Opaque)) else None
    parts = whole.parts if isinstance(whole, (Array, Opaque)) else None
    return parts.get(ELEMENT) if parts else None


def _steps_to_keys(value: Value) -> Iterator[tuple[tuple[Any, ...], Value]]:
    todo: list[tuple[tuple[Any, ...], Value]] = [((), value)]
    room = Room(100)
    while todo:
        steps, held = todo.pop()
        if isinstance(held, (Array, Opaque)):
            if may_be_key(held):
                yield steps, held
        elif len(steps) < MAX_DEPTH and room.enter(held):
            todo += [((*steps, step), part) for step, part in _parts(held).items() if isinstance(part, Value)]


def _parts(value: Any) -> dict[Any, Any]:
    if isinstance(value, TupleValue):
        return dict(enumerate(value.elts))
    return value.slots if isinstance(value, (DictValue, Instance)) else {}
