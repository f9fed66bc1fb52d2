"""The patterns of ``match`` statements.

Vocabulary
----------
capture     a name that a pattern binds; it is recorded in the current scope.

Positions are ``ast``'s: grouping parentheses are left out, the brackets or parentheses of a sequence are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from flake8_jax.core import ir
from flake8_jax.syntax.cursor import Cursor, token
from flake8_jax.syntax.errors import LoweringError
from flake8_jax.syntax.expressions import (
    CLOSE_BRACE,
    CLOSE_BRACKET,
    CLOSE_PAREN,
    COLON,
    COMMA,
    EQUAL,
    OPEN_PAREN,
    expression,
    identifier,
)

_bar = token("|")
_as = token("as")


def pattern(cursor: Cursor, node: Any) -> ir.Pattern:
    """Lower one pattern, its grouping parentheses included."""
    kind = type(node)
    if kind is cst.MatchValue or kind is cst.MatchSingleton:
        value = expression(cursor, node.value)
        return ir.MatchValue(value.start, value.end, value)
    paren = cursor.pos
    for _ in node.lpar:
        paren = cursor.skip()
        cursor.expect(OPEN_PAREN, node)
    lower = _PATTERNS.get(kind)
    if lower is None:
        raise LoweringError(kind.__name__, cursor.pos)
    result = lower(cursor, node)
    closing = len(node.rpar)
    if closing and kind is cst.MatchTuple:
        cursor.expect_last(CLOSE_PAREN, node)
        result.start = paren
        result.end = cursor.pos
        closing -= 1
    for _ in range(closing):
        cursor.expect_last(CLOSE_PAREN, node)
    return result


def _capture(cursor: Cursor, node: cst.Name | None) -> str | None:
    """The name at the cursor, or None for the wildcard."""
    if node is None:
        cursor.pos += 1
        return None
    raw = node.value
    cursor.pos += len(raw)
    captured = identifier(raw)
    cursor.scope.bound[captured] = None
    return captured


def _elements(cursor: Cursor, nodes: Sequence[Any]) -> list[ir.Pattern]:
    patterns: list[ir.Pattern] = []
    comma = False
    for node in nodes:
        if comma:
            cursor.skip()
        if type(node) is cst.MatchStar:
            start = cursor.pos
            cursor.advance(1)
            captured = _capture(cursor, node.name)
            patterns.append(ir.MatchStar(start, cursor.pos, captured))
        else:
            patterns.append(pattern(cursor, node.value))
        comma = type(node.comma) is cst.Comma
        if comma:
            cursor.expect_last(COMMA, node)
    return patterns


def _list(cursor: Cursor, node: cst.MatchList) -> ir.Pattern:
    start = cursor.pos
    if node.lbracket is not None:
        cursor.advance(1)
    patterns = _elements(cursor, node.patterns)
    if node.rbracket is not None:
        cursor.expect_last(CLOSE_BRACKET, node)
    return ir.MatchSequence(start, cursor.pos, patterns)


def _tuple(cursor: Cursor, node: cst.MatchTuple) -> ir.Pattern:
    start = cursor.pos
    patterns = _elements(cursor, node.patterns)
    return ir.MatchSequence(start, cursor.pos, patterns)


def _mapping(cursor: Cursor, node: cst.MatchMapping) -> ir.Pattern:
    start = cursor.pos
    cursor.advance(1)
    keys: list[ir.Expr] = []
    patterns: list[ir.Pattern] = []
    rest: str | None = None
    for element in node.elements:
        keys.append(expression(cursor, element.key))
        cursor.expect(COLON, element)
        patterns.append(pattern(cursor, element.pattern))
        if type(element.comma) is cst.Comma:
            cursor.expect(COMMA, element)
    if node.rest is not None:
        cursor.advance(2)
        rest = _capture(cursor, node.rest)
        if type(node.trailing_comma) is cst.Comma:
            cursor.expect_last(COMMA, node)
    cursor.expect_last(CLOSE_BRACE, node)
    return ir.MatchMapping(start, cursor.pos, keys, patterns, rest)


def _class(cursor: Cursor, node: cst.MatchClass) -> ir.Pattern:
    start = cursor.pos
    cls = expression(cursor, node.cls)
    cursor.expect(OPEN_PAREN, node)
    patterns: list[ir.Pattern] = []
    keywords: list[str] = []
    keyword_patterns: list[ir.Pattern] = []
    for element in node.patterns:
        patterns.append(pattern(cursor, element.value))
        if type(element.comma) is cst.Comma:
            cursor.expect(COMMA, element)
    for keyword in node.kwds:
        raw = keyword.key.value
        keywords.append(identifier(raw))
        cursor.pos += len(raw)
        cursor.expect(EQUAL, keyword)
        keyword_patterns.append(pattern(cursor, keyword.pattern))
        if type(keyword.comma) is cst.Comma:
            cursor.expect(COMMA, keyword)
    cursor.expect_last(CLOSE_PAREN, node)
    return ir.MatchClass(start, cursor.pos, cls, patterns, keywords, keyword_patterns)


def _as_pattern(cursor: Cursor, node: cst.MatchAs) -> ir.Pattern:
    start = cursor.pos
    inner: ir.Pattern | None = None
    if node.pattern is not None:
        inner = pattern(cursor, node.pattern)
        cursor.expect(_as, node)
    captured = _capture(cursor, node.name)
    return ir.MatchAs(start, cursor.pos, inner, captured)


def _or(cursor: Cursor, node: cst.MatchOr) -> ir.Pattern:
    start = cursor.pos
    patterns: list[ir.Pattern] = []
    for index, element in enumerate(node.patterns):
        if index:
            cursor.expect(_bar, node)
        patterns.append(pattern(cursor, element.pattern))
    return ir.MatchOr(start, cursor.pos, patterns)


_PATTERNS: dict[type[cst.CSTNode], Callable[[Cursor, Any], ir.Pattern]] = {
    cst.MatchList: _list,
    cst.MatchTuple: _tuple,
    cst.MatchMapping: _mapping,
    cst.MatchClass: _class,
    cst.MatchAs: _as_pattern,
    cst.MatchOr: _or,
}
