"""``grouped``: the findings of each file under its path."""

from __future__ import annotations

from itertools import groupby

from flake8_jax.core.printable import one_line
from flake8_jax.core.report import Diagnostic, RunReport
from flake8_jax.reporters._view import View
from flake8_jax.reporters.concise import mark


def _place(item: Diagnostic) -> str:
    cell = f"cell {item.cell}:" if item.cell is not None else ""
    return f"{cell}{item.row}:{item.column}"


def render(report: RunReport, view: View) -> str:
    blocks: list[str] = []
    for path, group in groupby(report.diagnostics, key=lambda item: item.path):
        items = list(group)
        width = max(len(_place(item)) for item in items)
        lines = [f"{view.styled(view.shown(path), 'path')}:"]
        for item in items:
            place = _place(item)
            code = view.code(item.finding, report)
            lines.append(
                f"  {place:<{width}} {code} ({item.finding.name}) {mark(item, view)}{one_line(item.finding.message)}"
            )
        blocks.append("".join(f"{line}\n" for line in lines))
    return "\n".join(blocks)
