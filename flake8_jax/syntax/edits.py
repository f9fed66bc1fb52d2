"""Edits of a text: applying them, and preparing slices of source to stand somewhere else.

Vocabulary
----------
slice       a part of the original text. Edits keep as much of it as they can, comments included.
context     how tightly the place where a slice goes binds: what may stand there without parentheses.

Offsets are code points, end exclusive. Nothing here parses: the representation says what a slice is.
Not modelled: blanks and newlines next to an edit; whoever builds an edit decides about them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from enum import IntEnum
from typing import get_args

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.syntax.errors import OverlapError
from flake8_jax.syntax.spans import enclosing_span, literal_spans

_indentation = re.compile(r"[ \t\f]*")


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; insertions at the same place stay in the order given.

    Raises OverlapError where an edit begins before the one in front of it ends, ValueError where one lies outside.
    """
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < done:
            raise OverlapError(edit.start, edit.end)
        if not edit.start <= edit.end <= len(text):
            raise ValueError(f"an edit of {edit.start}..{edit.end} in a text of {len(text)} characters")
        parts += (text[done : edit.start], edit.content)
        done = edit.end
    parts.append(text[done:])
    return "".join(parts)


def statement_bounds(module: ir.Module, offset: int) -> tuple[int, int] | None:
    """The span of the innermost statement that holds an offset, decorators included; None between statements."""
    found: tuple[int, int] | None = None
    pending: list[object] = list(module.body)
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, (ir.Function, ir.ExceptHandler, ir.MatchCase)):
            pending.append(node.body)
        elif isinstance(node, _STATEMENTS):
            start = _decorated_start(node)
            if start <= offset < node.end:
                if found is None or node.end - start < found[1] - found[0]:
                    found = (start, node.end)
                pending.extend(getattr(node, field) for field in node.__struct_fields__ if field in _BODIES)
    return found


_STATEMENTS: tuple[type[ir.Node], ...] = get_args(ir.Stmt)
_BODIES = frozenset(("body", "orelse", "finalbody", "handlers", "cases", "function"))


def _decorated_start(node: ir.Node) -> int:
    if isinstance(node, (ir.FunctionDef, ir.ClassDef)) and node.decorators:
        return node.decorators[0].start - 1
    return node.start


def reindent(text: str, module: ir.Module, start: int, end: int, indentation: str) -> str:
    """The slice as it reads when the line that it begins on is indented by ``indentation`` instead.

    Lines of multi-line strings are left alone, as are lines indented less than the first (legal inside brackets).
    """
    starts = module.line_starts
    first_row = bisect_right(starts, start)
    first = _indentation.match(text, starts[first_row - 1], start)
    old = first.group() if first is not None else ""
    spans = literal_spans(text, module, start, end)
    parts: list[str] = []
    done = start
    for line in starts[first_row : bisect_right(starts, end - 1)]:
        parts.append(text[done:line])
        done = line
        if text.startswith(old, line) and text[line : line + 1] not in "\r\n" and enclosing_span(spans, line) is None:
            parts.append(indentation)
            done = line + len(old)
    parts.append(text[done:end])
    return "".join(parts)


class Context(IntEnum):
    """Where an expression is to stand. A larger value binds tighter."""

    LINE = 0
    """A line of its own, the right of ``=``, behind ``return``: anything but a line break outside brackets."""
    ELEMENT = 1
    """A call's argument, an element, a subscript, inside parentheses of its own."""
    OPERAND = 2
    """An operand of any operator."""
    PRIMARY = 3
    """Before ``.name``, ``(`` or ``[``."""


_PRIMARIES = frozenset((ir.Name, ir.Attribute, ir.Call, ir.Subscript, ir.List, ir.Set, ir.Dict, ir.Comprehension))
_LOOSE = frozenset((ir.Yield, ir.YieldFrom, ir.NamedExpr))


def parenthesize_if_needed(text: str, module: ir.Module, node: ir.Expr, context: Context) -> str:
    """The slice of an expression, with the parentheses that it needs in a context."""
    source = text[node.start : node.end]
    depth_zero_break, encloses_itself = _shape(text, module, node)
    if isinstance(node, ir.Tuple) and not encloses_itself:
        needed = context > Context.LINE or depth_zero_break
    elif type(node) in _LOOSE:
        needed = context > Context.LINE or depth_zero_break or isinstance(node, ir.NamedExpr)
    elif context is Context.ELEMENT:
        needed = False
    elif context is Context.LINE:
        needed = depth_zero_break
    elif isinstance(node, ir.Constant):
        plain = node.kind in ("str", "bytes", "none", "bool", "ellipsis") or context is Context.OPERAND
        needed = depth_zero_break or not plain
    else:
        primary = type(node) in _PRIMARIES or isinstance(node, (ir.Tuple, ir.JoinedStr))
        needed = depth_zero_break or not primary
    return f"({source})" if needed else source


def _shape(text: str, module: ir.Module, node: ir.Expr) -> tuple[bool, bool]:
    """Whether a line ends outside the node's own brackets, and whether one pair of parentheses encloses it all."""
    spans = iter(literal_spans(text, module, node.start, node.end))
    span = next(spans, None)
    depth = 0
    breaks = False
    encloses = text.startswith("(", node.start)
    pos = node.start
    while pos < node.end:
        while span is not None and span[1] <= pos:
            span = next(spans, None)
        if span is not None and span[0] <= pos:
            pos = span[1]
            continue
        character = text[pos]
        if character == "#":
            while pos < node.end and text[pos] not in "\r\n":
                pos += 1
            continue
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character in "\r\n" and depth == 0 and not _continued(text, pos):
            breaks = True
        pos += 1
        if depth == 0 and pos < node.end:
            encloses = False
    return breaks, encloses


def _continued(text: str, line_break: int) -> bool:
    """Whether a backslash joins the line that ends here to the next one."""
    if text[line_break] == "\n" and line_break > 0 and text[line_break - 1] == "\r":
        line_break -= 1
    return line_break > 0 and text[line_break - 1] == "\\"
