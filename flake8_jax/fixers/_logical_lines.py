"""The logical lines of a text, and the rows that they take.

Vocabulary
----------
logical line  a simple statement or the header of a compound one, over as many rows as it takes.
row           a line of the file.

Limitations: texts with rows that end in a lone carriage return have none.
"""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass

from flake8_jax.fixers._source import FixSource

_UNSEEN = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER)


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """The rows of a logical line, from 0, last exclusive."""

    first: int
    last: int


def logical_lines(text: str) -> list[LogicalLine]:
    """The logical lines of a text whose rows end in LF; none where it is not Python."""
    found: list[LogicalLine] = []
    first: int | None = None
    if "\r" in text:
        return []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _UNSEEN:
                continue
            first = token.start[0] - 1 if first is None else first
            if token.type == tokenize.NEWLINE:
                found.append(LogicalLine(first, token.start[0]))
                first = None
    except (tokenize.TokenError, SyntaxError):
        return []
    return found


def innermost_brackets(rows: list[str]) -> list[tuple[int, int] | None]:
    """For each row of one logical line the place, row and column, of the innermost bracket that is open where it begins."""
    found: list[tuple[int, int] | None] = [None] * len(rows)
    opened: list[tuple[int, int]] = []
    seen = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(rows)).readline):
            row, column = token.start[0] - 1, token.start[1]
            while seen < min(row, len(rows) - 1):
                seen += 1
                found[seen] = opened[-1] if opened else None
            if token.type == tokenize.OP and token.string in "([{":
                opened.append((row, column))
            elif token.type == tokenize.OP and token.string in ")]}" and opened:
                opened.pop()
    except (tokenize.TokenError, SyntaxError):
        return [None] * len(rows)
    return found


def logical_spans(source: FixSource) -> list[tuple[int, int]]:
    """The offsets of the file's logical lines, whole rows."""
    return source.remember("logical lines", source.module, lambda: _spans(source))


def _spans(source: FixSource) -> list[tuple[int, int]]:
    starts = [*source.module.line_starts, len(source.text)]
    return [(starts[line.first], starts[line.last]) for line in logical_lines(source.text.replace("\r\n", "\n"))]
