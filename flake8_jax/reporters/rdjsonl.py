"""``rdjsonl``: the Reviewdog Diagnostic Format, one finding a line."""

from __future__ import annotations

from typing import Any

from flake8_jax.core.report import RunReport
from flake8_jax.reporters._json import line
from flake8_jax.reporters._view import View
from flake8_jax.reporters.rdjson import SOURCE, diagnostic

_LONGEST_LINE = 64 * 1024
"""Bytes. reviewdog stops at a line of this length, and says nothing of what comes after it."""


def _line(found: dict[str, Any]) -> str:
    made = line(found)
    for name in ("suggestions", "related_locations"):
        if len(made.encode()) + 1 >= _LONGEST_LINE and found.pop(name, None):
            made = line(found)
    return made


def render(report: RunReport, view: View) -> str:
    return "".join(
        _line({**diagnostic(item, report.texts.get(item.path, ""), view), "source": SOURCE}) + "\n"
        for item in report.diagnostics
    )
