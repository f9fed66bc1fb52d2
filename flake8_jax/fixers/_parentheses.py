"""Parentheses that an expression needed, and that what a fix writes in its place does not.

Vocabulary
----------
closed      an expression that no operator beside it can take apart: a name, an attribute, a call, a subscript.

Limitations: parentheses with comments stay.
"""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.fixers._source import FixSource
from flake8_jax.syntax.errors import SyntaxProblem
from flake8_jax.syntax.lower import lower

_CLOSED = (ir.Name, ir.Attribute, ir.Call, ir.Subscript)
_KEYWORD = re.compile(r"(?<![\w.])(?:and|assert|await|elif|else|for|from|if|in|is|not|or|raise|return|while|yield)$")
_BINDS_TIGHTER = ("**", ".", "[", "(")


def without_parentheses(source: FixSource, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The edits, each with the parentheses around what it replaces if the new text needs none."""
    return tuple(_without(source, edit, edits) for edit in edits)


def _without(source: FixSource, edit: Edit, edits: tuple[Edit, ...]) -> Edit:
    around = _parentheses_around(source.text, edit)
    if around is None or not _is_expression(source, edit):
        return edit
    if (
        edit.content.startswith("{") and source.string_around(edit.start) is not None
    ):  # two braces in an f-string are text
        return edit
    start, end = around
    if any(other is not edit and other.start < end and other.end > start for other in edits):
        return edit
    if not _needs_none(edit.content, source.text[end:].lstrip(" \t")):
        return edit
    before = " " if re.search(r"\w$", source.text[:start][-1:]) else ""
    behind = " " if re.match(r"\w", source.text[end:][:1]) else ""
    return Edit(start, end, f"{before}{edit.content}{behind}")


def _parentheses_around(text: str, edit: Edit) -> tuple[int, int] | None:
    """The offsets of a pair of parentheses with nothing in it but blanks and what is edited; None where they belong to a call
    or a definition."""
    start, end = edit.start, edit.end
    while start and text[start - 1] in " \t\r\n":
        start -= 1
    while end < len(text) and text[end] in " \t\r\n":
        end += 1
    if edit.start == edit.end or text[start - 1 : start] != "(" or text[end : end + 1] != ")":
        return None
    before = text[max(0, start - 40) : start - 1].rstrip(" \t")
    if re.search(r"[\w)\]}\"']$", before) and not _KEYWORD.search(before):
        return None
    return start - 1, end + 1


def _is_expression(source: FixSource, edit: Edit) -> bool:
    return any(isinstance(n, ir.Node) and n.end == edit.end for n in source.nodes_at(edit.start))


def _needs_none(text: str, behind: str) -> bool:
    """Whether an expression stays what it is without parentheses. behind: the text that follows."""
    try:
        body = lower(text).body
    except SyntaxProblem:
        return False
    if len(body) != 1 or not isinstance(body[0], ir.ExprStmt):
        return False
    value = body[0].value
    if isinstance(value, ir.UnaryOp) and value.op == "~":
        return isinstance(value.operand, _CLOSED) and not behind.startswith(_BINDS_TIGHTER)
    return isinstance(value, _CLOSED)


def alone(source: FixSource, node: ir.Node, text: str) -> str:
    """A sum or a product that stands where a node stood: in parentheses, but where nothing else is beside it."""
    before, after = source.text[: node.start].rstrip(), source.text[node.end :].lstrip(" \t")
    free = before.endswith(("(", "=", ",", "return")) and not before.endswith("**(")
    return text if free and after[:1] in ("", ")", ",", "\n", "\r", "#") else f"({text})"
