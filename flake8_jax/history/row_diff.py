"""Find the rows of a text that are new compared with an older text, in nearly linear time.

Vocabulary
----------
anchor   a line that occurs exactly once in each of the two texts. The longest run of anchors in the same order splits the texts
         ("patience diff"). ``difflib`` compares the small parts between two anchors. All rows of a large part are new.

So the result may contain more rows than the shortest difference, but it always explains the whole change.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

_SMALL = 40_000
"""The largest product of the numbers of lines that ``difflib`` compares. Its time may grow with the cube of the length."""
_BUDGET = 1_000_000
"""The largest sum of these products in one comparison."""
_DEEPEST = 12

Rows = tuple[tuple[int, int], ...]


def changed_rows(before: Sequence[Hashable], after: Sequence[Hashable]) -> Rows:
    """Return the first and the last row (from 1) of each change. For a deletion, these are the rows before and after it."""
    found: list[tuple[int, int]] = []
    for low, high in _changes(before, after):
        first, last = (low + 1, high) if high > low else (low, low + 1)
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


def _changes(before: Sequence[Hashable], after: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield the parts of ``after`` that differ, in order, as pairs of offsets. The part of a deletion is empty."""
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
    """Return the longest run of lines that occur exactly once in each part and have the same order in both parts."""
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
