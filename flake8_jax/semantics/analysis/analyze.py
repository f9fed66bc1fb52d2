"""The analysis of a whole program: from lowered files and a request to findings.

Vocabulary
----------
reported    a finding with the event that it is about; fixers make fixes of both (``findings``).
crash       a defect of the interpreter or of a rule: what failed, the path, the traceback.
cut         code that was not analyzed to its end, and why.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from flake8_jax.core.call_graph import CallGraph
from flake8_jax.core.collector import collector_paused
from flake8_jax.core.findings import Finding
from flake8_jax.core.registry import Rule
from flake8_jax.core.stack import run_deep
from flake8_jax.knowledge import load
from flake8_jax.knowledge.call_signatures import load_signatures
from flake8_jax.knowledge.history import load_histories
from flake8_jax.knowledge.requirement import has_upper_bound
from flake8_jax.semantics.analysis.assembly import assemble
from flake8_jax.semantics.analysis.entries import read_files, run_entries
from flake8_jax.semantics.analysis.findings import Reported, report_findings
from flake8_jax.semantics.analysis.node_rules import observe_nodes, run_node_rules
from flake8_jax.semantics.analysis.presumed import run_presumed
from flake8_jax.semantics.analysis.recorded import run_recorded
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.semantics.analysis.root_checks import check_derivative_rules, check_roots
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.events.events import ApiUse, CallMismatch, CapturedConstant, KeyUse, SharedKey
from flake8_jax.semantics.events.refused import ArrayDefault, AugmentedVariable, PlainContainer, RelativePath
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.limits import INSPECT_CAPS, Cut
from flake8_jax.semantics.trackers.call_signatures import CallSignatures
from flake8_jax.semantics.trackers.captures import Captures
from flake8_jax.semantics.trackers.checkpoint_paths import CheckpointPaths
from flake8_jax.semantics.trackers.eager_steps import EagerSteps
from flake8_jax.semantics.trackers.keys import Keys
from flake8_jax.semantics.trackers.presumption import Presuming, Presumption
from flake8_jax.semantics.trackers.records import FunctionRecord, Recording, Records
from flake8_jax.semantics.trackers.runs import Runs
from flake8_jax.semantics.trackers.unrolling import LoopNests
from flake8_jax.semantics.trackers.versions import ApiUses, Required


class Analysis(msgspec.Struct, frozen=True):
    """What was found. functions: what ``inspect`` shows. calls: if the request asks for them."""

    reports: list[Reported]
    functions: list[FunctionRecord]
    crashes: list[tuple[str, str, str]]
    counters: dict[str, int]
    calls: CallGraph | None = None
    cuts: tuple[Cut, ...] = ()

    @property
    def findings(self) -> list[Finding]:
        """The findings without their fixes."""
        return [one.finding for one in self.reports]


def analyze(files: Sequence[SourceFile], request: AnalysisRequest, rules: Sequence[Rule]) -> Analysis:
    """Analyze a program with those of the rules that the request asks for."""
    chosen = tuple(rule for rule in rules if request.codes is None or rule.code in request.codes)

    def work() -> Analysis:
        with collector_paused():
            return _analyze(files, request, chosen)

    return run_deep(work)


def _analyze(files: Sequence[SourceFile], request: AnalysisRequest, rules: tuple[Rule, ...]) -> Analysis:
    scopes = [ModuleScope(f.path, f.module_name, is_package=f.is_package, tree=f.tree, text=f.text) for f in files]
    on_nodes = tuple(rule for rule in rules if rule.visits_nodes)
    machine = _machine_for(scopes, request, tuple(rule for rule in rules if not rule.visits_nodes))
    observe_nodes(machine, scopes, on_nodes, request)
    run_entries(machine, scopes, request.entries, lambdas=request.preview)
    if request.preview:
        read_files(machine, scopes, request.entries)
    check_derivative_rules(machine)
    check_roots(machine)
    if request.recorded:
        run_recorded(machine, scopes, request.recorded)
    if machine.trackers[Presuming].presumption is not None:
        run_presumed(machine)
    run_node_rules(machine, scopes, on_nodes)
    reports = report_findings(machine, request)
    functions: list[FunctionRecord] = []
    records = machine.trackers[Recording].records
    if records is not None:
        functions = records.functions([s for s in scopes if request.wanted is None or s.path in request.wanted])
    runs, counters = machine.trackers[Runs], machine.bus.counters
    counters["runs of functions"] = sum((*runs.contexts.values(), *runs.apart.values()))
    counters["functions"] = len({fn for fn, _staged, _member in (*runs.contexts, *runs.apart)})
    crashes = list(dict.fromkeys(machine.bus.crashes))
    cuts = sorted(dict.fromkeys(machine.worklist.cuts), key=lambda cut: (cut.path, cut.function, cut.reason))
    return Analysis(reports, functions, crashes, counters, runs.calls, tuple(cuts))


_VERSIONED = (ApiUse, ArrayDefault, AugmentedVariable, CallMismatch, PlainContainer, RelativePath)
_TAKING_NO_LISTS = (0, 3, 25)
"""In this release all of ``jax.numpy`` refuses lists; 0.3.12 still converted some, as ``linalg.norm`` (jax/_src/numpy)."""


def _mark_old(scopes: list[ModuleScope], required: Required) -> None:
    """Note which files are only for releases of JAX that may convert lists."""
    known: dict[int, bool] = {}
    for scope in scopes:
        asked = required.of(scope.path)
        if not any(has_upper_bound(bound) for bound in asked.values()):
            continue
        if id(asked) not in known:
            known[id(asked)] = not load_histories().supports(asked)["jax"].reaches(_TAKING_NO_LISTS)
        scope.converts_lists = known[id(asked)]


def _machine_for(scopes: list[ModuleScope], request: AnalysisRequest, rules: tuple[Rule, ...]) -> Machine:
    """A machine that has run nothing yet, with the state that the request needs."""
    knowledge = load()
    if request.transforms:
        knowledge = knowledge.with_user_transforms(request.transforms)
    machine = assemble(knowledge, scopes, rules)
    machine.program.x64 = True if request.x64 else None
    machine.program.lazy, machine.program.goes_on = request.lazy, request.preview
    machine.worklist.skipped = request.skipped
    machine.trackers[LoopNests].threshold = request.unroll_threshold
    if any(machine.bus.wants(event) for event in _VERSIONED):
        required = Required(request.required, request.required_in)
        machine.trackers[ApiUses].open(load_histories(), required, scopes, request.wanted)
    if request.required or request.required_in:
        _mark_old(scopes, Required(request.required, request.required_in))
    if machine.bus.wants(CallMismatch):
        machine.trackers[CallSignatures].open(load_signatures())
    if machine.bus.wants(RelativePath):
        machine.trackers[CheckpointPaths].leads = {}
    bus = machine.bus
    machine.trackers[EagerSteps].previews = machine.trackers[CallSignatures].previews = request.preview
    machine.trackers[Captures].data_sets = request.preview and bus.wants(CapturedConstant)
    machine.trackers[Keys].conventions = request.preview and (bus.wants(KeyUse) or bus.wants(SharedKey))
    runs = machine.trackers[Runs]
    runs.calls = CallGraph() if request.collect_calls else None
    if request.collect_functions:
        runs.caps = INSPECT_CAPS
        presumption = machine.trackers[Presuming].presumption = Presumption()
        machine.trackers[Recording].records = Records(presumption.holding)
    elif request.preview and any(rule.presumed for rule in rules):
        machine.trackers[Presuming].presumption = Presumption()
    return machine
