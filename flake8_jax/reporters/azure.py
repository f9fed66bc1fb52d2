"""``azure``: logging commands of Azure Pipelines."""

from __future__ import annotations

from flake8_jax.core.printable import spelled
from flake8_jax.core.report import Diagnostic, RunReport
from flake8_jax.reporters._view import View


def _escaped(text: str) -> str:
    text = spelled(text)
    for character, code in (("%", "%AZP25"), ("\r", "%0D"), ("\n", "%0A"), (";", "%3B"), ("]", "%5D")):
        text = text.replace(character, code)
    return text


def _line(item: Diagnostic, view: View) -> str:
    kind = "error" if item.finding.level == "error" else "warning"
    place = f"sourcepath={_escaped(view.path(item.path))};linenumber={item.row};columnnumber={item.column}"
    return f"##vso[task.logissue type={kind};{place};code={item.code};]{_escaped(item.finding.message)}\n"


def render(report: RunReport, view: View) -> str:
    return "".join(_line(item, view) for item in report.diagnostics)
