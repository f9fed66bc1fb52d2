"""``sarif``: SARIF 2.1.0 as GitHub's code scanning reads it.

Paths are relative to the repository; columns count code points. The chain of evidence is there twice: as related locations,
which editors show, and as a code flow, which is what GitHub shows of it.
"""

from __future__ import annotations

import os
import re
from typing import Any
from urllib.parse import quote

from flake8_jax.core.cells import Rows, without_cells
from flake8_jax.core.findings import Step
from flake8_jax.core.pages import page_address
from flake8_jax.core.report import Diagnostic, RuleInfo, RunReport, as_text
from flake8_jax.reporters._fingerprint import line_fingerprints
from flake8_jax.reporters._json import document
from flake8_jax.reporters._view import View

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
# Limits of code scanning: it refuses a file with more results, and cuts or refuses longer texts.
_MOST_RESULTS = 25_000
_LONGEST_NAME = 255
_LONGEST_DESCRIPTION = 1024
_SEMANTIC_VERSION = re.compile(r"\d+\.\d+\.\d+")


def _artifact(report: RunReport, path: str) -> dict[str, Any]:
    relative = as_text(report.path_in_repository(path))
    uri = quote(relative)
    return {"uri": uri, "uriBaseId": "%SRCROOT%"} if not relative.startswith("/") else {"uri": f"file://{uri}"}


def _region(row: int, column: int, end_row: int, end_column: int) -> dict[str, int]:
    return {"startLine": row, "startColumn": column, "endLine": end_row, "endColumn": end_column}


def _place(report: RunReport, item: Diagnostic) -> dict[str, Any]:
    region = _region(item.row, item.column, item.end_row, item.end_column)
    return {"physicalLocation": {"artifactLocation": _artifact(report, item.path), "region": region}}


def _passed(report: RunReport, step: Step) -> dict[str, Any]:
    return {
        "physicalLocation": {"artifactLocation": _artifact(report, step.path), "region": {"startLine": step.row}},
        "message": {"text": step.text},
    }


def _flow(report: RunReport, item: Diagnostic) -> dict[str, Any]:
    """The way from the first step of the evidence to the finding."""
    end = {**_place(report, item), "message": {"text": item.finding.message}}
    places = [*(_passed(report, step) for step in item.finding.evidence), end]
    return {"threadFlows": [{"locations": [{"location": place} for place in places]}]}


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


def _result(report: RunReport, item: Diagnostic, index: int, fingerprint: str | None) -> dict[str, Any]:
    finding = item.finding
    found: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.level],
        "message": {"text": finding.message},
        "locations": [_place(report, item)],
    }
    if fingerprint is not None:
        found["partialFingerprints"] = {"primaryLocationLineHash": fingerprint}
    if finding.evidence:
        steps = enumerate(finding.evidence, 1)
        found["relatedLocations"] = [{"id": number, **_passed(report, step)} for number, step in steps]
        found["codeFlows"] = [_flow(report, item)]
    if fixes := _fixes(report, item):
        found["fixes"] = fixes
    if finding.verdict is not None:
        verdict = finding.verdict
        found["properties"] = {"verdict": verdict.verdict, "reason": verdict.reason, "target": verdict.target}
    return found


def _rule(rule: RuleInfo) -> dict[str, Any]:
    page = rule.doc or rule.summary
    address = page_address(rule)
    return {
        **({"helpUri": address} if address else {}),
        "id": rule.code,
        "name": rule.name[:_LONGEST_NAME],
        "shortDescription": {"text": rule.summary[:_LONGEST_DESCRIPTION]},
        "fullDescription": {"text": _opening(page)},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
    }


def _opening(page: str) -> str:
    """The paragraphs before the first example, as many as there is room for: examples are not readable as plain text."""
    paragraphs = page.partition("\n```")[0].rstrip("\n").split("\n\n")
    if len(paragraphs) > 1 and paragraphs[-1].endswith(":"):
        paragraphs.pop()
    while len(paragraphs) > 1 and len("\n\n".join(paragraphs)) > _LONGEST_DESCRIPTION:
        paragraphs.pop()
    return "\n\n".join(paragraphs)[:_LONGEST_DESCRIPTION]


def _fingerprints(report: RunReport) -> list[str | None]:
    """Of every diagnostic. In a notebook, of its line in the cell: as a line of the file, all would have the same one."""
    hashes = {path: line_fingerprints(text) for path, text in report.texts.items()}
    rows = {item.path: Rows(report.texts.get(item.path, "")) for item in report.diagnostics if item.cell is not None}
    return [
        hashes.get(item.path, {}).get(item.row if item.cell is None else rows[item.path].row(item.cell, item.row))
        for item in report.diagnostics
    ]


def _invocation(report: RunReport, cwd: str, left_out: int) -> dict[str, Any]:
    """How the run went: who reads only this file should not take a failed one for a clean one."""
    said = [("error", message, "") for message in report.messages]
    said += [("error", "there is no such file or directory", os.path.join(cwd, path)) for path in report.missing]
    said += [
        ("error", f"{rule} failed: {trace.strip().rpartition(chr(10))[2]} (a defect of jaxlint)", path)
        for rule, path, trace in report.crashes
    ]
    said += [("note", note, "") for note in report.notes]
    if left_out:
        said.append(("warning", f"{left_out} more findings were left out: code scanning refuses so many", ""))
    found: dict[str, Any] = {"executionSuccessful": not (report.crashes or report.missing or report.unusable)}
    if said:
        found["toolExecutionNotifications"] = [_notification(report, *words) for words in said]
    return found


def _notification(report: RunReport, level: str, text: str, path: str) -> dict[str, Any]:
    found: dict[str, Any] = {"level": level, "message": {"text": as_text(text)}}
    if path:
        found["locations"] = [{"physicalLocation": {"artifactLocation": _artifact(report, path)}}]
    return found


def render(report: RunReport, view: View) -> str:
    fingerprints = _fingerprints(report)
    report = without_cells(report)
    found = list(zip(report.diagnostics, fingerprints))
    left_out = len(found) - _MOST_RESULTS
    if left_out > 0:
        found = sorted(found, key=lambda pair: list(_LEVELS).index(pair[0].finding.level))[:_MOST_RESULTS]
    codes = sorted({item.code for item, _ in found})
    places = {code: place for place, code in enumerate(codes)}
    rules = {item.code: report.rule(item.finding) for item, _ in found}
    driver: dict[str, Any] = {
        "name": "jaxlint",
        "version": report.version or "0",
        "rules": [_rule(rules[code]) for code in codes],
    }
    if _SEMANTIC_VERSION.fullmatch(report.version):
        driver["semanticVersion"] = report.version
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(report, view.cwd, max(left_out, 0))],
        "columnKind": "unicodeCodePoints",
        "results": [_result(report, item, places[item.code], fingerprint) for item, fingerprint in found],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return document(log)
