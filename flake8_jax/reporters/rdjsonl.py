"""``rdjsonl``: the Reviewdog Diagnostic Format, one finding a line."""

from __future__ import annotations

import msgspec

from flake8_jax.core.report import RunReport
from flake8_jax.reporters._view import View
from flake8_jax.reporters.rdjson import SOURCE, diagnostic


def render(report: RunReport, view: View) -> str:
    return "".join(
        msgspec.json.encode({**diagnostic(item, report.texts.get(item.path, ""), view), "source": SOURCE}).decode()
        + "\n"
        for item in report.diagnostics
    )
