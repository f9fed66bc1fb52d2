"""What else in a file speaks of an old name: the import that its uses leave behind, and comments beside them.

Vocabulary
----------
last uses   the uses behind which nothing reads what an import binds (``from jax.lib import xla_bridge``): all of them are
            written with the new name, and the import goes.

Limitations: comments with the old name inside of code, docstrings, imports with a comment.
"""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.findings import Edit
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import names
from flake8_jax.fixers._comments import comments_above
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource


def last_uses(source: FixSource, node: ir.Attribute, spelled: str) -> tuple[list[ir.Attribute], list[Edit]]:
    """The other uses that ``node`` needs to be renamed with for its import to go, and the edit that takes the import away. Both
    are empty where the import stays. spelled: the new name."""
    root: ir.Expr = node
    while isinstance(root, ir.Attribute):
        root = root.value
    if not isinstance(root, ir.Name) or root.id == spelled.partition(".")[0]:
        return [], []
    local = root.id
    others = [_whole(source, name) for name in names(source, local) if name is not root]
    alike = [one for one in others if isinstance(one, ir.Attribute) and source.slice(one) == source.slice(node)]
    if len(alike) < len(others) or not all(_may_spell(source, one, spelled) for one in alike):
        return [], []
    texts = (n.value for n in walk(source.module) if isinstance(n, ir.Constant) and isinstance(n.value, str))
    if any(re.search(rf"\b{re.escape(local)}\b", text) for text in texts):
        return [], []
    for statement in source.module.body:
        if isinstance(statement, ir.ImportFrom) and not statement.level and is_private(source, statement, local):
            at = next((i for i, n in enumerate(statement.names) if (n.alias or n.name) == local), None)
            if at is not None and not source.comments(statement.start, source.line_end(statement.end)):
                return alike, [without_name(source, statement, at)]
    return [], []


def _whole(source: FixSource, name: ir.Name) -> ir.Expr:
    """The longest chain of attributes that begins with a name."""
    whole: ir.Expr = name
    while isinstance(above := source.parent(whole), ir.Attribute):
        whole = above
    return whole


def _may_spell(source: FixSource, node: ir.Attribute, spelled: str) -> bool:
    """Nothing around a use gives the first part of the new name another meaning: it is that of the module."""
    first = spelled.partition(".")[0]
    return not any(
        first in function.local_names or any(p.name == first for p in function.params)
        for function in source.functions(node)
    )


def is_private(source: FixSource, statement: ir.ImportFrom, local: str) -> bool:
    """Nothing but the code of the file takes a name that it imports at its top level."""
    if source.program is None or source.functions(statement) or source.path.endswith(("__init__.py", SUFFIX)):
        return False
    if local in source.module.rebound_names or local in (source.module.star_exports or ()):
        return False
    return not source.program.imported_elsewhere(source, local)


def without_name(source: FixSource, statement: ir.ImportFrom, at: int) -> Edit:
    """Take one name out of an import, or the import away."""
    imported = statement.names
    if len(imported) == 1:
        return source.delete_statement(statement)
    if at + 1 < len(imported):
        return Edit(imported[at].start, imported[at + 1].start, "")
    return Edit(imported[at - 1].end, imported[at].end, "")


def renamed_remarks(source: FixSource, node: ir.Attribute, spelled: str) -> list[Edit]:
    """Comments directly above the statement of a use, and at the end of the use's line, that have the old name as a word: they
    get the new one. Those that hold code stay."""
    statement = source.statement(node)
    line = source.line_start(statement.start)
    column = statement.start - line
    above = source.comments(comments_above(source, line + column, next_to=True), line)
    behind = source.comments(node.end, source.line_end(node.end))
    old = {source.slice(node), Imports(source, node).resolve(node) or source.slice(node)}
    words = re.compile(rf"(?<![\w.])(?:{'|'.join(re.escape(one) for one in sorted(old))})(?!\w|[(\[]|\.\w)")
    edits = []
    for comment in (*above, *behind):
        text = words.sub(spelled, comment.text)
        if text != comment.text:
            edits.append(Edit(comment.start, comment.start + len(comment.text), text))
    return edits
