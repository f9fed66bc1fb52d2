"""``rdjson``: the Reviewdog Diagnostic Format in one document. Columns count UTF-8 bytes, as that format does."""

from __future__ import annotations

from typing import Any

import msgspec

from flake8_jax.core.report import Diagnostic, RunReport
from flake8_jax.reporters._bytes import ByteColumns
from flake8_jax.reporters._view import View

_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "upgrade": "INFO"}
SOURCE = {"name": "jaxlint"}


def _range(columns: ByteColumns, row: int, column: int, end_row: int, end_column: int) -> dict[str, Any]:
    return {
        "start": {"line": row, "column": columns.column(row, column)},
        "end": {"line": end_row, "column": columns.column(end_row, end_column)},
    }


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
    if item.edits:
        found["suggestions"] = [
            {
                "range": _range(columns, edit.row, edit.column, edit.end_row, edit.end_column),
                "text": edit.content,
            }
            for edit in item.edits
        ]
    return found


def render(report: RunReport, view: View) -> str:
    document = {
        "source": SOURCE,
        "severity": "WARNING",
        "diagnostics": [diagnostic(item, report.texts.get(item.path, ""), view) for item in report.diagnostics],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
