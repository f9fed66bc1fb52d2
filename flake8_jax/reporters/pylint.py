"""``pylint``: ``path:row: [CODE] message``, which many continuous-integration services know how to read."""

from __future__ import annotations

from flake8_jax.core.printable import one_line
from flake8_jax.core.report import RunReport
from flake8_jax.reporters._view import View


def render(report: RunReport, view: View) -> str:
    return "".join(
        f"{view.shown(item.path)}:{item.row}: [{item.code}] {one_line(item.finding.message)}\n"
        for item in report.diagnostics
    )
