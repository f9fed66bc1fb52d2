"""``json``: an array in the shape that ruff writes, with ``evidence`` and ``confidence`` added.

Rows and columns are 1-based, ends exclusive, columns count code points. Paths are absolute. A clean run is ``[]``.
"""

from __future__ import annotations

from typing import Any

import msgspec

from flake8_jax.core.findings import Step
from flake8_jax.core.pages import page_address
from flake8_jax.core.report import Diagnostic, PlacedEdit, RunReport, as_text
from flake8_jax.reporters._json import document
from flake8_jax.reporters._view import View

_SEVERITIES = {"error": "error", "warning": "warning", "info": "info"}


def _edit(edit: PlacedEdit) -> dict[str, Any]:
    return {
        "content": edit.content,
        "location": {"row": edit.row, "column": edit.column},
        "end_location": {"row": edit.end_row, "column": edit.end_column},
    }


def _fix(item: Diagnostic) -> dict[str, Any] | None:
    fix = item.finding.fix
    if fix is None or _is_in_several_cells(item):
        return None
    return {
        "applicability": fix.applicability,
        "message": fix.message,
        "edits": [_edit(edit) for edit in item.edits],
    }


def _is_in_several_cells(item: Diagnostic) -> bool:
    """Whether the finding has a fix whose edits the format cannot describe, because they are in several cells."""
    return item.finding.fix is not None and item.cell is not None and not item.edits


def _fix_note(item: Diagnostic) -> dict[str, str]:
    """The reason for a fix that is left out."""
    fix = item.finding.fix
    if fix is None or not _is_in_several_cells(item):
        return {}
    option = "--fix" if fix.applicability == "safe" else "--fix --unsafe-fixes"
    return {"fix_note": f"{fix.message}: this fix changes several cells, so only `jaxlint {option}` can apply it"}


def _step(step: Step) -> dict[str, Any]:
    return {
        "filename": as_text(step.path),
        "row": step.row,
        "kind": step.kind,
        "function": step.function,
        "message": step.text,
    }


def record(item: Diagnostic, report: RunReport) -> dict[str, Any]:
    """One finding as JSON data. It has the keys ``verdict`` and ``fix_verdict`` only after a run, and the key ``fix_note``
    only if it has a fix in several cells of a notebook."""
    finding = item.finding
    verdicts = {"verdict": finding.verdict, "fix_verdict": finding.fix_verdict}
    return {
        "cell": item.cell,
        "code": finding.code,
        "name": finding.name,
        "severity": _SEVERITIES[finding.level],
        "filename": as_text(finding.path),
        "message": finding.message,
        "url": page_address(report.rule(finding)) or None,
        "noqa_row": item.noqa_row,
        "location": {"row": item.row, "column": item.column},
        "end_location": {"row": item.end_row, "column": item.end_column},
        "fix": _fix(item),
        **_fix_note(item),
        "evidence": [_step(step) for step in finding.evidence],
        "confidence": finding.confidence,
        **{name: msgspec.to_builtins(verdict) for name, verdict in verdicts.items() if verdict is not None},
    }


def render(report: RunReport, view: View) -> str:
    if not report.diagnostics:
        return "[]\n"
    return document([record(item, report) for item in report.diagnostics])
