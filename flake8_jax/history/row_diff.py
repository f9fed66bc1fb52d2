"""Which rows of a text are new beside an older one, in nearly linear time.

Vocabulary
----------
anchor   a line that stands once in both texts. The longest run of anchors in the same order splits the texts ("patience
         diff"). What is left between two anchors is compared by ``difflib`` if it is small, and is new if it is not.

So the answer may name more rows than the shortest difference would, but never fewer than one that explains the change.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

_SMALL = 40_000
"""Product of the numbers of lines up to which ``difflib`` compares a part: its time may grow with the cube of a length."""
_BUDGET = 1_000_000
"""Sum of these products in one comparison."""
_DEEPEST = 12

Rows = tuple[tuple[int, int], ...]


def changed_rows(before: Sequence[Hashable], after: Sequence[Hashable]) -> Rows:
    """First and last row (1-based) of each change; of what was deleted, the row before it and the row behind it."""
    found: list[tuple[int, int]] = []
    for low, high in _changes(before, after):
        first, last = (low + 1, high) if high > low else (low, low + 1)
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


def _changes(before: Sequence[Hashable], after: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Where ``after`` differs, in order: the part between two offsets, which is empty where something was deleted."""
    parts = [(0, len(before), 0, len(after), 0)]
    budget = _BUDGET
    while parts:
        old, old_end, new, new_end, depth = parts.pop()
        while old < old_end and new < new_end and before[old] == after[new]:
            old, new = old + 1, new + 1
        while old < old_end and new < new_end and before[old_end - 1] == after[new_end - 1]:
            old_end, new_end = old_end - 1, new_end - 1
        if old == old_end or new == new_end:
            if (old, new) != (old_end, new_end):
                yield new, new_end
            continue
        anchors = _anchors(before, after, old, old_end, new, new_end) if depth < _DEEPEST else []
        if anchors:
            starts = [(old, new), *((first + 1, second + 1) for first, second in anchors)]
            ends = [*anchors, (old_end, new_end)]
            inner = [(a, b, c, d, depth + 1) for (a, c), (b, d) in zip(starts, ends)]
            parts += reversed(inner)
        elif (size := (old_end - old) * (new_end - new)) <= min(_SMALL, budget):
            budget -= size
            matcher = difflib.SequenceMatcher(None, before[old:old_end], after[new:new_end], autojunk=False)
            yield from ((new + low, new + high) for tag, _, _, low, high in matcher.get_opcodes() if tag != "equal")
        else:
            yield new, new_end


def _anchors(
    before: Sequence[Hashable], after: Sequence[Hashable], old: int, old_end: int, new: int, new_end: int
) -> list[tuple[int, int]]:
    """The longest run of lines that stand once in both parts, in the order of both."""
    here = Counter(before[old:old_end])
    there = Counter(after[new:new_end])
    places = {before[index]: index for index in range(old, old_end) if here[before[index]] == 1}
    pairs = [
        (places[after[index]], index)
        for index in range(new, new_end)
        if there[after[index]] == 1 and after[index] in places
    ]
    ends: list[int] = []  # by length - 1: the smallest end of an increasing run so long, and its pair
    of_length: list[int] = []
    previous: list[int] = []
    for number, (place, _) in enumerate(pairs):
        length = bisect_left(ends, place)
        previous.append(of_length[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            of_length.append(number)
        else:
            ends[length], of_length[length] = place, number
    run: list[tuple[int, int]] = []
    number = of_length[-1] if of_length else -1
    while number >= 0:
        run.append(pairs[number])
        number = previous[number]
    return run[::-1]
