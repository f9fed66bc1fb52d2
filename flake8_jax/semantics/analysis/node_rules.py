"""Rules on LibCST nodes: after the program has run, each walks the trees of the files and asks what the analysis saw.

Vocabulary
----------
answer      what a rule returns for one node: a ``NodeReport``, several, or nothing.

Nothing here runs unless such a rule is selected. A rule's exception costs its answer for that node, whatever it is: these
rules are other people's code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.registry import NodeReport, Report, Rule, traceback_of
from flake8_jax.semantics.analysis.findings import evidence_of
from flake8_jax.semantics.analysis.request import AnalysisRequest
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.events.events import Span
from flake8_jax.semantics.events.node_facts import NodeFacts, NodeReported
from flake8_jax.semantics.machine.bus import Emission
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.limits import Cut
from flake8_jax.semantics.trackers.observations import Observations
from flake8_jax.syntax.errors import SyntaxProblem


def observe_nodes(m: Machine, scopes: Sequence[ModuleScope], rules: Sequence[Rule], request: AnalysisRequest) -> None:
    """Keep from now on what rules on nodes may ask of the files that the request is about; nothing if there are no rules."""
    if rules:
        wanted = [scope.path for scope in scopes if request.wanted is None or scope.path in request.wanted]
        m.trackers[Observations].open(wanted)


def run_node_rules(m: Machine, scopes: Sequence[ModuleScope], rules: Sequence[Rule]) -> None:
    """Walk the observed files, and settle what the rules report."""
    m.observer = None
    files = m.trackers[Observations].files
    for scope in scopes:
        if scope.path in files:
            _walk(m, scope, rules)


def _walk(m: Machine, scope: ModuleScope, rules: Sequence[Rule]) -> None:
    from flake8_jax.syntax.nodes import Listener, NodeTree

    try:
        tree = NodeTree(scope.text)
    except SyntaxProblem as problem:
        m.worklist.cuts.append(Cut(scope.path, "", f"rules on nodes do not see it, because {problem.message}"))
        return
    places = {where: tuple(runs.values()) for where, runs in m.trackers[Observations].files[scope.path].items()}
    facts = NodeFacts(tree, scope, places, evidence_of)
    listeners: dict[type, tuple[Listener, ...]] = {}
    for rule in rules:
        for kind in rule.events:
            listeners[kind] = (*listeners.get(kind, ()), _Asking(m, rule, facts, tree, scope))
    tree.walk(listeners)


class _Asking:
    """One rule, asked about the nodes of one file."""

    def __init__(self, m: Machine, rule: Rule, facts: NodeFacts, tree: Any, scope: ModuleScope) -> None:
        self.machine = m
        self.rule = rule
        self.facts = facts
        self.tree = tree
        self.scope = scope

    def __call__(self, node: Any) -> None:
        try:
            said = self.rule.check(node, self.facts)
            answers = said if isinstance(said, (list, tuple)) else [said] if said is not None else []
            emissions = [self._emission(answer) for answer in answers]
        except Exception as error:  # other people's code
            self.machine.bus.crashes.append((self.rule.name, self.scope.path, traceback_of(error)))
            return
        self.machine.bus.settle(emissions)

    def _emission(self, answer: NodeReport) -> Emission:
        """The report of an answer. Raises TypeError, ValueError, LookupError for one that cannot be used."""
        if not isinstance(answer, NodeReport):
            raise TypeError(f"a rule on nodes returns a NodeReport or None, not {type(answer).__name__}")
        start, end = self.facts.span(answer.node)
        run = self.facts.best_run(answer.node)
        context = run.context if run is not None else self.machine.path.context(self.scope)
        report = Report(Span(start, end), answer.message, answer.level, answer.preview)
        event = NodeReported(context, self._fix(answer))
        return Emission(self.rule, report, event, self.scope, run.links if run is not None else ())

    def _fix(self, answer: NodeReport) -> Fix | None:
        edits: list[Edit] = sorted(answer.edits)
        if answer.replacement is not None:
            if edits:
                raise ValueError("a NodeReport has a replacement or edits, not both")
            edits = [self.tree.replaced(answer.node, answer.replacement)]
        if not edits:
            return None
        if not answer.fix_message:
            raise ValueError("a NodeReport with a fix needs a fix_message")
        ends = [0, *(edit.end for edit in edits)]
        if any(edit.start < before or edit.end < edit.start for before, edit in zip(ends, edits)):
            raise ValueError("the edits of a NodeReport overlap or end before they start")
        if edits[-1].end > len(self.scope.text):
            raise ValueError("an edit of a NodeReport ends behind the text")
        return Fix(answer.fix_message, "safe" if answer.safe else "unsafe", tuple(edits))
