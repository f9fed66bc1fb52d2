"""Findings of a run: which of the reports become one, and the evidence of each.

Vocabulary
----------
emission    a report of a rule, with the call chain at that moment.
withdrawn   a report that another path disproves (``Report.unless``), that lacks a fact (``Report.given``), or that starts
            in a function which all known callers expect to raise.
rank        of several reports of one rule at one place, that with the highest rank becomes the finding.
superseded  a report that shows the same defect as another one (``Rule.settle``).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec

from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.findings import Finding, Level, Positions, Step
from flake8_jax.core.registry import DEFECTS, Candidate, Settle, traceback_of
from flake8_jax.semantics.analysis.places import with_places
from flake8_jax.semantics.analysis.request import AnalysisRequest
from flake8_jax.semantics.domain.code import names_tested_around
from flake8_jax.semantics.domain.stack import Link
from flake8_jax.semantics.domain.values import Instance
from flake8_jax.semantics.machine.bus import Emission
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.runs import Runs

_SEVERITY: dict[Level, int] = {"error": 2, "warning": 1, "info": 0}


class Reported(msgspec.Struct, frozen=True, eq=False):
    """A finding, and the event that it is about, for fixers. beside: the events of the reports that the finding stands for."""

    finding: Finding
    event: Any
    beside: tuple[Any, ...] = ()


def report_findings(m: Machine, request: AnalysisRequest) -> list[Reported]:
    """The findings of a run, by file and place. None of them has a fix yet."""
    best = _best(m, request)
    events = {(one.rule.code, one.scope.path, one.report.at.start): one.event for one in best}
    found = [
        Reported(
            _finding(m, emission, uses, others),
            emission.event,
            tuple(
                events[key] for start in others if (key := (emission.rule.code, emission.scope.path, start)) in events
            ),
        )
        for emission, uses, others in _without_superseded(m, best)
        if request.preview or not emission.report.preview
    ]
    found.sort(key=lambda one: (one.finding.path, one.finding.start, one.finding.code))
    return found


def _best(m: Machine, request: AnalysisRequest) -> list[Emission]:
    """The report with the highest rank of each rule at each place; a note where all that say so have it from hearsay."""
    best: dict[tuple[str, str, int], Emission] = {}
    seen: set[tuple[str, str, int]] = set()
    for emission in m.bus.settled.values():
        if not _is_wanted(emission, request) or _is_withdrawn(m, emission):
            continue
        key = (emission.rule.code, emission.scope.path, emission.report.at.start)
        other = best.get(key)
        if other is None or _report_rank(m, emission) > _report_rank(m, other):
            best[key] = emission
        if not _is_hearsay(emission):
            seen.add(key)
    return [emission if key in seen else _as_note(emission) for key, emission in best.items()]


def _as_note(emission: Emission) -> Emission:
    """The report at a lower level: a note about a tracer; a warning instead of an error where JAX raises nothing, because the
    author may never learn of it otherwise."""
    is_silent_error = emission.rule.raises == "nothing" and _reported_level(emission) == "error"
    level: Level = "warning" if is_silent_error else "info"
    return msgspec.structs.replace(emission, report=dataclasses.replace(emission.report, level=level))


def _reported_level(emission: Emission) -> Level:
    return emission.report.level or emission.rule.level


_STAGED = frozenset({"staged"})
_FAR = 3
"""Files between a transform and what it traces, both included. Of such findings, and of those by contract, 17 of 56 were true
on repositories that the analysis had not been tuned on; of the others, with the analysis of that time, 33 of 45."""


def _is_hearsay(emission: Emission) -> bool:
    """An error that stands on a tracer from far away, or from a caller that nothing in the project stages (users of its
    library would): any step on the way may hold an unknown fact. Of rules on staged code in which JAX raises
    nothing, the second is enough: a module that is only run eagerly draws from ``numpy.random`` at every call. Other errors
    are hearsay where they depend on which subclass a method runs for.

    A print of a tracer is hearsay in a module that no known code stages: people print what they look at in an eager call."""
    steps = evidence_of(emission.chain)
    kinds = {step.kind for step in steps}
    if emission.rule.name == "print-in-staged":
        return "contract" in kinds and "root" not in kinds
    if _reported_level(emission) != "error":
        return False
    if emission.rule.raises == "nothing" and emission.rule.where == _STAGED:
        return "contract" in kinds and "root" not in kinds
    if emission.rule.raises == "another error":
        return any(_is_of_any_subclass(link) for link in emission.chain)
    if emission.rule.raises != "tracer error":
        return False
    return len({emission.scope.path, *(step.path for step in steps)}) >= _FAR or kinds >= {"contract", "call"}


def _is_of_any_subclass(link: Link) -> bool:
    """The call runs a method for an object that the analysis made up, of a class that inherits the method or has
    subclasses: that class may never get here."""
    receiver = link.receiver
    if not isinstance(receiver, Instance) or receiver.exact:
        return False
    return bool(receiver.cls.subclasses) or link.function.split(".")[-2:-1] != [receiver.cls.node.name]


def _is_wanted(emission: Emission, request: AnalysisRequest) -> bool:
    if emission.report.preview and not request.preview:
        return False
    is_asked = request.asked is None or emission.rule.code in request.asked
    if not (is_asked or emission.report.also_in_preview):
        return False
    return request.wanted is None or emission.scope.path in request.wanted


def _is_withdrawn(m: Machine, emission: Emission) -> bool:
    report, path = emission.report, emission.scope.path
    start = emission.chain[0] if emission.chain else None
    presumed = emission.event.context.presumed
    if start is not None and start.kind == "entry" and m.trackers[Runs].is_dared(id(start.fn)):
        return True
    scopes = (emission.scope, *[link.scope for link in emission.chain])
    of_tracers = emission.rule.raises == "tracer error" or emission.rule.name == "print-in-staged"
    functions = (emission.event.context.inner, *[link.fn for link in emission.chain])
    if of_tracers and not m.trackers[Runs].probed.isdisjoint(map(id, functions)):
        return True  # the program asks first whether JAX can trace the function
    if of_tracers and any(scope.unjitted for scope in scopes):
        return True  # where jit is switched off, nothing is traced but by other transforms
    if of_tracers and m.program.unjitting:
        context = emission.event.context
        body = context.inner.body if context.inner is not None else emission.scope.tree.body
        if not m.program.unjitting.isdisjoint(names_tested_around(body, report.at)):
            return True  # ``if self.debug:``, where ``if debug: jax.config.update("jax_disable_jit", True)``
    if report.unless and (
        m.worklist.cuts or m.bus.is_recorded(report.unless, path, report.at.start, presumed=presumed)
    ):
        return True  # with cuts: the code that did not run might have shown the fact
    return bool(report.given) and not m.bus.is_recorded(report.given, path, report.at.start, presumed=presumed)


def _report_rank(m: Machine, emission: Emission) -> tuple[bool, int, bool]:
    """Rank reports that are no previews first, then by severity, then by a complete call chain: it does not start in a
    function with known callers."""
    start = emission.chain[0] if emission.chain else None
    complete = start is None or start.kind != "entry" or id(start.fn) not in m.trackers[Runs].callees
    return not emission.report.preview, _SEVERITY[emission.report.level or emission.rule.level], complete


def _without_superseded(
    m: Machine, emissions: list[Emission]
) -> list[tuple[Emission, tuple[Step, ...], tuple[int, ...]]]:
    """The reports that become findings, with the places that their evidence names beside the call chain, and the starts of
    those that they stand for.

    Where a rule fails to say which reports are superseded, all of them stay.
    """
    groups: dict[Settle, list[tuple[Candidate, Emission]]] = {}
    for emission in emissions:
        report, rule = emission.report, emission.rule
        if rule.settle is not None:
            candidate = Candidate(emission.scope.path, report.at.start, emission.event, rule.code, report.uses)
            groups.setdefault(rule.settle, []).append((candidate, emission))
    decided: dict[Emission, Candidate | None] = {}
    for settle, group in groups.items():
        try:
            settled = settle([candidate for candidate, _ in group])
        except DEFECTS as error:
            first = group[0][1]
            m.bus.crashes.append((first.rule.name, first.scope.path, traceback_of(error)))
            continue
        kept = {(c.code, id(c.event), c.start): c for c in settled}
        decided |= {emission: kept.get((c.code, id(c.event), c.start)) for c, emission in group}
    chosen: list[tuple[Emission, tuple[Step, ...], tuple[int, ...]]] = []
    for emission in emissions:
        if emission not in decided:
            chosen.append((emission, emission.report.uses, ()))
        elif (settled_as := decided[emission]) is not None:
            chosen.append((_as_settled(emission, settled_as), settled_as.uses, settled_as.others))
    return chosen


def _as_settled(emission: Emission, candidate: Candidate) -> Emission:
    """The report with what its rule decided when it had seen all of its reports."""
    report = emission.report
    if candidate.note:
        report = dataclasses.replace(report, message=f"{report.message}; {candidate.note}")
    if candidate.preview:
        report = dataclasses.replace(report, level="info", preview=True)
    return emission if report is emission.report else msgspec.structs.replace(emission, report=report)


def _level(m: Machine, emission: Emission) -> Level:
    """The level of a finding. Who wrote a cell has run it and seen what it raises, or what it prints: it is shown on
    purpose, or out of use."""
    report, presumed = emission.report, emission.event.context.presumed
    level = report.level or emission.rule.level
    fact = report.sure_given
    if fact and not m.bus.is_recorded(fact, emission.scope.path, report.at.start, presumed=presumed):
        level = "info" if level == "error" else level
    seen = emission.rule.raises != "nothing" or emission.rule.code in SHOWN
    return "info" if seen and emission.scope.path.endswith(SUFFIX) else level


SHOWN = frozenset({"JAX501", "JAX502", "JAX503"})
"""Rules on effects that are the subject of cells: what a traced function writes."""


def _finding(m: Machine, emission: Emission, uses: tuple[Step, ...], others: tuple[int, ...]) -> Finding:
    report, rule, level = emission.report, emission.rule, _level(m, emission)
    return Finding(
        code=rule.code,
        name=rule.name,
        level=level,
        path=emission.scope.path,
        start=report.at.start,
        end=report.at.end,
        message=with_places(report.message, emission.chain, emission.scope, report.at.start),
        evidence=(*evidence_of(emission.chain), *uses),
        confidence="likely" if rule.level == "error" and level in ("warning", "info") else "certain",
        others=others,
    )


def evidence_of(chain: tuple[Link, ...]) -> tuple[Step, ...]:
    """The steps that a reader needs: from the first transform call on; outside tracing, all calls."""
    start = next((i for i, link in enumerate(chain) if link.kind in ("root", "contract")), 0)
    steps: list[Step] = []
    previous: Link | None = None
    for link in chain[start:]:
        if link.node is None:
            continue
        if not (
            previous is not None and previous.node is link.node and previous.kind == "root" and link.kind == "call"
        ):
            row = Positions(link.scope.tree.line_starts).row(link.node.start)
            steps.append(Step(link.scope.path, link.node.start, row, link.kind, link.function, link.text))
        previous = link
    return tuple(steps)
