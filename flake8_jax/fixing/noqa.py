"""Suppression comments for the findings that a project has now."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Positions
from flake8_jax.core.report import Change, Diagnostic, RunReport
from flake8_jax.pipeline.workspace import Question, Workspace
from flake8_jax.settings.selection import ALWAYS_ON
from flake8_jax.syntax.edits import apply_edits
from flake8_jax.syntax.noqa import insert_noqa


def add_noqa(workspace: Workspace, question: Question) -> RunReport:
    """The findings and, as ``changes``, comments that suppress them. Raises ConfigError."""
    question = replace(question, refresh=True)
    found = workspace.find(question)
    runs = [workspace.run(settings, asked, question) for settings, asked in workspace.projects(found.asked)]
    changes: list[Change] = []
    silenced: list[Diagnostic] = []
    for run in runs:
        codes_at: dict[str, list[tuple[int, str]]] = {}
        said, texts = workspace.diagnose(run, question)
        for item in said:
            if item.code not in ALWAYS_ON:
                codes_at.setdefault(item.path, []).append((item.finding.start, item.code))
                silenced.append(item)
        for path, places in codes_at.items():
            module = workspace.module_of(run, path)
            if module is not None:
                changes.append(Change(path, texts[path], _silenced(texts[path], module, places)))
    report = workspace.report(runs, question, found)
    return msgspec.structs.replace(report, diagnostics=tuple(silenced), changes=tuple(changes))


def _silenced(text: str, module: ir.Module, places: list[tuple[int, str]]) -> str:
    """The text with a comment on each row that has one of these findings: offset and code."""
    positions = Positions(module.line_starts)
    codes: dict[int, list[str]] = {}
    for start, code in places:
        codes.setdefault(positions.row(start), []).append(code)
    return apply_edits(text, insert_noqa(text, codes, module))
