"""``sarif``: SARIF 2.1.0 as GitHub's code scanning reads it.

Paths are relative to the repository; columns count code points; the chain of evidence becomes related locations.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec

from flake8_jax.core.findings import Finding
from flake8_jax.core.report import Diagnostic, RuleInfo, RunReport, as_text
from flake8_jax.reporters._fingerprint import line_fingerprints
from flake8_jax.reporters._view import View

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "upgrade": "note"}
_LONGEST_DESCRIPTION = 1024


def _artifact(report: RunReport, path: str) -> dict[str, Any]:
    relative = as_text(report.path_in_repository(path))
    uri = quote(relative)
    return {"uri": uri, "uriBaseId": "%SRCROOT%"} if not relative.startswith("/") else {"uri": f"file://{uri}"}


def _region(row: int, column: int, end_row: int, end_column: int) -> dict[str, int]:
    return {"startLine": row, "startColumn": column, "endLine": end_row, "endColumn": end_column}


def _related(report: RunReport, finding: Finding) -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "physicalLocation": {"artifactLocation": _artifact(report, step.path), "region": {"startLine": step.row}},
            "message": {"text": step.text},
        }
        for number, step in enumerate(finding.evidence, 1)
    ]


def _fixes(report: RunReport, item: Diagnostic) -> list[dict[str, Any]]:
    fix = item.finding.fix
    if fix is None:
        return []
    replacements = [
        {
            "deletedRegion": _region(edit.row, edit.column, edit.end_row, edit.end_column),
            "insertedContent": {"text": edit.content},
        }
        for edit in item.edits
    ]
    change = {"artifactLocation": _artifact(report, item.path), "replacements": replacements}
    return [{"description": {"text": f"{fix.message} ({fix.applicability})"}, "artifactChanges": [change]}]


def _result(report: RunReport, item: Diagnostic, index: int, fingerprints: dict[int, str]) -> dict[str, Any]:
    finding = item.finding
    found: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.level],
        "message": {"text": finding.message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(report, item.path),
                    "region": _region(item.row, item.column, item.end_row, item.end_column),
                }
            }
        ],
    }
    if item.row in fingerprints:
        found["partialFingerprints"] = {"primaryLocationLineHash": fingerprints[item.row]}
    if finding.evidence:
        found["relatedLocations"] = _related(report, finding)
    if fixes := _fixes(report, item):
        found["fixes"] = fixes
    if finding.verdict is not None:
        verdict = finding.verdict
        found["properties"] = {"verdict": verdict.verdict, "reason": verdict.reason, "target": verdict.target}
    return found


def _rule(rule: RuleInfo) -> dict[str, Any]:
    page = rule.doc or rule.summary
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": page[:_LONGEST_DESCRIPTION]},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
    }


def render(report: RunReport, view: View) -> str:
    codes = sorted({item.code for item in report.diagnostics})
    rules = {item.code: report.rule(item.finding) for item in report.diagnostics}
    fingerprints = {path: line_fingerprints(text) for path, text in report.texts.items()}
    run = {
        "tool": {
            "driver": {
                "name": "jaxlint",
                "version": report.version or "0",
                "rules": [_rule(rules[code]) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(report, item, codes.index(item.code), fingerprints.get(item.path, {}))
            for item in report.diagnostics
        ],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
