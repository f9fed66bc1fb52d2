"""How rules hear of events, and what becomes of their reports.

Vocabulary
----------
emission    a rule's report with the call stack at that moment.
settled     emissions that count whatever other paths show, but for facts that supersede them.
recorded    facts that some path has shown of a place (see ``events.facts``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.core.registry import DEFECTS, Report, Rule, traceback_of
from flake8_jax.semantics.domain.stack import Link
from flake8_jax.semantics.events.events import Discarded, NameUse, Timed

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import ModuleScope
    from flake8_jax.semantics.domain.values import Site
    from flake8_jax.semantics.machine.path import ExecutionPath


_TRACED = frozenset({"staged"})
"""Where rules listen that only report traced code."""


class Emission(msgspec.Struct, frozen=True, eq=False):
    """A report of a rule, with the chain of links that led to it."""

    rule: Rule
    report: Report
    event: Any
    scope: ModuleScope
    chain: tuple[Link, ...]


def report_key(emission: Emission) -> tuple[Any, ...]:
    """What a finding is made of, but for its message and its chain: of two reports with one key, the first counts."""
    rule, report = emission.rule, emission.report
    level = report.level or rule.level
    where = (emission.scope.path, report.at.start)
    return rule.code, where, level, report.unless, report.given, report.preview


def _is_error(emission: Emission) -> bool:
    return (emission.report.level or emission.rule.level) == "error"


def _is_own_fault(emission: Emission, body: Site | None) -> bool:
    """The report tells of a mistake at which JAX raises nothing, and that is one in any call of the function with this body."""
    if body is None or emission.rule.raises != "nothing" or emission.event.context.staged:
        return False
    at = emission.report.at
    return emission.scope is body.scope and body.start <= at.start and at.end <= body.end


def _place_of(emission: Emission) -> tuple[str, str, int]:
    return emission.rule.code, emission.scope.path, emission.report.at.start


class EventBus:
    """The rules by what they listen to, what they have reported, and the facts that may supersede it.

    names_wanted, discards_wanted: names that listeners to uses and to discarded values care for; None for all.
    presuming: presumed runs are under way; raising_only: of functions that
    are not presumed to be differentiated; recorded_before: what the ordinary ones have recorded.
    crashes: (rule, path, traceback) of rules that failed. counters: what ``--verbose`` tells of the analysis.
    """

    def __init__(self, rules: tuple[Rule, ...], path: ExecutionPath) -> None:
        self.path = path
        self.listeners: dict[type, list[Rule]] = {}
        self.by_place: dict[tuple[type, str], tuple[Rule, ...]] = {}
        for rule in rules:
            for event in rule.events:
                self.listeners.setdefault(event, []).append(rule)
                for where in rule.where:
                    self.by_place[event, where] = (*self.by_place.get((event, where), ()), rule)
        self.presuming = self.raising_only = False
        self.recorded_before: frozenset[tuple[str, str, int]] = frozenset()
        self.names_wanted = self._names_of(NameUse)
        self.discards_wanted = self._names_of(Discarded)
        self.emissions: list[Emission] = []
        self.settled: dict[Any, Emission] = {}
        self.recorded: set[tuple[str, str, int]] = set()
        self.crashes: list[tuple[str, str, str]] = []
        self.counters: dict[str, int] = {}

    def presume(self) -> None:
        """The ordinary runs are over; from here on, only rules listen that have something to say of presumed ones."""
        self.presuming, self.recorded_before = True, frozenset(self.recorded)
        for event, rules in self.listeners.items():
            self.listeners[event] = [rule for rule in rules if rule.presumed]
        self.listeners = {event: rules for event, rules in self.listeners.items() if rules}
        self.by_place = {key: tuple(r for r in rules if r.presumed) for key, rules in self.by_place.items()}

    def wants(self, event: type) -> bool:
        return event in self.listeners

    def _names_of(self, event: type) -> frozenset[str] | None:
        """The names that the listeners to an event care for; None for all."""
        listening = [rule.names for rule in self.listeners.get(event, ())]
        return None if None in listening else frozenset().union(*[n for n in listening if n is not None])

    def subscribers(self, event: type) -> tuple[Rule, ...]:
        """The rules that may have something to say of a call that happens now."""
        mode = self.path.mode
        where = "staged" if mode.staged or mode.presumed else "loop" if self.path.loops else "eager"
        return self.by_place.get((event, where), ())

    def emit(self, event: Any, rules: Iterable[Rule] | None = None, below: tuple[Link, ...] = ()) -> None:
        """Tell the rules that listen (or those given); keep what they say. A defect of a rule costs its report alone.
        below: the calls that led from here to where it happened."""
        for rule in self.listeners.get(type(event), ()) if rules is None else rules:
            try:
                said = rule.check(event)
            except DEFECTS as error:
                self.crashes.append((rule.name, event.context.scope.path, traceback_of(error)))
                continue
            if not said:
                continue
            if event.context.presumed and rule.presumed:
                said = self._presumed(rule, said)
            for report in said if isinstance(said, list) else [said]:
                self.emissions.append(Emission(rule, report, event, event.context.scope, (*self.path.stack, *below)))

    def _presumed(self, rule: Rule, said: Report | list[Report]) -> list[Report]:
        """What is told of code that a library's users may stage: warnings, in preview."""
        if not self.presuming or (self.raising_only and rule.raises == "nothing"):
            return []
        reports = said if isinstance(said, list) else [said]
        return [
            replace(report, preview=True, level="info" if (report.level or rule.level) == "info" else "warning")
            for report in reports
        ]

    def emit_settled(self, event: Any, chain: tuple[Link, ...]) -> None:
        """Tell the rules of what an entry has shown that is over, and keep what they say for good. chain: the call stack
        that led to it."""
        running, self.emissions = self.emissions, []
        self.emit(event)
        self.settle([msgspec.structs.replace(emission, chain=chain) for emission in self.emissions])
        self.emissions = running

    def keep_first_reports(self, mark: int) -> None:
        """Of equal reports since ``mark`` keep the first. A function that two paths lead to would else tell the same
        twice, its callers four times, and so on.

        What was timed stays apart: it is looked at again whenever the run is repeated (``clocks.repeat_warm``).
        """
        if len(self.emissions) - mark < 2:
            return
        kept: dict[Any, Emission] = {}
        for emission in self.emissions[mark:]:
            apart = id(emission) if type(emission.event) is Timed else 0
            kept.setdefault((report_key(emission), apart), emission)
        if len(kept) < len(self.emissions) - mark:
            self.emissions[mark:] = kept.values()

    def settle(self, emissions: Iterable[Emission]) -> None:
        """Keep reports for good: the first of equal ones that start in the same function."""
        for emission in emissions:
            start = emission.chain[0] if emission.chain else None
            origin = (start.kind == "entry", id(start.fn)) if start is not None else None
            self.settled.setdefault((report_key(emission), origin), emission)

    def record_fact(self, fact: str, scope: ModuleScope, start: int) -> None:
        """On some path ``fact`` holds of the place that starts at ``start``: reports made ``unless`` it does are superseded."""
        self.recorded.add((fact, scope.path, start))

    def record_everywhere(self, fact: str) -> None:
        """``fact`` may hold of any place: the path that would tell was not run."""
        self.recorded.add((fact, "", 0))

    def is_recorded(self, fact: str, path: str, start: int, *, presumed: bool) -> bool:
        """presumed: for a report on a presumed run; what such runs show is no fact for the others."""
        recorded = self.recorded_before if self.presuming and not presumed else self.recorded
        return (fact, path, start) in recorded or (fact, "", 0) in recorded

    def drop_errors(self, mark: int, body: Site | None = None) -> None:
        """Forget error-level reports since ``mark``: they stand behind a test that only the host can decide. body: of a
        function of which it is not known whether the call runs it: its own mistakes stay."""
        self.emissions += [e for e in self.take_since(mark) if not _is_error(e) or _is_own_fault(e, body)]

    def take_since(self, mark: int) -> list[Emission]:
        """Take out the reports since ``mark``."""
        taken = self.emissions[mark:]
        del self.emissions[mark:]
        return taken

    def keep_common_errors(self, alternatives: list[list[Emission]]) -> None:
        """Put back what alternatives have reported, of which one runs: errors only if each of them makes one at that place."""
        made = [{_place_of(e) for e in part if _is_error(e)} for part in alternatives]
        common = frozenset.intersection(*map(frozenset, made)) if made else frozenset()
        self.emissions += [e for part in alternatives for e in part if not _is_error(e) or _place_of(e) in common]

    def drop_guesses(self, mark: int) -> None:
        """Forget what was reported since ``mark`` of code that is traced, warnings too: only a guess leads there, and no known
        caller that traces it."""
        kept = [
            e
            for e in self.emissions[mark:]
            if (e.report.level or e.rule.level) != "error" and not e.rule.where <= _TRACED
        ]
        del self.emissions[mark:]
        self.emissions += kept

    def count(self, name: str) -> None:
        self.counters[name] = self.counters.get(name, 0) + 1
