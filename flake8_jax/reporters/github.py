"""``github``: workflow commands that GitHub Actions shows as annotations on the changed lines."""

from __future__ import annotations

from flake8_jax.core.printable import spelled
from flake8_jax.core.report import Diagnostic, RunReport
from flake8_jax.reporters._view import View

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def _data(text: str) -> str:
    return spelled(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _line(item: Diagnostic, view: View) -> str:
    path = view.path(item.path)
    properties = [f"title={_property(f'jaxlint ({item.code})')}", f"file={_property(path)}", f"line={item.row}"]
    if item.row == item.end_row:  # GitHub refuses columns on ranges of several lines
        properties += [f"col={item.column}", f"endLine={item.end_row}", f"endColumn={item.end_column}"]
    else:
        properties.append(f"endLine={item.end_row}")
    text = f"{path}:{item.row}:{item.column}: {item.code} {item.finding.message}"
    return f"::{_COMMANDS[item.finding.level]} {','.join(properties)}::{_data(text)}\n"


def render(report: RunReport, view: View) -> str:
    return "".join(_line(item, view) for item in report.diagnostics)
