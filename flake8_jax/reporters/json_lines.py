"""``json-lines``: the records of ``json``, one a line."""

from __future__ import annotations

from flake8_jax.core.report import RunReport
from flake8_jax.reporters._json import line
from flake8_jax.reporters._view import View
from flake8_jax.reporters.json import record


def render(report: RunReport, view: View) -> str:
    return "".join(f"{line(record(item, report))}\n" for item in report.diagnostics)
