"""Places in a text, as the protocol counts them and as jaxlint does.

Vocabulary
----------
offset    code points from the start of the text: how findings and edits are reported.
position  a line from 0 and a number of units on it: bytes of UTF-8, halves of UTF-16, or code points.

Lines end at LF, CR LF or CR, in the protocol as in Python's tokenizer; a form feed ends none.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal

from lsprotocol import types

from flake8_jax.core.report import line_starts

Encoding = Literal["utf-8", "utf-16", "utf-32"]


def units(text: str, encoding: Encoding) -> int:
    """The length of a piece of text in the units of an encoding."""
    if text.isascii() or encoding == "utf-32":
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


def code_points(text: str, count: int, encoding: Encoding) -> int:
    """How many characters of ``text`` its first ``count`` units are; a half counts as the whole before it."""
    if text.isascii() or encoding == "utf-32":
        return min(count, len(text))
    passed = 0
    for index, character in enumerate(text):
        passed += units(character, encoding)
        if passed > count:
            return index
    return len(text)


class Places:
    """Offsets of one text to positions and back."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self.text = text
        self.encoding: Encoding = encoding
        self.starts = line_starts(text)

    def line(self, row: int) -> str:
        """The line with this number (from 0), without its end."""
        end = self.starts[row + 1] if row + 1 < len(self.starts) else len(self.text)
        return self.text[self.starts[row] : end].rstrip("\r\n")

    def position(self, offset: int) -> types.Position:
        row = bisect_right(self.starts, offset) - 1
        return types.Position(row, units(self.text[self.starts[row] : offset], self.encoding))

    def of(self, row: int, column: int) -> types.Position:
        """The position of a row and a column from 1, of a text that may have changed since."""
        row, column = max(row - 1, 0), max(column - 1, 0)
        line = self.line(row) if row < len(self.starts) else ""
        return types.Position(row, units(line[:column], self.encoding) if column <= len(line) else column)

    def offset(self, position: types.Position) -> int:
        """The offset of a position; one behind the end of a line or of the text is at that end."""
        if position.line >= len(self.starts):
            return len(self.text)
        start = self.starts[position.line]
        return start + code_points(self.line(position.line), position.character, self.encoding)

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.position(start), self.position(end))
