"""The comments of statements that a fix takes apart: which of them belong to which statement.

Vocabulary
----------
own line    a comment with nothing in front of it on its line; any other one is *behind* code.
span        the text of a block that moves as a whole, from the comments above its first statement to those behind its last.
remarks     the comments of one statement, or of its value: on the lines above it, and after it.

A comment on a line of its own between two branches belongs to the first one if it is indented as deep, else to the second one.

Limitations: suites on the line of their header have no remarks of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flake8_jax.core import ir
from flake8_jax.fixers._source import Comment, FixSource


@dataclass(frozen=True, slots=True)
class Remarks:
    above: tuple[str, ...] = ()
    behind: str = ""

    def __bool__(self) -> bool:
        return bool(self.above or self.behind)

    def __add__(self, other: Remarks) -> Remarks:
        """Both; only one comment can stand behind."""
        if self.behind and other.behind:
            return Remarks((*self.above, self.behind, *other.above), other.behind)
        return Remarks(self.above + other.above, self.behind or other.behind)

    def lines(self, code: str) -> list[str]:
        """A line of code with its remarks."""
        return [*self.above, f"{code}  {self.behind}" if self.behind else code]


NONE = Remarks()
CELL_HEADING = re.compile(r"# ?%%")
"""The heading of a cell, in a notebook or in a script that is written as one."""


def is_own_line(source: FixSource, comment: Comment) -> bool:
    return not source.text[source.line_start(comment.start) : comment.start].strip()


def _column(source: FixSource, offset: int) -> int:
    return offset - source.line_start(offset)


def statement_end(source: FixSource, node: ir.Stmt) -> int:
    """The end of a statement with what belongs to its last block: the comment after it, and those on the lines below that are
    indented deeper than the statement. One that takes a single line ends without the comment after it."""
    if source.line_start(node.start) == source.line_start(node.end) or not source.ends_line(node):
        return node.end
    return _with_lines_below(source, node.end, _column(source, node.start))


def _with_lines_below(source: FixSource, offset: int, outer: int) -> int:
    """The end of the line, or of the last comment below it that is indented deeper than the column ``outer``."""
    end = source.line_end(offset)
    at = source.next_line(offset)
    while at < len(source.text):
        row = source.text[at : source.line_end(at)]
        bare = row.lstrip(" \t")
        if bare and not (bare.startswith("#") and len(row) - len(bare) > outer):
            break
        if bare:
            end = at + len(row.rstrip())
        at = source.next_line(at)
    return end


def block_span(source: FixSource, block: Sequence[ir.Stmt], limit: int) -> tuple[int, int]:
    """The span of a block, up to ``limit``: with the comments directly above its first statement and behind its last one, and
    those below that are indented as deep."""
    first, last = block[0], block[-1]
    if not source.starts_line(first):
        return first.start, last.end
    column = _column(source, first.start)
    end = last.end
    if source.ends_line(last):
        end = max(end, min(_with_lines_below(source, last.end, column - 1), limit))
    return comments_above(source, first.start), end


def comments_above(source: FixSource, offset: int, *, next_to: bool = False) -> int:
    """Where the comment lines above a line begin, the first comment's own start; ``offset`` if there are none.

    Comments that are indented deeper belong to what is above. next_to: no empty line is between.
    """
    column, start = _column(source, offset), offset
    at = source.line_start(offset)
    while at:
        at = source.line_start(at - 1)
        row = source.text[at : source.line_end(at)]
        bare = row.lstrip(" \t")
        if not bare and not next_to:
            continue
        if not bare.startswith("#") or CELL_HEADING.match(row) or len(row) - len(bare) > column:
            break
        if source.string_around(at) is not None:
            break
        start = at + len(row) - len(bare)
    return start


def remarks_of(
    source: FixSource, node: ir.Stmt, blocks: Sequence[Sequence[ir.Stmt]], comments: Iterable[Comment]
) -> tuple[dict[int, Remarks], list[Comment]]:
    """The remarks of the statements in blocks that follow one another in ``node`` or after it, by their identity; and the
    comments that are neither in a block nor between two: those of the header.

    comments: in the order of the file, and none that is part of a value.
    """
    statements = [(at, statement) for at, block in enumerate(blocks) for statement in block]
    found: dict[int, Remarks] = {}
    left: list[Comment] = []
    for comment in comments:
        statement = _statement_of(source, node, statements, comment)
        if statement is None:
            left.append(comment)
            continue
        own = is_own_line(source, comment) or comment.start < statement.end
        remark = Remarks((comment.text,)) if own else Remarks((), comment.text)
        found[id(statement)] = found.get(id(statement), NONE) + remark
    return found, left


def _statement_of(
    source: FixSource, node: ir.Stmt, statements: list[tuple[int, ir.Stmt]], comment: Comment
) -> ir.Stmt | None:
    """The statement that a comment is about; None for one of the header. statements: with the numbers of their blocks."""
    block, before = next((pair for pair in reversed(statements) if pair[1].start <= comment.start), (-1, None))
    next_block, behind = next((pair for pair in statements if pair[1].start > comment.start), (-1, None))
    if before is None:
        return behind if is_own_line(source, comment) else None
    if comment.start < before.end or behind is None:
        return before
    if not is_own_line(source, comment):
        is_same_line = source.line_start(before.end) == source.line_start(comment.start)
        return before if is_same_line else behind
    if block == next_block or _column(source, comment.start) <= _column(source, node.start):
        return behind
    # Below ``else:``, a comment is about what follows, however deep it is.
    between = source.text[before.end : comment.start].splitlines()[1:]
    return behind if any(row.strip() and not row.lstrip().startswith("#") for row in between) else before
