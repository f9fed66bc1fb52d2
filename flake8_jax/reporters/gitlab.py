"""``gitlab``: a Code Quality report. Fingerprints do not depend on rows, so that they survive edits elsewhere."""

from __future__ import annotations

import hashlib
from typing import Any

from flake8_jax.core.report import Diagnostic, RunReport, as_text
from flake8_jax.reporters._json import document
from flake8_jax.reporters._view import View

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def _issue(item: Diagnostic, path: str, taken: set[str]) -> dict[str, Any]:
    seed = f"{path}:{item.code}:{item.finding.message}"
    fingerprint = hashlib.sha256(seed.encode("utf-8", "surrogateescape")).hexdigest()
    while fingerprint in taken:  # the same mistake again in one file: GitLab drops repeated fingerprints
        fingerprint = hashlib.sha256(fingerprint.encode()).hexdigest()
    taken.add(fingerprint)
    return {
        "check_name": item.code,
        "description": f"{item.code}: {item.finding.message}",
        "severity": _SEVERITIES[item.finding.level],
        "fingerprint": fingerprint,
        "location": {
            "path": path,
            "positions": {
                "begin": {"line": item.row, "column": item.column},
                "end": {"line": item.end_row, "column": item.end_column},
            },
        },
    }


def render(report: RunReport, view: View) -> str:
    taken: set[str] = set()
    issues = [_issue(item, as_text(report.path_in_repository(item.path)), taken) for item in report.diagnostics]
    return document(issues)
