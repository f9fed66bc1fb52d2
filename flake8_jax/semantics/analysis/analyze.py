"""A whole project, analysed: from lowered files to findings.

Entries, in this order: every module's top level; every function and method from an unknown, eager caller; every root
as its transform would run it; functions that libraries run staged by contract; nested functions that nothing has run.
"""

from __future__ import annotations

import functools
import gc
import sys
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.call_graph import CallGraph, FunctionName
from flake8_jax.core.findings import Finding, Fix, Positions, Step
from flake8_jax.core.recorded import RecordedFunction
from flake8_jax.core.registry import Fixer, Rule
from flake8_jax.core.stack import on_stack
from flake8_jax.knowledge import Knowledge, load
from flake8_jax.knowledge.history import load_histories
from flake8_jax.semantics.analysis.receivers import carries_arrays
from flake8_jax.semantics.analysis.recorded import run_recorded
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.boundary import tracify
from flake8_jax.semantics.domain.classes import find_in_class, mro_of
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.signatures import static_parameters
from flake8_jax.semantics.domain.stack import Link, Mode
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    Array,
    BoundMethod,
    ClassValue,
    FunctionValue,
    Instance,
    PartialValue,
    PropertyValue,
    StaticMethodValue,
    TransformedValue,
    Tree,
    Unknown,
    Value,
    canonical_key,
)
from flake8_jax.semantics.events.events import ApiUse, JittedMethod, KeyUse
from flake8_jax.semantics.interpreter import statements
from flake8_jax.semantics.interpreter.calls import call, call_function_value
from flake8_jax.semantics.interpreter.classes import generic_instance
from flake8_jax.semantics.machine.core import MAX_ENTRIES_PER_FILE, MAX_STATEMENTS_PER_ENTRY, Cut, Emission, Machine
from flake8_jax.semantics.machine.program import Modules
from flake8_jax.semantics.models import donation
from flake8_jax.semantics.models.custom_rules import check_missing, check_settings
from flake8_jax.semantics.models.transforms import run_root, stage_unknown
from flake8_jax.semantics.trackers.presumption import Presumption
from flake8_jax.semantics.trackers.process import Settings
from flake8_jax.semantics.trackers.records import FunctionRecord, Records
from flake8_jax.semantics.trackers.versions import Versions

STACK_BYTES = 512 * 1024 * 1024
RECURSION_LIMIT = 40_000
assert statements.__name__  # importing it fills in how statements run
assert donation.__name__  # and this one, how what a transform returned is called
CRASHES = (
    AttributeError, TypeError, ValueError, LookupError, AssertionError, ArithmeticError, NameError,
)  # fmt: skip
"""What a defect of the interpreter raises; it ends one entry, is reported, and the others still run."""
MAX_HEIRS = 4
"""An inherited method is run anew for so many subclasses."""


class SourceFile(msgspec.Struct, frozen=True):
    """One file to analyse. ``text``: as decoded, for repairs."""

    path: str
    module_name: str
    is_package: bool
    tree: ir.Module
    text: str


class AnalysisOptions(msgspec.Struct, frozen=True):
    """What to look for.

    transforms: the user's own transforms, qualified name → that of a JAX transform.
    required: the versions that the project supports of JAX and of other libraries, ``0.6.2`` or ``>=0.4.30,<0.8``, by
    import name.
    recorded: functions that a recorded run saw traced, to be run on arguments like those.
    entries: files whose top level, functions and roots are entered; None for all. The others can be imported and called,
    and are not even run where nothing that is entered imports them. What only their entries would show is not found, and
    what only these would take back stays.
    skipped: functions that are not entered, though their file is; entered code may call them.
    lazy: whether modules run only once a name of theirs is read; subclasses in the others are not known then.
    wanted: absolute paths whose findings matter; None for all.
    collect_calls: whether to tell which functions call which.
    fixers: repairs by rule name; fix_source: what fixers need to know of the file at a path.
    """

    rules: list[Rule]
    transforms: dict[str, str] = {}
    required: dict[str, str] = {}
    recorded: tuple[RecordedFunction, ...] = ()
    unroll_threshold: int = 32
    preview: bool = False
    entries: frozenset[str] | None = None
    skipped: frozenset[FunctionName] = frozenset()
    lazy: bool = False
    wanted: frozenset[str] | None = None
    collect_functions: bool = False
    collect_calls: bool = False
    fixers: dict[str, tuple[Fixer, ...]] = {}
    fix_source: Callable[[str], Any] | None = None


class Analysis(msgspec.Struct):
    """What was found. ``crashes``: (rule or ``engine``, path, traceback). cuts: code that was not analyzed to its end."""

    findings: list[Finding]
    functions: list[FunctionRecord]
    crashes: list[tuple[str, str, str]]
    counters: dict[str, int]
    calls: CallGraph | None = None
    cuts: tuple[Cut, ...] = ()


def analyse(files: list[SourceFile], options: AnalysisOptions) -> Analysis:
    """Analyse a project.

    The interpreter recurses with the program that it runs, so it gets a thread with a large stack.
    """

    def work() -> Analysis:
        was_on = gc.isenabled()
        gc.disable()  # nearly all that a run makes stays alive: looking for garbage finds little, again and again
        try:
            return _analyse(files, options)
        finally:
            if was_on:
                gc.enable()

    old_limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(old_limit, RECURSION_LIMIT))
    try:
        return on_stack(STACK_BYTES, work)
    finally:
        sys.setrecursionlimit(old_limit)


def _analyse(files: list[SourceFile], options: AnalysisOptions) -> Analysis:
    knowledge: Knowledge = load()
    if options.transforms:
        knowledge = knowledge.with_user_transforms(options.transforms)
    records = Records() if options.collect_functions else None
    machine = Machine(knowledge, tuple(options.rules), records)
    machine.unroll_threshold = options.unroll_threshold
    scopes = [ModuleScope(f.path, f.module_name, is_package=f.is_package, tree=f.tree, text=f.text) for f in files]
    machine.modules, machine.settings = Modules(machine, scopes), Settings()
    machine.modules.lazy = options.lazy
    if machine.wants(ApiUse):
        machine.versions = Versions(load_histories(), options.required, scopes, options.wanted)
        machine.versioned = machine.versions.parts
    if records is not None:
        machine.presumption = Presumption()
        records.holding = machine.presumption.holding
    machine.skipped, machine.calls = options.skipped, CallGraph() if options.collect_calls else None
    _run_entries(machine, scopes, options.entries)
    if options.recorded:
        run_recorded(machine, scopes, options.recorded, _guarded)
    if machine.presumption is not None:
        _run_presumed(machine)
    findings = _findings(machine, options)
    functions: list[FunctionRecord] = []
    if records is not None:
        shown = [s for s in scopes if options.wanted is None or s.path in options.wanted]
        functions = records.functions(shown)
    machine.counters["runs of functions"] = sum(machine.contexts.values())
    machine.counters["functions"] = len({fn for fn, _staged in machine.contexts})
    return Analysis(findings, functions, _unique_crashes(machine), machine.counters, machine.calls, _cuts(machine))


def _cuts(machine: Machine) -> tuple[Cut, ...]:
    return tuple(sorted(dict.fromkeys(machine.cuts), key=lambda cut: (cut.path, cut.function, cut.reason)))


def _unique_crashes(machine: Machine) -> list[tuple[str, str, str]]:
    return list(dict.fromkeys(machine.crashes))


# --- entries ------------------------------------------------------------------------------------------


def _is_skipped(m: Machine, value: Value) -> bool:
    """Whether a function, as it is or transformed, was asked not to be entered. One that was made while another ran is
    entered whatever it is: somebody wanted that other one to run."""
    function = _underlying(value)
    while isinstance(function, BoundMethod):
        function = function.func
    if not isinstance(function, FunctionValue) or function.closure is not None:
        return False
    return (function.scope.path, function.fn.qualname) in m.skipped


def _run_entries(m: Machine, scopes: list[ModuleScope], entries: frozenset[str] | None) -> None:
    def counts(scope: ModuleScope) -> bool:
        return entries is None or scope.path in entries

    for scope in filter(counts, scopes):
        _guarded(m, scope, functools.partial(m.modules.ensure_run, scope))
    decorated = {id(_underlying(tv.operand)) for tv, *_ in m.roots}
    for func in list(m.deferred_functions):
        if counts(func.scope) and func.owner is None and func.closure is None and id(func) not in decorated:
            _guarded(m, func.scope, functools.partial(_entry, m, func))
    for cls in list(m.modules.classes):
        if counts(cls.scope):
            _guarded(m, cls.scope, functools.partial(_class_entries, m, cls, decorated))
    if entries is not None:
        m.roots[:] = [root for root in m.roots if counts(root[2])]
        m.partial_roots[:] = [root for root in m.partial_roots if counts(root[2])]
        m.deferred_functions[:] = [func for func in m.deferred_functions if counts(func.scope)]
        m.modules.classes[:] = [cls for cls in m.modules.classes if counts(cls.scope)]
    _run_pending(m, counts)
    _check_custom_rules(m)


def _check_method(m: Machine, tv: TransformedValue, node: Any, scope: ModuleScope) -> None:
    """``@jax.jit`` on a method of a class that is no pytree: ``self`` is an argument that JAX cannot take."""
    function = tv.operand
    if not isinstance(function, FunctionValue) or function.owner is None or not m.wants(JittedMethod) or node is None:
        return
    owner, statics = function.owner, static_parameters(tv)
    family = [*mro_of(owner), *owner.subclasses]
    if owner.namespace.get(function.fn.name) is not tv or statics is None or 0 in statics[0]:
        return
    if any(cls.has_unknown_base or cls.external_bases or "pytree" in cls.traits for cls in family):
        return
    if owner.traits & {"namedtuple", "enum"} or not function.fn.params or function.fn.params[0].kind == "vararg":
        return
    m.emit(JittedMethod(m.context(scope), node, owner.node.name, function.fn.name))


def _check_custom_rules(m: Machine) -> None:
    """Do the derivative rules that the project sets fit, and is there one for every function that needs it?"""
    done: set[int] = set()
    for tv, name, args, node, scope in list(m.rule_settings):
        if id(node) not in done:
            done.add(id(node))
            _guarded(m, scope, functools.partial(check_settings, m, tv, name, args, node, scope))
    for tv, node, scope, chain, _staged in list(m.roots):
        if tv.name == "jax.jit":
            _guarded(m, scope, functools.partial(_check_method, m, tv, node, scope))
        if tv.fact.model == "custom" and not chain:
            _guarded(m, scope, functools.partial(check_missing, m, tv, node, scope))


def _run_pending(m: Machine, counts: Callable[[ModuleScope], bool]) -> None:
    """Roots, contracts and nested functions; running them may make more of each. What stands at the top level of a module
    that only ran because it was needed does not count."""
    roots_done = functions_done = classes_done = partials_done = 0
    while (
        roots_done < len(m.roots)
        or functions_done < len(m.deferred_functions)
        or classes_done < len(m.modules.classes)
        or partials_done < len(m.partial_roots)
    ):
        while roots_done < len(m.roots):
            tv, node, scope, chain, staged = m.roots[roots_done]
            roots_done += 1
            if (not tv.called and not staged) if chain else counts(scope) and not _is_skipped(m, tv):
                _guarded(m, scope, functools.partial(run_root, m, tv, node, Frame(None, scope, None), chain))
        while classes_done < len(m.modules.classes):
            cls = m.modules.classes[classes_done]
            classes_done += 1
            if not counts(cls.scope):
                continue
            _guarded(m, cls.scope, functools.partial(_contract_entries, m, cls))
        while partials_done < len(m.partial_roots):
            partial, node, scope, chain = m.partial_roots[partials_done]
            partials_done += 1
            if not chain and (not counts(scope) or (partial.args and _is_skipped(m, partial.args[0]))):
                continue
            _guarded(m, scope, functools.partial(_run_partial, m, partial, node, Frame(None, scope, None), chain))
        while functions_done < len(m.deferred_functions):
            func = m.deferred_functions[functions_done]
            functions_done += 1
            if (func.closure is not None or counts(func.scope)) and id(func.fn) not in m.called_functions:
                _guarded(m, func.scope, functools.partial(_entry, m, func))


def _run_partial(m: Machine, partial: PartialValue, node: Any, frame: Frame, chain: tuple[Link, ...]) -> None:
    """``partial(lax.scan, body)`` that no known code calls: its body is staged whatever the other arguments are."""
    operand = partial.args[0] if partial.args else next(iter(partial.kwargs.values()), partial)
    if isinstance(operand, FunctionValue) and id(operand.fn) in m.called_functions:
        return
    m.stack = list(chain)
    call(m, frame, node, partial, Arguments([], unknown_rest=True))
    m.stack = []


def _run_presumed(m: Machine) -> None:
    """Every function once more, as a library's users would stage it; see ``presumption``."""
    assert m.presumption is not None
    m.presumption.settle()
    m.contexts.clear()
    m.presumption.carriers.update(cls for cls in m.modules.classes if carries_arrays(m, cls))
    for func in list(m.deferred_functions):
        if func.closure is None and func.owner is None and m.presumption.applies_to(func.scope.path, func.fn):
            _guarded(m, func.scope, functools.partial(_presumed_entry, m, func, []))
    for cls in list(m.modules.classes):
        for value in list(cls.namespace.values()):
            _guarded(m, cls.scope, functools.partial(_presumed_method, m, cls, value))
    for func in list(m.presumption.rules):
        _guarded(m, func.scope, functools.partial(_presumed_entry, m, func, []))
    for func in list(m.deferred_functions):
        if func.closure is not None and not m.contexts.keys() & {(id(func.fn), True), (id(func.fn), False)}:
            if m.presumption.applies_to(func.scope.path, func.fn):
                _guarded(m, func.scope, functools.partial(_presumed_entry, m, func, []))


def _presumed_method(m: Machine, cls: ClassValue, value: Value) -> None:
    """A method; ``self`` is bare in a constructor. Whether its leaves would be traced, only a caller could say."""
    target = _method_function(value)
    assert m.presumption is not None
    if target is None or not m.presumption.applies_to(cls.scope.path, target.fn):
        return
    first: list[Value] = [Instance(cls, exact=False)]
    if isinstance(value, StaticMethodValue):
        first = [cls] if value.to_class else []
    elif target.fn.name not in ("__init__", "__post_init__", "__new__", "setup", "tree_unflatten"):
        first = [_presumed_receiver(m, cls)]
    _presumed_entry(m, target, first)


def _presumed_receiver(m: Machine, cls: ClassValue) -> Value:
    """``self``: of a pytree, what surely are arrays among its leaves are tracers."""
    known = generic_instance(m, cls)
    assert m.presumption is not None
    if not isinstance(known, Instance) or "pytree" not in cls.traits:
        return known
    made = Instance(cls, exact=False)
    if cls in m.presumption.carriers:
        m.presumption.holding.add(made)
    made.slots.update(known.slots)
    for name, value in known.slots.items():
        if name not in cls.static_names and isinstance(value, (Array, Tree)):
            made.slots[name] = tracify(value, ABSTRACT)
    return made


def _presumed_entry(m: Machine, func: FunctionValue, first: list[Value]) -> None:
    frame = Frame(None, func.scope, None)
    m.traces += 1
    m.mode = Mode(True, True, m.traces, True)
    args = Arguments(first, unknown_rest=True)
    call_function_value(m, frame, None, func, args, kind="entry", text=f"{func.fn.qualname} is called")


def _method_function(value: Value) -> FunctionValue | None:
    """The function behind something found in a class body."""
    if isinstance(value, StaticMethodValue):
        value = value.func
    if isinstance(value, PropertyValue):
        value = value.fget
    return value if isinstance(value, FunctionValue) else None


def _underlying(value: Value) -> Value:
    while isinstance(value, TransformedValue):
        value = value.operand
    return value


def _guarded(m: Machine, scope: ModuleScope, run: Callable[[], object]) -> None:
    """Run one entry; a defect in the interpreter is reported and costs that entry only."""
    m.step_limit = MAX_STATEMENTS_PER_ENTRY + len(scope.tree.line_starts)
    if m.steps_of_file.get(scope.path, 0) > MAX_ENTRIES_PER_FILE * m.step_limit:
        m.cuts.append(Cut(scope.path, "", "its functions run too many statements"))
        return
    try:
        m.isolated(scope.path, run, scope.process)
    except CRASHES as error:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        m.crashes.append(("engine", scope.path, text))


def _is_covered(m: Machine, fn: ir.Function) -> bool:
    """Known callers ran all of the function: one that nobody knows would add nothing but vaguer values.

    Not so where a caller's arguments decided a test: there are lines that only others would run.
    """
    if m.records is not None or id(fn) not in m.callees or id(fn) in m.decided:
        return False
    return (id(fn), False) in m.contexts or (id(fn), True) in m.contexts


def _entry(m: Machine, func: FunctionValue) -> None:
    """Run a function from a caller that nobody knows, eagerly."""
    if _is_covered(m, func.fn) or _is_skipped(m, func):
        return
    frame = Frame(None, func.scope, None)
    args = Arguments([], unknown_rest=True)
    if func.owner is not None and func.fn.params:
        args = Arguments([generic_instance(m, func.owner)], unknown_rest=True)
    call_function_value(m, frame, None, func, args, kind="entry", text=f"{func.fn.qualname} is called")


def _class_entries(m: Machine, cls: ClassValue, decorated: set[int]) -> None:
    """Run the methods of a class on a generic instance; inherited ones too, for their overrides."""
    self_value = generic_instance(m, cls)
    frame = Frame(None, cls.scope, None)
    for owner in mro_of(cls):
        if owner is not cls and (len(owner.subclasses) > MAX_HEIRS or not cls.namespace):
            continue
        for name, value in list(owner.namespace.items()):
            if owner is not cls and (find_in_class(cls, name) or (owner, None))[0] is not owner:
                continue
            target = _method_function(value)
            if target is None or id(target) in decorated or _is_covered(m, target.fn) or _is_skipped(m, target):
                continue
            first: list[Value] = [self_value]
            if isinstance(value, StaticMethodValue):
                first = [cls] if value.to_class else []
            args = Arguments(first, unknown_rest=True)
            call_function_value(m, frame, None, target, args, kind="entry", text=f"{target.fn.qualname} is called")


def _contract_entries(m: Machine, cls: ClassValue) -> None:
    """Methods that a library runs staged on the user's subclass."""
    for name in cls.external_bases:
        fact = m.knowledge.class_(name)
        for method in fact.staged_methods if fact is not None else ():
            found = cls.namespace.get(method)
            if isinstance(found, FunctionValue) and not _is_skipped(m, found):
                bound = BoundMethod(found, generic_instance(m, cls))
                stage_unknown(m, Frame(None, cls.scope, None), cls.node, name, bound, method)


# --- findings -----------------------------------------------------------------------------------------


def _findings(m: Machine, options: AnalysisOptions) -> list[Finding]:
    best: dict[tuple[str, str, int], Emission] = {}
    found: list[Finding] = []
    for emission in m.settled.values():
        path = emission.scope.path
        if options.wanted is not None and path not in options.wanted:
            continue
        if emission.report.preview and not options.preview:
            continue
        if emission.report.unless and m.cuts:
            continue  # what was not run might have shown it
        if emission.report.unless and m.is_noted(emission.report.unless, path, emission.report.at.start):
            continue
        if emission.report.given and not m.is_noted(emission.report.given, path, emission.report.at.start):
            continue
        key = (emission.rule.code, path, emission.report.at.start)
        other = best.get(key)
        if other is None or _merit(m, emission) > _merit(m, other):
            best[key] = emission
    told = _told_keys(best.values())
    for emission in best.values():
        if _is_told(emission, told):
            continue
        report, rule, path = emission.report, emission.rule, emission.scope.path
        found.append(
            Finding(
                code=rule.code,
                name=rule.name,
                level=report.level or rule.level,
                path=path,
                start=report.at.start,
                end=report.at.end,
                message=report.message,
                evidence=_evidence(emission),
                fix=_fix(m, emission, options),
            )
        )
    found.sort(key=lambda f: (f.path, f.start, f.code))
    return found


def _told_keys(emissions: Iterable[Emission]) -> dict[int, Emission]:
    """The first report on each key at which the key itself is in sight."""
    found: dict[int, Emission] = {}
    for emission in sorted(emissions, key=lambda e: (e.scope.path, e.report.at.start)):
        if isinstance(emission.event, KeyUse) and emission.event.key_node is not None:
            found.setdefault(id(canonical_key(emission.event.key)), emission)
    return found


def _is_told(emission: Emission, told: dict[int, Emission]) -> bool:
    """An object was given a key that collides, which is reported where it was given. That the object uses it again
    and again is the same defect."""
    event = emission.event
    if not isinstance(event, KeyUse) or event.key_node is not None or event.in_loop:
        return False
    first = told.get(id(canonical_key(event.key)))
    return first is not None and first.scope is emission.scope


_GRAVITY = {"error": 2, "warning": 1, "upgrade": 0}


def _merit(m: Machine, emission: Emission) -> tuple[int, bool]:
    """Of several reports at one place the gravest counts, and then one whose chain is whole: it does not start in a
    function that others are known to call."""
    start = emission.chain[0] if emission.chain else None
    whole = start is None or start.kind != "entry" or id(start.fn) not in m.callees
    return _GRAVITY[emission.report.level or emission.rule.level], whole


def _fix(m: Machine, emission: Emission, options: AnalysisOptions) -> Fix | None:
    fixers = options.fixers.get(emission.rule.name, ())
    if not fixers or options.fix_source is None:
        return None
    scope = emission.scope
    source = options.fix_source(scope.path)
    for fixer in fixers:
        try:
            fix = fixer.build(emission.event, source)
        except RecursionError:
            m.cuts.append(Cut(scope.path, "", f"a fix of {emission.rule.code} is nested too deeply"))
            continue
        except CRASHES as error:
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            m.crashes.append((f"fixer of {emission.rule.name}", scope.path, text))
            continue
        if fix is not None:
            return fix
    return None


def _evidence(emission: Emission) -> tuple[Step, ...]:
    """The chain as a reader wants it: from the root that stages on; for eager code, the calls."""
    chain = emission.chain
    start = next((i for i, link in enumerate(chain) if link.kind in ("root", "contract")), None)
    shown = chain[start:] if start is not None else chain
    steps: list[Step] = []
    previous: Link | None = None
    for link in shown:
        if link.node is None:
            continue
        if previous is not None and previous.node is link.node and previous.kind == "root" and link.kind == "call":
            previous = link
            continue
        positions = Positions(link.scope.tree.line_starts)
        steps.append(
            Step(link.scope.path, link.node.start, positions.row(link.node.start), link.kind, link.function, link.text)
        )
        previous = link
    return tuple(steps)


__all__ = ["Analysis", "AnalysisOptions", "FunctionRecord", "SourceFile", "Unknown", "analyse"]
