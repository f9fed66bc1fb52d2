"""Texts that speak of ``pmap`` beside a rewritten use: its comments, the docstring of its function, and the name of its result.

Comments and docstrings are changed, and a name that others may read stays.

Limitations: comments that hold code, and those of other statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.fixers._comments import comments_above
from flake8_jax.fixers._pmaps import Pmap
from flake8_jax.fixers._source import Comment, FixSource

_FUNCTION = re.compile(r"\b(?:jax\.)?pmap\b(?!\s*\(|['-]?p?e?d\b)", re.IGNORECASE)
_MAPPED = re.compile(r"\bpmap['-]?p?e?d\b", re.IGNORECASE)
_NAME = re.compile(r"pmap", re.IGNORECASE)


def renamed(text: str) -> str:
    """A text in which ``pmap`` became ``shard_map``; lines that hold code stay."""
    return "".join(line if "=" in line else _renamed(line) for line in text.splitlines(keepends=True))


def _renamed(line: str) -> str:
    mapped = _MAPPED.sub(lambda found: "Mapped" if found[0][0] == "P" else "mapped", line)
    return _FUNCTION.sub("shard_map", mapped)


def renamed_texts(source: FixSource, site: Pmap) -> list[Edit]:
    """The comments directly above the statement of a use and on its lines, and the docstring of the function that it decorates,
    as they are to be. The comments inside of what is replaced are not among them."""
    is_call = site.operand is not None
    statement = source.statement(site.replaced)
    start = statement.start if is_call else site.replaced.start
    line = source.line_start(start)
    above = source.comments(comments_above(source, line + len(source.text[line:start]), next_to=True), line)
    last = statement.end if is_call and not isinstance(statement, _BLOCKS) else site.replaced.end
    beside = source.comments(start, source.line_end(last))
    outside = (c for c in beside if not site.replaced.start <= c.start < site.replaced.end)
    return [*_edits([*above, *outside]), *_docstring(source, site)]


_BLOCKS = (ir.If, ir.For, ir.While, ir.With, ir.Try, ir.Match, ir.FunctionDef, ir.ClassDef)


def _edits(comments: Iterable[Comment]) -> list[Edit]:
    changed = ((comment, renamed(comment.text)) for comment in comments)
    return [Edit(c.start, c.start + len(c.text), text) for c, text in changed if text != c.text]


def _docstring(source: FixSource, site: Pmap) -> list[Edit]:
    """The docstring of a decorated function."""
    body = site.definition.function.body if site.definition is not None and site.operand is None else []
    first = body[0].value if body and isinstance(body[0], ir.ExprStmt) else None
    if not isinstance(first, ir.Constant) or first.kind != "str":
        return []
    text = source.slice(first)
    new = renamed(text)
    return [Edit(first.start, first.end, new)] if new != text else []


def kept_name(source: FixSource, site: Pmap) -> str:
    """The name of the new function if it speaks of ``pmap`` (``pmapped``, or ``p_step`` of ``step``); else the empty string."""
    if site.operand is None:
        name = site.definition.function.name if site.definition is not None else ""
        return name if _NAME.search(name) else ""
    above = source.parent(site.replaced)
    targets = above.targets if isinstance(above, ir.Assign) else []
    name = source.slice(targets[0]) if len(targets) == 1 and isinstance(targets[0], (ir.Name, ir.Attribute)) else ""
    last = name.rpartition(".")[2]
    operand = source.slice(site.operand).rpartition(".")[2]
    return name if _NAME.search(last) or last in (f"p_{operand}", f"p{operand}") else ""
