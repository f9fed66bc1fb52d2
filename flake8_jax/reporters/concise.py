"""``concise``: one line a finding, ``path:row:column: CODE [*] message``, the shape that ruff prints. ``[*]`` marks what
``--fix`` applies.

Where the finding was run on JAX, the verdict follows in brackets.
"""

from __future__ import annotations

from flake8_jax.core.printable import one_line
from flake8_jax.core.report import Diagnostic, RunReport
from flake8_jax.reporters._view import View


def mark(item: Diagnostic, view: View) -> str:
    """``[*] `` for a finding whose fix would be applied, else nothing."""
    return f"[{view.styled('*', 'fixable')}] " if view.would_fix(item.finding) else ""


def head(item: Diagnostic, view: View, report: RunReport, name: str = "") -> str:
    """The line that names the place, the rule and the mistake. name: of the rule, shown beside its code."""
    cell = f"cell {item.cell}:" if item.cell is not None else ""
    place = f"{view.styled(view.shown(item.path), 'path')}:{cell}{item.row}:{item.column}:"
    code = view.code(item.finding, report) + (f" ({name})" if name else "")
    return f"{place} {code} {mark(item, view)}{one_line(item.finding.message)}"


def render(report: RunReport, view: View) -> str:
    return "".join(f"{head(item, view, report)}{_verdict(item)}\n" for item in report.diagnostics)


def _verdict(item: Diagnostic) -> str:
    verdict = item.finding.verdict
    return f" [{verdict.verdict}]" if verdict is not None else ""
