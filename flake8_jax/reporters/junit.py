"""``junit``: a test suite per file and a failed test case per finding; a clean run is one case that passes."""

from __future__ import annotations

import re
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from flake8_jax.core.printable import shown_xml
from flake8_jax.core.report import Diagnostic, RunReport, troubles_of
from flake8_jax.reporters._view import View

_LINE_ENDS = {"\n": "&#10;", "\r": "&#13;"}
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("�", text))


def _case(item: Diagnostic, path: str) -> list[str]:
    place = f"line {item.row}, col {item.column}, {item.finding.message}"
    name, cls = _attribute(f"jaxlint.{item.code}"), _attribute(path.removesuffix(".py"))
    return [
        f'    <testcase name={name} classname={cls} line="{item.row}" column="{item.column}">',
        f"      <failure message={_attribute(item.finding.message)}>{escape(_FORBIDDEN.sub('�', place), _LINE_ENDS)}</failure>",
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
    troubles = list(troubles_of(report))
    if troubles:
        suites.append(f'  <testsuite name="jaxlint" tests="{len(troubles)}" failures="0" errors="{len(troubles)}">')
        for path, text in troubles:
            suites.append(f'    <testcase name={_attribute(view.path(path) or "run")} classname="jaxlint">')
            suites += [f"      <error message={_attribute(text)}/>", "    </testcase>"]
        suites.append("  </testsuite>")
    if not suites:
        suites = [
            '  <testsuite name="jaxlint" tests="1" failures="0" errors="0">',
            '    <testcase name="No findings" classname="jaxlint"/>',
            "  </testsuite>",
        ]
    tests, errors = max(failures + len(troubles), 1), len(troubles)
    head = f'<testsuites name="jaxlint" tests="{tests}" failures="{failures}" errors="{errors}">'
    return shown_xml("\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>", ""]))
