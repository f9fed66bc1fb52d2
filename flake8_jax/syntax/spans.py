"""Where the string literals of a text are: what must not be taken for a comment, nor be moved sideways.

Vocabulary
----------
piece       one literal from its prefix to its closing quote. Adjacent literals are one node of the representation
            but several pieces, with blanks and comments between them.

Limitations: literals inside the replacement fields of an f-string (they belong to its piece) and inside the bounds
of type parameters, which the representation leaves out.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.syntax.cursor import TRIVIA

_opening = re.compile(rf"{TRIVIA}([A-Za-z]*)('''|\"\"\"|'|\")")
_stops = {
    quote: re.compile(rf"\\[\s\S]|\{{|{re.escape(quote)}") for quote in ("'", '"', "'''", '"""')
}  # fmt: skip


def literal_spans(text: str, module: ir.Module, start: int, end: int) -> list[tuple[int, int]]:
    """The spans of the pieces that overlap ``start..end``, in order."""
    found: list[tuple[int, int]] = []
    for node in string_nodes(module, start, end):
        found.extend((a, b) for a, b in pieces(text, node) if a <= end and b >= start)
    found.sort()
    return found


def string_nodes(module: ir.Module, start: int, end: int) -> Iterator[ir.Constant | ir.JoinedStr]:
    """The outermost string nodes that overlap ``start..end``, in no particular order."""
    pending: list[object] = [module.body]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(_overlapping(node, start, end) if len(node) > 8 else node)
        elif isinstance(node, msgspec.Struct):
            if isinstance(node, ir.Node) and (_first(node) > end or node.end < start):
                continue
            if isinstance(node, ir.JoinedStr):
                yield node
            elif isinstance(node, ir.Constant):
                if node.kind in ("str", "bytes"):
                    yield node
            elif isinstance(node, ir.Dict):  # `**other` has no key
                pending += [[key for key in node.keys if key is not None], node.values]
            else:
                pending.extend(getattr(node, field) for field in node.__struct_fields__)


def _overlapping(items: list[Any], start: int, end: int) -> list[Any]:
    """The items of a list that overlap ``start..end``. Nodes and arguments stand in the order of the text; of anything else,
    all. A file may have as many findings as statements."""
    if not isinstance(items[0], (ir.Node, ir.Argument)):
        return items
    return items[bisect_left(items, start, key=_end_of) : bisect_right(items, end, key=_first)]


def _end_of(item: Any) -> int:
    return item.end  # type: ignore[no-any-return]


def _first(node: Any) -> int:
    """Where a node's text begins: a definition's decorators come before its span."""
    if isinstance(node, (ir.FunctionDef, ir.ClassDef)) and node.decorators:
        return node.decorators[0].start
    return node.start  # type: ignore[no-any-return]


def pieces(text: str, node: ir.Constant | ir.JoinedStr) -> list[tuple[int, int]]:
    """The spans of the literals that make up one string node."""
    fields: dict[int, int] = {}
    if isinstance(node, ir.JoinedStr):
        fields = {value.start: value.end for value in node.values if isinstance(value, ir.FormattedValue)}
    found: list[tuple[int, int]] = []
    pos = node.start
    while pos < node.end:
        opening = _opening.match(text, pos)
        if opening is None:
            break
        pos = _closing(text, opening.end(), opening[2], fields)
        found.append((opening.start(1), pos))
    return found


def _closing(text: str, pos: int, quote: str, fields: dict[int, int]) -> int:
    """The offset behind the closing quote of a literal whose content begins at ``pos``."""
    stops = _stops[quote]
    while True:
        stop = stops.search(text, pos)
        if stop is None:
            return len(text)
        pos = fields.get(stop.start(), stop.end())
        if stop.group() == quote:
            return pos


def enclosing_span(spans: list[tuple[int, int]], offset: int) -> tuple[int, int] | None:
    """The span that has ``offset`` strictly inside (text on both sides belongs to it), if any."""
    index = bisect_right(spans, offset, key=lambda span: span[0]) - 1
    if index >= 0 and spans[index][0] < offset < spans[index][1]:
        return spans[index]
    return None


def line_end(text: str, module: ir.Module, offset: int) -> int:
    """The offset of the end of the physical line that holds ``offset``, its line break not included."""
    starts = module.line_starts
    row = bisect_right(starts, offset)
    end = starts[row] if row < len(starts) else len(text)
    while end > starts[row - 1] and text[end - 1] in "\r\n":
        end -= 1
    return end


def comment_row(text: str, module: ir.Module, offset: int) -> int:
    """The 1-based row at whose end a comment can stand that counts for ``offset``.

    It is the row of the offset itself, or the last row of the multi-line strings and backslash continuations
    that begin on it.
    """
    while True:
        end = line_end(text, module, offset)
        span = enclosing_span(literal_spans(text, module, end, end), end)
        if span is not None:
            offset = span[1]
        elif end > 0 and text[end - 1] == "\\" and end < len(text) and not _in_comment(text, module, end - 1):
            offset = module.line_starts[bisect_right(module.line_starts, offset)]
        else:
            return bisect_right(module.line_starts, offset)


def _in_comment(text: str, module: ir.Module, offset: int) -> bool:
    comment = comment_start(text, module, offset)
    return comment is not None and comment <= offset


def comment_start(text: str, module: ir.Module, offset: int) -> int | None:
    """The offset of the ``#`` that begins the comment on the physical line of ``offset``, if there is one."""
    start = module.line_starts[bisect_right(module.line_starts, offset) - 1]
    end = line_end(text, module, offset)
    spans: list[tuple[int, int]] | None = None
    pos = text.find("#", start, end)
    while pos >= 0:
        if spans is None:
            spans = literal_spans(text, module, start, end)
        if enclosing_span(spans, pos) is None:
            return pos
        pos = text.find("#", pos + 1, end)
    return None
