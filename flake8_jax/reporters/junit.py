"""``junit``: a test suite per file and a failed test case per finding; a clean run is one case that passes."""

from __future__ import annotations

import re
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from flake8_jax.core.report import Diagnostic, RunReport
from flake8_jax.reporters._view import View

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("�", text))


def _case(item: Diagnostic, path: str) -> list[str]:
    place = f"line {item.row}, col {item.column}, {item.finding.message}"
    name, cls = _attribute(f"jaxlint.{item.code}"), _attribute(path.removesuffix(".py"))
    return [
        f'    <testcase name={name} classname={cls} line="{item.row}" column="{item.column}">',
        f"      <failure message={_attribute(item.finding.message)}>{escape(_FORBIDDEN.sub('�', place))}</failure>",
        "    </testcase>",
    ]


def render(report: RunReport, view: View) -> str:
    failures = len(report.diagnostics)
    suites: list[str] = []
    for path, group in groupby(report.diagnostics, key=lambda item: item.path):
        shown = view.path(path)
        items = list(group)
        suites.append(f'  <testsuite name={_attribute(shown)} tests="{len(items)}" failures="{len(items)}" errors="0">')
        for item in items:
            suites += _case(item, shown)
        suites.append("  </testsuite>")
    if not suites:
        suites = [
            '  <testsuite name="jaxlint" tests="1" failures="0" errors="0">',
            '    <testcase name="No findings" classname="jaxlint"/>',
            "  </testsuite>",
        ]
    head = f'<testsuites name="jaxlint" tests="{max(failures, 1)}" failures="{failures}" errors="0">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>", ""])
