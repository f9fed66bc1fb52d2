"""The statement around a finding: its rows, without those of the blocks in it.

Limitation: a text that this Python cannot parse has no statements.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

_BLOCKS = ("body", "orelse", "finalbody", "handlers")


@functools.lru_cache(maxsize=64)
def _heads(text: str) -> tuple[frozenset[int], ...]:
    """The rows of every statement of a text."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(frozenset(_rows(node)) for node in ast.walk(tree) if isinstance(node, ast.stmt))


def _rows(node: ast.stmt) -> Iterator[int]:
    first, last = node.lineno, node.end_lineno or node.lineno
    inside: set[int] = set()
    for block in _blocks(node):
        inside.update(range(block[0].lineno, (block[-1].end_lineno or block[-1].lineno) + 1))
    yield from (row for row in range(first, last + 1) if row not in inside or row == first)


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in _BLOCKS:
        found = getattr(node, name, None)
        if isinstance(found, list) and found:
            if isinstance(found[0], ast.ExceptHandler):
                yield from (handler.body for handler in found)
            else:
                yield found
    if isinstance(node, ast.Match):
        yield from (case.body for case in node.cases)


def rows_of_function(text: str, row: int) -> range:
    """Return the rows (1-based) of the innermost function that contains a row; those of the whole text if none does."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return range(0)
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    holding = [node for node in functions if node.lineno <= row <= (node.end_lineno or node.lineno)]
    inner = max(holding, key=lambda node: node.lineno, default=None)
    last = text.count("\n") + 1 if inner is None else inner.end_lineno or inner.lineno
    return range(1 if inner is None else inner.lineno, last + 1)


def rows_of_loop(text: str, row: int) -> frozenset[int]:
    """Return the rows (1-based) of the outermost loop around a row, in its function; none where no loop is."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    inside = rows_of_function(text, row)
    loops = [node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.AsyncFor, ast.While))]
    holding = [node for node in loops if inside.start <= node.lineno <= row <= (node.end_lineno or node.lineno)]
    outer = min(holding, key=lambda node: node.lineno, default=None)
    return frozenset() if outer is None else frozenset(range(outer.lineno, (outer.end_lineno or outer.lineno) + 1))


def rows_around(text: str, first: int, last: int) -> frozenset[int]:
    """Return the rows (1-based) of the smallest statement that contains one of these rows, and these rows."""
    mine = set(range(first, last + 1))
    holding = [rows for rows in _heads(text) if rows & mine]
    return frozenset(mine | min(holding, key=len, default=frozenset()))
