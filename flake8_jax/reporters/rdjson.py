"""``rdjson``: the Reviewdog Diagnostic Format in one document. Columns count UTF-8 bytes, as that format does.

Every suggestion of that format is a fix of its own, offered beside the others, so a fix is one suggestion, whatever
number of edits it has: ``jnp.sin`` without the import that it needs would be worse than nothing.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core.findings import Step
from flake8_jax.core.report import Diagnostic, RunReport, line_starts
from flake8_jax.reporters._bytes import ByteColumns
from flake8_jax.reporters._json import document
from flake8_jax.reporters._view import View

_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}
_LONGEST_SUGGESTION = 100
"""Rows. A review shows every one of them as changed; ``--fix`` is for what is further apart."""
SOURCE = {"name": "jaxlint"}


def _range(columns: ByteColumns, row: int, column: int, end_row: int, end_column: int) -> dict[str, Any]:
    return {
        "start": {"line": row, "column": columns.column(row, column)},
        "end": {"line": end_row, "column": columns.column(end_row, end_column)},
    }


def _suggestion(item: Diagnostic, text: str, columns: ByteColumns) -> dict[str, Any] | None:
    """All edits as one, with what stands between them."""
    edits = sorted(item.edits, key=lambda edit: (edit.row, edit.column, edit.end_row, edit.end_column, edit.content))
    if not edits or max(edit.end_row for edit in edits) - edits[0].row >= _LONGEST_SUGGESTION:
        return None
    starts = line_starts(text)
    if len(edits) > 1 and edits[-1].end_row > len(starts):
        return None
    pieces = [edits[0].content]
    end = edits[0]
    for edit in edits[1:]:
        between = text[starts[end.end_row - 1] + end.end_column - 1 : starts[edit.row - 1] + edit.column - 1]
        pieces += [between, edit.content]
        end = edit
    place = _range(columns, edits[0].row, edits[0].column, end.end_row, end.end_column)
    return {"range": place, "text": "".join(pieces)}


def _related(step: Step, view: View) -> dict[str, Any]:
    return {"message": step.text, "location": {"path": view.path(step.path), "range": {"start": {"line": step.row}}}}


def diagnostic(item: Diagnostic, text: str, view: View) -> dict[str, Any]:
    """One finding; its source is left to the document."""
    columns = ByteColumns(text)
    found: dict[str, Any] = {
        "message": item.finding.message,
        "location": {
            "path": view.path(item.path),
            "range": _range(columns, item.row, item.column, item.end_row, item.end_column),
        },
        "severity": _SEVERITIES[item.finding.level],
        "code": {"value": item.code},
    }
    suggestion = _suggestion(item, text, columns)
    if suggestion is not None:
        found["suggestions"] = [suggestion]
    if item.finding.evidence:
        found["related_locations"] = [_related(step, view) for step in item.finding.evidence]
    return found


def render(report: RunReport, view: View) -> str:
    found = {
        "source": SOURCE,
        "severity": "WARNING",
        "diagnostics": [diagnostic(item, report.texts.get(item.path, ""), view) for item in report.diagnostics],
    }
    return document(found)
