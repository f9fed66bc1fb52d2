"""A notebook as one Python text, and back to its cells.

Vocabulary
----------
magic   a line for IPython, not for Python: ``%timeit f(x)``, ``!ls``, ``files = !ls``, ``f?``, a whole ``%%bash`` cell.

Magics are overwritten by text of the same length that means nothing to Python, so that offsets stay what they are. Not
modelled: cells that were run in another order than they stand in; what a magic defines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

_MAGIC = re.compile(r"(?m)^(?P<indent>[ \t]*)(?P<magic>[%!?][^\r\n]*)")
_ASSIGNED = re.compile(r"(?m)^(?P<indent>[ \t]*[\w.,\[\] \t]+=[ \t]*)(?P<magic>(?:%|!)[^\r\n]*)")
_HELP = re.compile(r"(?m)^(?P<indent>[ \t]*)(?P<magic>[\w.]+\?{1,2})[ \t]*$")
_PYTHON_CELL_MAGICS = ("time", "timeit", "capture", "prun")


@dataclass(frozen=True)
class Cells:
    """The code cells of a notebook joined to one text. ``starts``: the offset of each cell."""

    uris: tuple[str, ...]
    texts: tuple[str, ...]
    starts: tuple[int, ...]
    joined: str

    def cell_of(self, start: int, end: int) -> int | None:
        """The index of the cell that holds both offsets; None where they are in different ones."""
        index = bisect_right(self.starts, start) - 1
        inside = index >= 0 and end <= self.starts[index] + len(self.texts[index])
        return index if inside else None


def without_magics(text: str) -> str:
    """A cell that Python can read, of the same length."""
    first = text.lstrip()
    if first.startswith("%%"):
        name = first[2:].split(maxsplit=1)[0] if first[2:].strip() else ""
        if name not in _PYTHON_CELL_MAGICS:
            return re.sub(r"[^\r\n]", " ", text)
    for pattern in (_MAGIC, _ASSIGNED, _HELP):
        text = pattern.sub(lambda match: match["indent"] + _nothing(len(match["magic"])), text)
    return text


def _nothing(length: int) -> str:
    """An expression statement of this length that does nothing."""
    return "0" if length == 1 else "0#" + " " * (length - 2)


def joined(cells: Sequence[tuple[str, str]]) -> Cells:
    """One text of cells, given as URI and text."""
    starts: list[int] = []
    pieces: list[str] = []
    at = 0
    for _, text in cells:
        starts.append(at)
        piece = without_magics(text) + "\n"
        pieces.append(piece)
        at += len(piece)
    return Cells(tuple(uri for uri, _ in cells), tuple(text for _, text in cells), tuple(starts), "".join(pieces))
