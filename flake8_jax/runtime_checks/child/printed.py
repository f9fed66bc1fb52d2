"""Whether two runs print the same.

Vocabulary
----------
alike    the same words, and numbers that differ by ``CLOSE`` at most: what is printed has few digits, and rounding shows
         in them.
         Where results may come ``nearer`` to the right ones, numbers are left to the comparison of results.
noisy    lines that the same program prints otherwise when it runs again (times, addresses); left out.
tracer   a line that shows a tracer: a ``print`` that ran while JAX traced, which is unintended. ``traced`` allows such lines to
         become others, ``unordered`` allows another order; ``text``: the text is not looked at.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from typing import Any

CLOSE = 1e-5
_NUMBER = re.compile(r"[-+]?(?:\b(?:nan|inf)\b|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_TRACER = re.compile(r"Tracer[<(]")


def printed_difference(
    one: str | None,
    two: str | None,
    again: str | None,
    other_again: str | None,
    allowed: Sequence[str] = (),
    noise: tuple[str | None, str | None] = (None, None),
) -> dict[str, Any]:
    """status: ``unseen``, ``nothing`` (neither prints), ``same``, ``noisy`` or ``differs``. lines: how many are the same.
    noisy: how many were left out. numbers: those of the
    others are the ``same``, ``close``, or ``others``.

    noise: what the original printed in two runs, where the order is no guide to which lines are noisy.
    """
    if one is None or two is None or "text" in allowed:
        return _said("unseen")
    ours, theirs = _lines(one), _lines(two)
    if not ours and not theirs:
        return _said("nothing")
    if "traced" in allowed:
        ours = [line for line in ours if not _TRACER.search(line)]
    like = functools.partial(is_alike, healing="finite" in allowed, any_number="nearer" in allowed)
    noisy = set()
    for mine, text in ((ours, again), (theirs, other_again)):
        if text is not None and "unordered" not in allowed:
            more = [line for line in _lines(text) if "traced" not in allowed or not _TRACER.search(line)]
            if len(more) != len(mine):
                return _said("noisy")
            noisy |= {number for number, pair in enumerate(zip(mine, more)) if not is_alike(*pair)}
    if "unordered" in allowed:
        changing = _changing(*noise)
        steady = [[line for line in lines if _words(line) not in changing] for lines in (ours, theirs)]
        return {**_unordered(*steady), "noisy": len(ours) - len(steady[0])}
    if len(ours) != len(theirs):
        return _said("differs", f"it prints {len(theirs)} lines instead of {len(ours)}")
    for number, (a, b) in enumerate(zip(ours, theirs)):
        if number not in noisy and not like(a, b):
            return _said("differs", f"it prints `{b[:80]}` instead of `{a[:80]}`")
    kept = [pair for number, pair in enumerate(zip(ours, theirs)) if number not in noisy]
    said = _said("same" if kept else "noisy", lines=len(kept))
    return {**said, "noisy": len(noisy), "numbers": _numbers(kept)}


def _numbers(pairs: Sequence[tuple[str, str]]) -> str:
    """How the numbers compare in lines with the same words."""
    if all(one == other for one, other in pairs):
        return "same"
    return "close" if all(is_alike(one, other) for one, other in pairs) else "others"


def _unordered(ours: list[str], theirs: list[str]) -> dict[str, Any]:
    left = list(theirs)
    for line in ours:
        found = next((number for number, other in enumerate(left) if is_alike(line, other)), None)
        if found is None:
            return _said("differs", f"it does not print `{line[:80]}`")
        del left[found]
    if left:
        return _said("differs", f"it prints `{left[0][:80]}` besides")
    return {**_said("same", lines=len(ours)), "numbers": "same" if sorted(ours) == sorted(theirs) else "close"}


def _changing(one: str | None, two: str | None) -> set[str]:
    """The words of lines whose numbers are others in every run."""
    pairs = zip(_lines(one or ""), _lines(two or ""))
    return {_words(a) for a, b in pairs if not is_alike(a, b) and _words(a) == _words(b)}


def _words(line: str) -> str:
    return _NUMBER.sub("#", line).replace(" ", "")


def _lines(text: str) -> list[str]:
    return [" ".join(_ADDRESS.sub("0x", line).split()) for line in text.splitlines() if line.strip()]


def is_alike(one: str, other: str, *, healing: bool = False, any_number: bool = False) -> bool:
    """healing: NaN and infinity may have become numbers. any_number: numbers may have become others."""
    if one == other:
        return True
    if _words(one) != _words(other):
        return False
    if any_number:
        return True
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other))
    return all(_near(float(a), float(b), healing) for a, b in pairs)


def _near(a: float, b: float, healing: bool) -> bool:
    if a == b or (math.isnan(a) and math.isnan(b)):
        return True
    if not math.isfinite(a) or not math.isfinite(b):
        return healing and math.isfinite(b)
    return abs(a - b) <= CLOSE * max(abs(a), abs(b))


def _said(status: str, what: str = "", lines: int = 0) -> dict[str, Any]:
    return {"status": status, "what": what, "lines": lines, "noisy": 0, "numbers": "same"}
