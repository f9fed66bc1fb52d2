"""The cells of an open notebook as the one text that ``jaxlint check`` would make of the file, and back.

Magics are those of ``pipeline.notebooks``; here they are overwritten by text of the same length, so that an offset in a cell
is one in the text but for a constant. Limitations: cells that were run in another order than they stand in.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from flake8_jax.core.cells import HEADING, MAGIC
from flake8_jax.pipeline import notebooks


@dataclass(frozen=True)
class Cells:
    """The Python cells of a notebook joined to one text. ``starts``: the offset of each cell."""

    uris: tuple[str, ...]
    texts: tuple[str, ...]
    starts: tuple[int, ...]
    joined: str

    def cell_of(self, start: int, end: int) -> int | None:
        """The index of the cell that holds both offsets; None where no single one does."""
        index = bisect_right(self.starts, start) - 1
        inside = index >= 0 and end <= self.starts[index] + len(self.texts[index])
        return index if inside else None


def without_magics(cell: str) -> str:
    """A cell that Python can read, of the same length."""
    lines = cell.splitlines(keepends=True)
    changed = notebooks.without_magics(cell).splitlines(keepends=True)
    return "".join(old if new == old else _overwritten(old, new) for old, new in zip(lines, changed))


def _overwritten(line: str, changed: str) -> str:
    """A line with a magic; ``changed`` has what is harmless before it, and says where it begins."""
    body = line.rstrip("\r\n")
    before, _, magic = changed.rstrip("\r\n").partition(MAGIC)
    kept = body[: len(body) - len(magic)]
    harmless = "0#" if before.strip() else "##"
    return kept + harmless[: len(magic)].ljust(len(magic)) + line[len(body) :]


def joined(cells: Sequence[tuple[int, str, str]]) -> Cells:
    """One text of cells, given as number, URI and text."""
    starts: list[int] = []
    pieces: list[str] = []
    at = 0
    for number, _, text in cells:
        heading = HEADING.format(number) + "\n"
        starts.append(at + len(heading))
        pieces.append(heading + without_magics(text) + "\n")
        at += len(pieces[-1])
    uris, texts = tuple(uri for _, uri, _ in cells), tuple(text for _, _, text in cells)
    return Cells(uris, texts, tuple(starts), "".join(pieces))
