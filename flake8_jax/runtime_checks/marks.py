"""Findings in the light of a profile: did what they mention run, was it traced, and what was compiled there?

The marks are further links of the chain of evidence, at its end. A finding whose function was recorded only outside of traces,
although the chain says that something stages it, is kept, because another run may stage it. The mark says so.

Limitation: cells of notebooks get no marks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import msgspec

from flake8_jax.core.findings import Finding, Step
from flake8_jax.core.report import Diagnostic, RunReport
from flake8_jax.runtime_checks.profile import Compilation, Function, Profile
from flake8_jax.runtime_checks.statements import rows_around

KIND = "recorded"
_MOST_STATICS = 3


def marked(report: RunReport, profile: Profile) -> RunReport:
    """Add what the profile knows to the evidence of each finding: calls, compilations and seconds of its function or
    its lines.
    """
    functions: dict[str, list[Function]] = {}
    for function in profile.functions:
        functions.setdefault(os.path.realpath(function.filename), []).append(function)
    compiled: dict[str, list[Compilation]] = {}
    for one in profile.compilations:
        compiled.setdefault(os.path.realpath(one.filename), []).append(one)

    using = f" with JAX {profile.versions['jax']}" if "jax" in profile.versions else ""

    def mark(item: Diagnostic) -> Diagnostic:
        path = os.path.realpath(item.path)
        if item.cell is not None:
            return item
        rows = rows_around(report.texts.get(item.path, ""), item.row, max(item.row, item.end_row))
        found = [*_called(item, functions.get(path, ())), *_compiled(item, rows, compiled.get(path, ()))]
        steps = [msgspec.structs.replace(step, text=f"recorded{using}: {step.text}") for step in found]
        finding = item.finding
        evidence = (*finding.evidence, *steps)
        return msgspec.structs.replace(item, finding=msgspec.structs.replace(finding, evidence=evidence))

    return msgspec.structs.replace(report, diagnostics=tuple(map(mark, report.diagnostics)))


def _called(item: Diagnostic, recorded: Iterable[Function]) -> list[Step]:
    """How the function of a finding ran."""
    function = recorded_function(item, recorded)
    if function is None:
        return []
    finding = item.finding
    return [Step(item.path, finding.start, function.line, KIND, function.qualname, _sentence(finding, function))]


def _compiled(item: Diagnostic, rows: frozenset[int], compiled: Sequence[Compilation]) -> list[Step]:
    """What XLA compiled for the lines of a finding, the most expensive first in one sentence."""
    here = [one for one in compiled if one.row in rows]
    if not here:
        return []
    count, seconds = sum(one.count for one in here), sum(one.seconds for one in here)
    most = max(here, key=lambda one: one.seconds)
    times = "one compilation" if count == 1 else f"{count} compilations"
    text = f"{times} here, {seconds:.2g} s in all"
    if count > 1:
        text += f"; `{most.name}` {most.count} times" if most.count > 1 else f"; the longest of `{most.name}`"
    return [Step(item.path, item.finding.start, most.row, KIND, most.function, text)]


def recorded_function(item: Diagnostic, recorded: Iterable[Function]) -> Function | None:
    """Return the recorded function that contains a finding: the last one of its call chain, else the nearest above it
    in the file.
    """
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
        return f"{function.qualname} ran {times}{staged}"
    tracers = [name for name, kinds in function.params.items() if kinds.get("traced") or kinds.get("tree")]
    what = f"; tracers: {', '.join(tracers)}" if tracers else ""
    some = "" if function.staged_calls == function.calls else f"{function.staged_calls} of them "
    return f"{function.qualname} ran {times}, {some}while JAX traced{what}{_statics(function)}"


def _statics(function: Function) -> str:
    """The numbers and flags that a traced function was given as they were."""
    shown = []
    for name, values in function.statics.items():
        kinds = function.params.get(name, {})
        if kinds.get("other") and not kinds.get("traced") and not kinds.get("tree"):
            more = ", …" if len(values) > _MOST_STATICS else ""
            shown.append(f"{name} = {', '.join(values[:_MOST_STATICS])}{more}")
    return f"; static: {'; '.join(shown)}" if shown else ""


def cases_of(function: Function) -> str | None:
    """Return inputs like the recorded ones, as texts for ``--case``; None if some parameter's type is unknown or cannot
    be made.
    """
    texts: list[str] = []
    for name, kinds in function.params.items():
        avals = function.avals.get(name, ())
        if not kinds or not avals or avals[0] in _PLAIN or "." in avals[0].split("[")[0]:
            return None
        texts.append(avals[0])
    return ", ".join(texts) if texts else None


_PLAIN = frozenset({"int", "float", "bool", "str", "complex", "NoneType"})
