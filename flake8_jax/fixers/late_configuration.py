"""JAX903: the statement moves up, in front of what comes too early.

Vocabulary
----------
early       the statement in the same block that imports JAX, or computes something with it.
companion   an import of ``os`` between the two; it moves up with the statement.

Limitations: settings in another block or another function than what comes too early; a statement that needs what
stands in between, or that is not alone on its lines; blocks in which something in between takes part in the same setting.
"""

from __future__ import annotations

from typing import TypeGuard

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import TAKES_EFFECT, unsafe
from flake8_jax.fixers._comments import comments_above
from flake8_jax.fixers._names import uses
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.semantics.domain.values import Const
from flake8_jax.semantics.events.events import Setting

_MOVABLE = (ir.Assign, ir.AugAssign, ir.ExprStmt)
_SIDE_EFFECTS = (ir.NamedExpr, ir.Yield, ir.YieldFrom, ir.Await)


@fixer("late-configuration")
def fix(event: Setting, source: FixSource) -> Fix | None:
    if not event.late or not event.direct or event.since is None or event.since.scope is not event.context.scope:
        return None
    if _demands_device(event):
        return None
    statement = source.statement(event.at)
    if not isinstance(statement, _MOVABLE) or any(isinstance(n, _SIDE_EFFECTS) for n in walk(statement)):
        return None
    place = source.place(statement)
    early = _statement_around(place.block, event.since.start)
    if early is None or early.start >= statement.start:
        return None
    if isinstance(early, (ir.FunctionDef, ir.ClassDef)) and early.decorators:
        return None
    between = place.block[place.block.index(early) : place.index]
    companion = _companion(between, statement)
    rest = [s for s in between if s is not companion]
    if uses(statement).reads & uses(*rest).binds or _takes_part(event, source, rest):
        return None
    if any(_is_star_import(s) for s in rest) and not _is_known_before(source, place.block, early, statement, companion):
        return None
    moved: list[ir.Stmt] = [companion, statement] if companion is not None else [statement]
    target = early if companion is not None else _first_import(place.block, early, statement)
    edits = (_insertion(source, place.block, target, moved), *[_removal(source, s) for s in moved])
    return unsafe("Move the setting before the code that reads it", TAKES_EFFECT, edits)


def _first_import(block: list[ir.Stmt], early: ir.Stmt, statement: ir.Stmt) -> ir.Stmt:
    """The first of the imports around what comes too early that the setting does not need: among them, it would stand in the
    middle of a list."""
    needed = uses(statement).reads
    target = early
    for earlier in reversed(block[: block.index(early)] if _is_import(early) else []):
        is_future = isinstance(earlier, ir.ImportFrom) and earlier.module == "__future__"
        if not _is_import(earlier) or is_future or uses(earlier).binds & needed:
            return target
        target = earlier
    return target


def _demands_device(event: Setting) -> bool:
    """``JAX_PLATFORMS=gpu``: once it takes effect, JAX raises on a machine without one, where it took the CPU until now."""
    platform = event.value.value if isinstance(event.value, Const) else ""
    return "platform" in event.name.lower() and isinstance(platform, str) and platform not in ("", "cpu")


def _statement_around(block: list[ir.Stmt], offset: int) -> ir.Stmt | None:
    return next((s for s in block if s.start <= offset < s.end), None)


def _companion(between: list[ir.Stmt], statement: ir.Stmt) -> ir.Stmt | None:
    """The import, and nothing else, that gives the statement ``os`` or ``environ``."""
    reads = uses(statement).reads
    for candidate in between:
        if _is_import_of_os(candidate) and len(candidate.names) == 1:
            only = candidate.names[0]
            if (only.alias or only.name) in reads:
                return candidate
    return None


def _is_star_import(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.ImportFrom) and any(name.name == "*" for name in statement.names)


def _is_known_before(
    source: FixSource, block: list[ir.Stmt], early: ir.Stmt, statement: ir.Stmt, companion: ir.Stmt | None
) -> bool:
    """Whether statements in front of what comes too early bind all that the setting reads: a star import may bind it, too."""
    before = block[: block.index(early)]
    known = uses(*before, *([companion] if companion is not None else [])).binds
    return uses(statement).reads <= known


def _is_import_of_os(statement: ir.Stmt) -> TypeGuard[ir.Import | ir.ImportFrom]:
    if isinstance(statement, ir.ImportFrom):
        return statement.module == "os" and not statement.level
    return isinstance(statement, ir.Import) and statement.names[0].name == "os"


def _takes_part(event: Setting, source: FixSource, between: list[ir.Stmt]) -> bool:
    """A statement in between, other than what comes too early, is_reportable of the same setting: their order counts."""
    return any(event.name in source.slice(s) for s in between[1:])


def _start(source: FixSource, statement: ir.Stmt) -> int:
    """Where a statement begins, with the comments directly above it."""
    return comments_above(source, statement.start, next_to=True)


def _moved_start(source: FixSource, statement: ir.Stmt) -> int:
    """Where a statement that moves begins: comments above it stay if settings of JAX directly below share them."""
    following = source.place(statement).following
    below = following[0] if following else None
    adjoins = below is not None and source.line_start(below.start) == source.next_line(statement.end)
    if below is not None and adjoins and "config.update(" in source.slice(below):
        return statement.start
    return _start(source, statement)


def _whole_lines(source: FixSource, statement: ir.Stmt) -> str:
    """The text of a statement that has its lines for itself, with the comments above and after it.

    Raises:
        Refused: it has not.
    """
    if not source.starts_line(statement) or not source.ends_line(statement):
        raise Refused
    return source.text[_moved_start(source, statement) : source.line_end(statement.end)].rstrip()


def _insertion(source: FixSource, block: list[ir.Stmt], early: ir.Stmt, moved: list[ir.Stmt]) -> Edit:
    """Put the statements in front of another one and its comments, with an empty line between them and imports above. Comments
    that begin the file are about the file."""
    indent = source.indentation(early)
    index = block.index(early)
    above = block[index - 1] if index else None
    start = _start(source, early)
    place = start if start and source.starts_line(early) else early.start
    adjoins = above is not None and source.next_line(above.end) == source.line_start(place)
    body = ""
    for statement in moved:
        if _is_import(above) and adjoins and not _is_import(statement):
            body += source.newline + indent
        body += _whole_lines(source, statement) + source.newline + indent
        above, adjoins = statement, True
    return Edit(place, place, body)


def _is_import(statement: ir.Stmt | None) -> bool:
    return isinstance(statement, (ir.Import, ir.ImportFrom))


def _removal(source: FixSource, statement: ir.Stmt) -> Edit:
    """Take the lines of a statement away and, where an empty line follows, those above it that are empty."""
    start, end = source.line_start(_moved_start(source, statement)), source.next_line(statement.end)
    if not source.text[end : source.line_end(end)].strip():
        while start and not source.text[source.line_start(start - 1) : start].strip():
            start = source.line_start(start - 1)
    return Edit(start, end, "")
