"""Findings in the light of a profile: did what they speak of run, and was it traced?

The mark is one more link of the chain of evidence, at its end. A finding whose function was recorded only outside of traces,
although the chain says that something stages it, is not taken back: another run may stage it. It is said.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from flake8_jax.core.findings import Finding, Step
from flake8_jax.core.report import Diagnostic, RunReport
from flake8_jax.runtime_checks.profile import Function, Profile

KIND = "recorded"


def marked(report: RunReport, profile: Profile) -> RunReport:
    """The report with a link on every finding whose function the profile knows."""
    by_path: dict[str, list[Function]] = {}
    for function in profile.functions:
        by_path.setdefault(os.path.realpath(function.filename), []).append(function)
    diagnostics = tuple(_marked(item, by_path.get(os.path.realpath(item.path), ())) for item in report.diagnostics)
    return msgspec.structs.replace(report, diagnostics=diagnostics)


def _marked(item: Diagnostic, recorded: Iterable[Function]) -> Diagnostic:
    function = recorded_function(item, recorded)
    if function is None:
        return item
    finding = item.finding
    step = Step(item.path, finding.start, function.line, KIND, function.qualname, _sentence(finding, function))
    return msgspec.structs.replace(item, finding=msgspec.structs.replace(finding, evidence=(*finding.evidence, step)))


def recorded_function(item: Diagnostic, recorded: Iterable[Function]) -> Function | None:
    """The recorded function that a finding stands in: named by the last link of its chain, else the nearest above."""
    above = [one for one in recorded if one.line <= item.row and (not one.last or item.row <= one.last)]
    chain = item.finding.evidence
    if chain:
        last = chain[-1].function.rsplit(".", 1)[-1]
        above = [function for function in above if function.qualname.rsplit(".", 1)[-1].strip("<>") == last.strip("<>")]
    return max(above, key=lambda function: function.line, default=None)


def _sentence(finding: Finding, function: Function) -> str:
    times = "once" if function.calls == 1 else f"{function.calls} times"
    if not function.staged_calls:
        staged = ", never while JAX traced" if any(step.kind == "root" for step in finding.evidence) else ""
        return f"recorded: {function.qualname} ran {times}{staged}"
    tracers = [name for name, kinds in function.params.items() if kinds.get("traced") or kinds.get("tree")]
    what = f"; tracers: {', '.join(tracers)}" if tracers else ""
    some = "" if function.staged_calls == function.calls else f"{function.staged_calls} of them "
    return f"recorded: {function.qualname} ran {times}, {some}while JAX traced{what}"


def cases_of(function: Function) -> str | None:
    """The text of inputs like those that were recorded; None where some parameter's are not known or not input."""
    texts: list[str] = []
    for name, kinds in function.params.items():
        avals = function.avals.get(name, ())
        if not kinds or not avals or avals[0] in _PLAIN or "." in avals[0].split("[")[0]:
            return None
        texts.append(avals[0])
    return ", ".join(texts) if texts else None


_PLAIN = frozenset({"int", "float", "bool", "str", "complex", "NoneType"})
