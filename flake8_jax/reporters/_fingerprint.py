"""Line fingerprints as GitHub's code scanning computes them, so that an alert follows its line through edits.

The fingerprint of a line is a polynomial hash (base 37, modulo 2⁶⁴) of the 100 UTF-16 units from its first one on,
blanks and tabs left out, every line end taken as one LF, an end mark and zeros behind the end; then how many lines
so far had that same hash.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

_UNITS = 100
_BASE = 37
_MASK = 2**64 - 1
_END_MARK = 0xFFFF
_LF, _CR, _BLANK, _TAB = 10, 13, 32, 9


def line_fingerprints(text: str) -> dict[int, str]:
    """The fingerprint of every 1-based row of the text."""
    units, starts = _significant(text)
    padded = list(chain(units, [_END_MARK], [0] * _UNITS))
    leaving = pow(_BASE, _UNITS, 2**64)
    value = 0
    for unit in padded[:_UNITS]:
        value = (value * _BASE + unit) & _MASK
    wanted = dict(zip(starts, range(1, len(starts) + 1)))
    seen: Counter[int] = Counter()
    found: dict[int, str] = {}
    for position in range(len(units) + 1):
        row = wanted.get(position)
        if row is not None:
            seen[value] += 1
            found[row] = f"{value:x}:{seen[value]}"
        if position < len(units):
            value = (value * _BASE + padded[position + _UNITS] - leaving * padded[position]) & _MASK
    return found


def _significant(text: str) -> tuple[list[int], list[int]]:
    """The units that count, and the positions among them at which rows start."""
    data = text.encode("utf-16-le", "surrogatepass")
    units: list[int] = []
    starts: list[int] = []
    at_start, after_cr = True, False
    for low, high in zip(data[::2], data[1::2]):
        unit = low | high << 8
        if unit in (_BLANK, _TAB) or (after_cr and unit == _LF):
            after_cr = False
            continue
        after_cr = unit == _CR
        if at_start:
            starts.append(len(units))
        unit = _LF if after_cr else unit
        at_start = unit == _LF
        units.append(unit)
    if at_start:
        starts.append(len(units))
    return units, starts
