"""Which part of a file an edit can have changed the findings of.

Vocabulary
----------
outline   the functions of a text that stand in no other function, in their order: functions and methods.
affected  the function that was edited, and all that are known to call it. What else the file defines need not be run
          again to see what the edit changed.
silent    an edit of blank lines and comments: findings only move.

Limitations: what an edited function tells others through globals (it is then not distinguished) or through attributes of
classes that it is no method of. The next whole answer knows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.call_graph import CallGraph, FunctionName
from flake8_jax.core.findings import Edit
from flake8_jax.core.nodes import children, walk
from flake8_jax.syntax.spans import comment_start, string_nodes

_LONE_CR = re.compile(r"\r(?!\n)")
"""It ends a line as LF does."""


@dataclass(frozen=True)
class Outlined:
    """``start``: of the first decorator."""

    node: ir.FunctionDef
    qualname: str
    start: int
    end: int


@dataclass(frozen=True)
class Edited:
    """The one function that an edit is inside of. ``stores``: it sets attributes or items of objects."""

    qualname: str
    stores: bool


class Extent(Enum):
    """What an edit concerns if it is not inside one function."""

    NOTHING = "nothing"
    EVERYTHING = "everything"


def edited_part(old: ir.Module, new: ir.Module, then: str, now: str, edit: Edit) -> Edited | Extent:
    """What an edit concerns, given the lowered forms of the texts before and after it."""
    then, now = _LONE_CR.sub("\n", then), _LONE_CR.sub("\n", now)
    edit = Edit(edit.start, edit.end, now[edit.start : edit.start + len(edit.content)])
    if _is_silent(old, new, then, now, edit):
        return Extent.NOTHING
    return _edited_function(_outline(old), _outline(new), then, edit) or Extent.EVERYTHING


def _is_silent(old: ir.Module, new: ir.Module, then: str, now: str, edit: Edit) -> bool:
    if "\n" not in edit.content + then[edit.start : edit.end]:
        # No line ends: what is behind the sign of a comment in both texts is a comment.
        signs = comment_start(then, old, edit.start), comment_start(now, new, edit.start)
        if all(sign is not None and sign < edit.start for sign in signs):
            return True
    edit = _at_line_start(then, edit)
    last = edit.start + len(edit.content)
    lines_only = _begins_line(then, edit.start) and _begins_line(then, edit.end) and _begins_line(now, last)
    return _is_blank(old, then, edit.start, edit.end, lines_only) and _is_blank(new, now, edit.start, last, lines_only)


def _at_line_start(text: str, edit: Edit) -> Edit:
    """The same edit as one of whole lines, where whole lines were put in or taken out."""
    moved = edit.content or text[edit.start : edit.end]
    return _slid(text, edit, len(moved) - 1 - moved.rindex("\n")) if "\n" in moved else edit


def _slid(text: str, edit: Edit, steps: int) -> Edit:
    """The same edit so many characters before, where that is the same: a line put in behind an equal one may as well
    have been put in before it."""
    moved = edit.content or text[edit.start : edit.end]
    kept = len(moved) - steps
    if (edit.content and edit.start < edit.end) or kept < 0 or text[edit.start - steps : edit.start] != moved[kept:]:
        return edit
    content = edit.content[kept:] + edit.content[:kept] if edit.content else ""
    return Edit(edit.start - steps, edit.end - steps, content)


def _begins_line(text: str, offset: int) -> bool:
    return offset == 0 or text[offset - 1] == "\n"


def _is_blank(module: ir.Module, text: str, start: int, end: int, lines_only: bool) -> bool:
    """Whether a stretch holds nothing that runs, nor the rest of its lines."""
    if not lines_only:
        start, end = text.rfind("\n", 0, start) + 1, (text + "\n").index("\n", end)
    if text.endswith(("\\\n", "\\\r\n"), 0, start):
        return False  # it ends the statement of the line before
    lines = (line.strip() for line in text[start:end].split("\n"))
    return all(not line or line.startswith("#") for line in lines) and not any(
        node.start < end and start < node.end for node in string_nodes(module, start, end)
    )


def _outline(module: ir.Module) -> tuple[Outlined, ...]:
    found: list[Outlined] = []
    pending: list[msgspec.Struct] = list(module.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ir.FunctionDef):
            start = min([node.start, *(decorator.start for decorator in node.decorators)])
            found.append(Outlined(node, node.function.qualname, start, node.end))
        else:
            pending.extend(children(node))
    return tuple(sorted(found, key=lambda one: one.start))


def _edited_function(before: tuple[Outlined, ...], after: tuple[Outlined, ...], then: str, edit: Edit) -> Edited | None:
    """The one function that an edit is inside of, before and after it."""
    if [one.qualname for one in before] != [one.qualname for one in after]:
        return None
    for old, new in zip(before, after):
        at = _slid(then, edit, max(edit.end - old.end, 0))
        if old.start <= at.start and at.end <= old.end:
            inside = new.start <= at.start and at.start + len(at.content.rstrip()) <= new.end
            alone = not old.node.function.global_names and not new.node.function.global_names
            return Edited(old.qualname, _stores(old.node) or _stores(new.node)) if inside and alone else None
    return None


def _stores(node: ir.FunctionDef) -> bool:
    """Whether a function sets attributes or items of objects, itself or in the functions within."""
    for statement in walk(node):
        targets = statement.targets if isinstance(statement, ir.Assign) else []
        if isinstance(statement, (ir.AnnAssign, ir.AugAssign, ir.For)):
            targets = [statement.target]
        if any(isinstance(part, (ir.Attribute, ir.Subscript)) for target in targets for part in walk(target)):
            return True
    return False


def unaffected(calls: CallGraph, path: str, edited: Edited) -> frozenset[FunctionName]:
    """The known functions that an edit inside one function of a file leaves as they are. Those that others make while
    they run are not told: they run when those do.

    A method that sets attributes of objects is taken to tell the other methods of its class. What the function called is
    entered by itself too: it may be called no more.
    """
    names = {(path, edited.qualname)}
    owner, dot, _ = edited.qualname.rpartition(".")
    if dot and edited.stores:
        names |= {name for name in calls.callers if name[0] == path and name[1].startswith(f"{owner}.")}
    known = frozenset(name for name in calls.callers if ".<locals>." not in name[1])
    called = {callee for callee, callers in calls.callers.items() if not callers.isdisjoint(names)}
    return known - calls.reaching(names) - called
