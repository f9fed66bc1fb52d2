"""Code actions: fix a finding or all of them, silence one, explain one.

Vocabulary
----------
resolve   the editor asks for the edit of an action only once the user has chosen it. The edit is then what
          ``jaxlint check --fix`` would write for that finding: tried, analyzed again, and reverted if it does not hold.

Without support for that in the editor a quick fix carries the edit that the rule proposes, untried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from lsprotocol import types

from flake8_jax.core.findings import Edit
from flake8_jax.core.report import Diagnostic
from flake8_jax.server.messages import View

FIX_ALL = "source.fixAll.jaxlint"
NOTEBOOK_FIX_ALL = "notebook.source.fixAll.jaxlint"
KINDS = (types.CodeActionKind.QuickFix.value, FIX_ALL, NOTEBOOK_FIX_ALL)
EXPLAIN = "jaxlint.explain"


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


def touched(said: Iterable[Diagnostic], start: int, end: int) -> list[Diagnostic]:
    """The diagnostics that stand in a stretch of text, or reach into it."""
    return [item for item in said if item.finding.start <= end and start <= max(item.finding.end, item.finding.start)]


def quick_fixes(
    view: View, said: Sequence[Diagnostic], fixable: Collection[str], *, resolves: bool, versioned: bool
) -> list[types.CodeAction]:
    """One action for each of these findings that has a fix."""
    found: list[types.CodeAction] = []
    for item in said:
        fix = item.finding.fix
        if fix is None or item.code not in fixable:
            continue
        unsafe = " (may change values; review it)" if fix.applicability == "unsafe" else ""
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


def silencers(view: View, silencing: Iterable[tuple[str, list[Edit]]], *, versioned: bool) -> list[types.CodeAction]:
    """One action for each code: put it into a ``# noqa`` comment on its line."""
    found: list[types.CodeAction] = []
    for code, edits in silencing:
        edit = workspace_edit(view, edits, versioned=versioned)
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
