"""``markdown``: a comment for a review: a summary, then each finding with its line and the chain that leads there."""

from __future__ import annotations

import re
from itertools import groupby

from flake8_jax.core.cells import cells_of
from flake8_jax.core.printable import one_line, shown_lines
from flake8_jax.core.report import Diagnostic, RunReport, line_starts, troubles_of
from flake8_jax.reporters._view import View

_LONGEST = 60_000
"""Characters; GitHub refuses comments of 65,536."""
_MOST_TROUBLES = 20


def _plain(text: str) -> str:
    """Text that markdown and HTML leave as it is."""
    return re.sub(r"([\\*_\[\]<>|#])", r"\\\1", one_line(text))


def _code(text: str) -> str:
    """A code span, whatever backticks are in it."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _fenced(line: str) -> list[str]:
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return [f"  {fence}python", f"  {shown_lines(line.strip())}", f"  {fence}"]


def _finding(item: Diagnostic, text: str, view: View) -> str:
    finding = item.finding
    cell = f"cell {item.cell}, " if item.cell is not None else ""
    lines = [f"- **{item.code}** {finding.name}, {cell}line {item.row}: {_plain(finding.message)}"]
    text = dict(cells_of(text)).get(item.cell, "") if item.cell is not None else text
    starts = [*line_starts(text), len(text)]
    if item.row < len(starts):
        lines += ["", *_fenced(text[starts[item.row - 1] : starts[item.row]])]
    if finding.evidence:
        lines += ["", "  How it gets there:", ""]
        lines += [
            f"  1. {_code(f'{view.shown(step.path)}:{step.row}')} {_plain(step.text)}" for step in finding.evidence
        ]
    if finding.verdict is not None:
        where = f" on {_plain(finding.verdict.target)}" if finding.verdict.target else ""
        lines += ["", f"  Run{where}: **{finding.verdict.verdict}**: {_plain(finding.verdict.reason)}"]
    if finding.fix is not None:
        lines += ["", f"  Fix ({finding.fix.applicability}): {_plain(finding.fix.message)}"]
    return "\n".join(lines) + "\n"


def _troubles(troubles: list[tuple[str, str]], view: View) -> str:
    lines = [
        f"- {_code(view.shown(path)) + ': ' if path else ''}{_plain(text)}" for path, text in troubles[:_MOST_TROUBLES]
    ]
    more = len(troubles) - len(lines)
    return "\n".join([*lines, *([f"- … and {more} more"] if more else [])]) + "\n"


def render(report: RunReport, view: View) -> str:
    count = len(report.diagnostics)
    troubles = list(troubles_of(report))
    if not count and not troubles:
        return "**jaxlint**: no findings.\n"
    but = ", but not all was checked" if troubles else ""
    parts = [f"**jaxlint**: {count or 'no'} finding{'s' if count != 1 else ''}{but}\n"]
    parts += [_troubles(troubles, view)] if troubles else []
    size = sum(map(len, parts))
    shown = 0
    for path, group in groupby(report.diagnostics, key=lambda item: item.path):
        heading = f"### {_code(view.shown(path))}\n"
        for item in group:
            block = _finding(item, report.texts.get(path, ""), view)
            if size + len(heading) + len(block) > _LONGEST:
                parts.append(f"… and {count - shown} more.\n")
                return "\n".join(parts)
            parts += [heading, block] if heading else [block]
            size += len(heading) + len(block) + 2
            heading = ""
            shown += 1
    return "\n".join(parts)
