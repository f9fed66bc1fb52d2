"""Code actions: repair a finding or all of them, silence one, explain one.

Vocabulary
----------
resolve   the editor asks for the edit of an action only once the user has chosen it. The edit is then what
          ``jaxlint check --fix`` would write for that finding: tried, analysed again, and taken back if it does not hold.

Without support for that in the editor a quick fix carries the edit that the rule proposes, untried.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from lsprotocol import types

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.core.report import Diagnostic, line_starts
from flake8_jax.selection import ALWAYS_ON
from flake8_jax.server.merging import difference
from flake8_jax.server.messages import View
from flake8_jax.syntax.noqa import insert_noqa, noqa_row

FIX_ALL = "source.fixAll.jaxlint"
NOTEBOOK_FIX_ALL = "notebook.source.fixAll.jaxlint"
KINDS = (types.CodeActionKind.QuickFix.value, FIX_ALL, NOTEBOOK_FIX_ALL)
EXPLAIN = "jaxlint.explain"
_MOST_LINES = 20_000
"""Texts beyond this are replaced in one piece: finding the lines that differ would take longer than anything else."""


def wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether an action of this kind was asked for: kinds are hierarchies, ``source`` asks for ``source.fixAll``."""
    return only is None or any(kind == asked or kind.startswith(f"{asked}.") for asked in only)


def workspace_edit(view: View, edits: Iterable[Edit], *, versioned: bool) -> types.WorkspaceEdit | None:
    """Edits of a buffer for the editor; None where one of them is in no single document."""
    by_uri: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        place = view.location(edit.start, edit.end)
        if place is None:
            return None
        by_uri.setdefault(place.uri, []).append(types.TextEdit(place.range, edit.content))
    if not versioned:
        return types.WorkspaceEdit(changes=by_uri)
    version = view.buffer.version if view.buffer.cells is None else None
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, version), list(parts))
            for uri, parts in by_uri.items()
        ]
    )


def line_edits(before: str, after: str) -> list[Edit]:
    """Edits that make the second text of the first, and leave alone what is the same in both."""
    old, new = line_starts(before), line_starts(after)
    if len(old) > _MOST_LINES:
        return [difference(before, after)] if before != after else []
    old_lines, new_lines = _lines(before, old), _lines(after, new)
    edits: list[Edit] = []
    matcher = difflib.SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag != "equal":
            start = sum(map(len, old_lines[:first]))
            small = difference("".join(old_lines[first:last]), "".join(new_lines[new_first:new_last]))
            edits.append(Edit(start + small.start, start + small.end, small.content))
    return edits


def _lines(text: str, starts: Sequence[int]) -> list[str]:
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)])]


def touched(said: Iterable[Diagnostic], start: int, end: int) -> list[Diagnostic]:
    """The diagnostics that stand in a stretch of text, or reach into it."""
    return [item for item in said if item.finding.start <= end and start <= max(item.finding.end, item.finding.start)]


def quick_fixes(
    view: View, said: Sequence[Diagnostic], fixable: Collection[str], *, resolves: bool, versioned: bool
) -> list[types.CodeAction]:
    """One action for each of these findings that has a repair."""
    found: list[types.CodeAction] = []
    for item in said:
        fix = item.finding.fix
        if fix is None or item.code not in fixable:
            continue
        unsafe = " (may change values: look at it)" if fix.applicability == "unsafe" else ""
        edit = None if resolves else workspace_edit(view, fix.edits, versioned=versioned)
        if resolves or edit is not None:
            found.append(
                types.CodeAction(
                    title=f"{item.code}: {fix.message}{unsafe}",
                    kind=types.CodeActionKind.QuickFix,
                    edit=edit,
                    # Left out instead of false: to Eglot 1.9 everything that is said is true.
                    is_preferred=True if fix.applicability == "safe" else None,
                    data=_data(view, code=item.code, start=item.finding.start) if resolves else None,
                )
            )
    return found


def silencers(view: View, said: Sequence[Diagnostic], module: ir.Module, *, versioned: bool) -> list[types.CodeAction]:
    """One action for each code: put it into a ``# noqa`` comment on its line."""
    found: list[types.CodeAction] = []
    text = view.buffer.text
    places = [(item.code, noqa_row(text, module, item.finding.start)) for item in said if item.code not in ALWAYS_ON]
    for code, row in dict.fromkeys(places):
        edit = workspace_edit(view, insert_noqa(view.buffer.text, {row: [code]}, module), versioned=versioned)
        if edit is not None:
            title = f"{code}: disable for this line"
            found.append(types.CodeAction(title=title, kind=types.CodeActionKind.QuickFix, edit=edit))
    return found


def explanations(said: Sequence[Diagnostic]) -> list[types.CodeAction]:
    return [
        types.CodeAction(
            title=f"{code}: explain",
            kind=types.CodeActionKind.QuickFix,
            command=types.Command(f"{code}: explain", EXPLAIN, arguments=[code]),
        )
        for code in dict.fromkeys(item.code for item in said)
    ]


def fix_all(view: View, kind: str) -> types.CodeAction:
    return types.CodeAction(title="jaxlint: apply all safe fixes", kind=kind, data=_data(view))


def _data(view: View, **more: object) -> dict[str, Any]:
    return {"uri": view.buffer.uri, "version": view.buffer.version, **more}
