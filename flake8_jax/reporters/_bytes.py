"""Columns in UTF-8 bytes, for formats that count those."""

from __future__ import annotations

from functools import cached_property

from flake8_jax.core.report import line_starts


class ByteColumns:
    """Places in one text: 1-based code-point columns to 1-based columns in UTF-8 bytes."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _starts(self) -> list[int]:
        return line_starts(self._text)

    def column(self, row: int, column: int) -> int:
        """The byte column; where the text is not known, the code-point column itself."""
        if not 1 <= row <= len(self._starts):
            return column
        start = self._starts[row - 1]
        return len(self._text[start : start + column - 1].encode("utf-8", "surrogatepass")) + 1
