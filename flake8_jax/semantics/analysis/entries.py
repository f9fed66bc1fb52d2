"""The entries of a program: where the interpreter starts, and in which order.

Vocabulary
----------
entry       one run that starts here. A defect of the interpreter ends one entry, and the others still run.
entered     a file whose entries run (``AnalysisRequest.entries``); other files only run where something needs them.
covered     a function that known callers ran as a whole: an unknown caller would add nothing but vaguer values.
contract    a library class runs this method of a subclass as traced code.

Order: the top level of each entered file; its functions, then the methods of its classes, from an unknown caller outside
tracing; then, as long as runs add more of them, transform calls, contracts, partial transforms, and functions that nothing
has run. ``root_checks`` follows.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from flake8_jax.core import ir
from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import DEFECTS, traceback_of
from flake8_jax.semantics.domain.arguments import Arguments, CallingContext
from flake8_jax.semantics.domain.classes import find_in_class, mro_of
from flake8_jax.semantics.domain.code import statement_at
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.signatures import underlying
from flake8_jax.semantics.domain.stack import Link
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    ClassValue,
    FunctionValue,
    PartialValue,
    PropertyValue,
    StaticMethodValue,
    TransformedValue,
    Value,
)
from flake8_jax.semantics.events.files import FileRead
from flake8_jax.semantics.interpreter.classes import generic_instance
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.interpreter.running import call_function_value
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.limits import MAX_ENTRIES_PER_FILE, MAX_STATEMENTS_PER_ENTRY, Cut
from flake8_jax.semantics.models.staging import Contract, stage_unknown
from flake8_jax.semantics.models.transforms import run_root
from flake8_jax.semantics.trackers.host_buffers import HostBuffers
from flake8_jax.semantics.trackers.process import Process
from flake8_jax.semantics.trackers.records import Recording
from flake8_jax.semantics.trackers.runs import Runs

MAX_HEIRS = 4
"""An inherited method is run again for so many subclasses."""
MAX_MEMBERS = 64
"""A root that calls crowded methods is run again for so many subclasses."""

T = TypeVar("T")


class _Growing(Generic[T]):
    """The items of a list that were not handled yet; handling one may append more. False if there are none."""

    def __init__(self, items: list[T]) -> None:
        self._items = items
        self._done = 0

    def __bool__(self) -> bool:
        return self._done < len(self._items)

    def __iter__(self) -> Iterator[T]:
        while self:
            self._done += 1
            yield self._items[self._done - 1]


def run_guarded(m: Machine, scope: ModuleScope, run: Callable[[], object]) -> None:
    """Run one entry; a defect in the interpreter is reported and costs that entry only."""
    m.path.step_limit = MAX_STATEMENTS_PER_ENTRY + len(scope.tree.line_starts)
    if m.worklist.steps_of_file.get(scope.path, 0) > MAX_ENTRIES_PER_FILE * m.path.step_limit:
        m.worklist.cuts.append(Cut(scope.path, "", "its functions run too many statements"))
        return

    def entry() -> None:
        if scope.process is not None:  # functions run after the top level of their module
            m.trackers[Process].points = dict(scope.process)
        run()

    try:
        m.isolated(scope.path, entry)
    except DEFECTS as error:
        m.bus.crashes.append(("engine", scope.path, traceback_of(error)))


def run_entries(
    m: Machine, scopes: list[ModuleScope], entries: frozenset[str] | None, *, lambdas: bool = False
) -> None:
    """Run all entries of the files in ``entries`` (None: of all files). lambdas: those at the top level of modules as well
    that no known code has called, as in ``ACTIVATIONS = {"relu": lambda x: …}``."""

    def is_entered(scope: ModuleScope) -> bool:
        return entries is None or scope.path in entries

    for scope in filter(is_entered, scopes):
        run_guarded(m, scope, functools.partial(m.program.ensure_run, scope))
    decorated = {id(_underlying(tv.operand)) for tv, *_ in m.worklist.roots}
    for func in list(m.worklist.deferred_functions):
        if is_entered(func.scope) and func.owner is None and func.closure is None and id(func) not in decorated:
            run_guarded(m, func.scope, functools.partial(_run_function, m, func))
    for cls in list(m.program.classes):
        if is_entered(cls.scope):
            run_guarded(m, cls.scope, functools.partial(_run_methods, m, cls, decorated))
    if entries is not None:
        m.worklist.roots[:] = [root for root in m.worklist.roots if is_entered(root[2])]
        m.worklist.partial_roots[:] = [root for root in m.worklist.partial_roots if is_entered(root[2])]
        m.worklist.deferred_functions[:] = [func for func in m.worklist.deferred_functions if is_entered(func.scope)]
        m.program.classes[:] = [cls for cls in m.program.classes if is_entered(cls.scope)]
    _run_pending(m, is_entered, lambdas=lambdas)


# --- what runs ----------------------------------------------------------------------------------------


def _run_pending(m: Machine, is_entered: Callable[[ModuleScope], bool], *, lambdas: bool) -> None:
    """Run roots, contracts, partial transforms and nested functions; running them may make more of each."""
    roots, classes = _Growing(m.worklist.roots), _Growing(m.program.classes)
    partials, functions = _Growing(m.worklist.partial_roots), _Growing(m.worklist.deferred_functions)
    outer = _Growing(m.worklist.outer_lambdas if lambdas else [])
    while roots or functions or classes or partials or outer:
        for tv, node, scope, chain, staged in roots:
            wanted = (
                (not tv.called and not staged and not _is_never_named(m, tv) and not _is_never_read(node, chain[-1].fn))
                if chain
                else _is_wanted(m, is_entered, scope, tv) and not _is_never_read_in_cells(node, scope)
            )
            if wanted and not _is_dared(m, tv) and not _is_tried(m, tv):
                for member in _members(m, tv):
                    m.trackers[Runs].member = member
                    run_guarded(
                        m, scope, functools.partial(run_root, m, tv, node, Frame(None, scope, None), chain, member)
                    )
                m.trackers[Runs].member = None
        for cls in filter(lambda cls: is_entered(cls.scope), classes):
            run_guarded(m, cls.scope, functools.partial(_run_contracts, m, cls))
        for partial, node, scope, chain in partials:
            if chain or _is_wanted(m, is_entered, scope, partial.args[0] if partial.args else None):
                frame = Frame(None, scope, None)
                run_guarded(m, scope, functools.partial(_run_partial, m, partial, node, frame, chain))
        for func in functions:
            if func.closure is not None or is_entered(func.scope):
                _run_uncalled(m, func)
        for func in outer:
            if is_entered(func.scope):
                _run_uncalled(m, func)


def read_files(m: Machine, scopes: list[ModuleScope], entries: frozenset[str] | None) -> None:
    """All entries have run: the rules that read whole files get those in ``entries`` (None: all)."""
    files = tuple(scopes)
    for scope in scopes:
        if scope.tree.body and (entries is None or scope.path in entries) and m.bus.wants(FileRead):
            context = m.path.context(scope)
            run_guarded(m, scope, functools.partial(m.bus.emit, FileRead(context, scope.tree.body[0], files)))


def _is_never_named(m: Machine, value: Value) -> bool:
    """A function that nothing but transforms decorate, in another function, which never reads its name: no code calls it."""
    function, transforms = value, 0
    while isinstance(function, TransformedValue):
        function, transforms = function.operand, transforms + 1
    if not isinstance(function, FunctionValue) or function.closure is None or function.closure.fn is None:
        return False
    around, fn = function.closure.fn, function.fn
    if function.owner is not None or fn.is_lambda or fn.name in (*around.global_names, *around.nonlocal_names):
        return False
    if id(around) not in m.worklist.named_in:
        m.worklist.named_in[id(around)] = _named_in(around)
    names, decorators = m.worklist.named_in[id(around)]
    return fn.name not in names and decorators.get(id(fn), transforms) == transforms


def _is_never_read(made: Any, function: ir.Function | None) -> bool:
    """What a transform returns is bound to a variable of the function, and no code there reads it."""
    statement = statement_at(function.body, made) if function is not None else None
    if function is None or not isinstance(statement, ir.Assign) or statement.value is not made:
        return False
    names = {target.id for target in statement.targets if isinstance(target, ir.Name)}
    if len(names) < len(statement.targets) or not names.isdisjoint((*function.global_names, *function.nonlocal_names)):
        return False
    bound = {id(target) for target in statement.targets}
    nodes = (node for one in function.body for node in walk(one))
    return not any(isinstance(node, ir.Name) and node.id in names and id(node) not in bound for node in nodes)


def _is_never_read_in_cells(made: Any, scope: ModuleScope) -> bool:
    """In a notebook, which no code imports, what a transform returns is bound to names that stand nowhere else."""
    statement = statement_at(scope.tree.body, made) if scope.path.endswith(SUFFIX) else None
    if not isinstance(statement, ir.Assign) or statement.value is not made:
        return False
    names = [target.id if isinstance(target, ir.Name) else "" for target in statement.targets]
    return all(name and len(re.findall(rf"\b{name}\b", scope.text)) == 1 for name in names)


def _named_in(function: ir.Function) -> tuple[frozenset[str], dict[int, int]]:
    """The names in the body of a function, and how many decorators each function in it has."""
    nodes = [node for statement in function.body for node in walk(statement)]
    names = frozenset([node.id for node in nodes if isinstance(node, ir.Name)])
    return names, {id(n.function): len(n.decorators) for n in nodes if isinstance(n, ir.FunctionDef)}


def _is_wanted(
    m: Machine, is_entered: Callable[[ModuleScope], bool], scope: ModuleScope, operand: Value | None
) -> bool:
    """Whether a root at the top level of a module counts: the module is entered, and did not only run because it was
    needed; and the request does not skip the operand."""
    return is_entered(scope) and (operand is None or not _is_skipped(m, operand))


def _members(m: Machine, tv: TransformedValue) -> Iterator[ClassValue | None]:
    """On instances of which classes a root runs that is a method: of its own (None), and of each subclass that has a crowded
    method, so that what a family of environments has for ``step_env`` is known of every member."""
    yield None
    owner = tv.operand.owner if isinstance(tv.operand, FunctionValue) else None
    if owner is None or owner not in m.worklist.crowded:
        return
    known: dict[ClassValue, None] = {}
    for name in m.worklist.crowded[owner]:
        known.update((heir, None) for heir, _ in m.program.overrides_of(owner, name, limit=MAX_MEMBERS))
    yield from itertools.islice(known, MAX_MEMBERS)


def _run_uncalled(m: Machine, func: FunctionValue) -> None:
    if id(func.fn) not in m.trackers[Runs].called_functions and not _is_never_named(m, func):
        run_guarded(m, func.scope, functools.partial(_run_function, m, func))


def _run_function(m: Machine, func: FunctionValue) -> None:
    """Run a function from an unknown caller, outside tracing."""
    if _is_covered(m, func.fn) or _is_skipped(m, func) or _is_dared(m, func):
        return
    first = [generic_instance(m, func.owner)] if func.owner is not None and func.fn.params else []
    enter(m, func, first)


def _run_methods(m: Machine, cls: ClassValue, decorated: set[int]) -> None:
    """Run the methods of a class on a generic instance; inherited ones too, for their overrides."""
    self_value = generic_instance(m, cls)
    frame = Frame(None, cls.scope, None)
    process = m.trackers[Process]
    made = dict(process.points)
    for value in _methods_to_enter(m, cls):
        target = function_in_class(value)
        if target is None or id(target) in decorated or _is_covered(m, target.fn):
            continue
        if _is_skipped(m, target) or _is_dared(m, target):
            continue
        process.points = dict(made)  # the order of lines is not the order of calls
        m.trackers[HostBuffers].begin()
        enter(m, target, first_argument(cls, value, self_value), frame)
        if target.fn.name in _SETTING_UP:
            made = process.points


_SETTING_UP = frozenset({"__init__", "__post_init__", "setUp", "setUpClass", "setup_class", "setup_method", "setup"})
"""Methods that run before the others."""


def _methods_to_enter(m: Machine, cls: ClassValue) -> Iterator[Value]:
    """What a class has in its namespace, and what it inherits from classes with few subclasses: but for the double of a
    test, which is there for what the test calls."""
    is_double = cls.scope.is_test
    for owner in mro_of(cls):
        if is_double and not owner.scope.is_test:
            continue
        if owner is not cls and (len(m.program.subclasses(owner)) > MAX_HEIRS or not cls.namespace):
            continue
        for name, value in list(owner.namespace.items()):
            if owner is cls or (find_in_class(cls, name) or (owner, None))[0] is owner:
                yield value


def first_argument(cls: ClassValue, value: Value, self_value: Value) -> list[Value]:
    """What Python passes first to a method that was found as ``value`` in the class."""
    if isinstance(value, StaticMethodValue):
        return [cls] if value.to_class else []
    return [self_value]


def enter(m: Machine, func: FunctionValue, first: list[Value], frame: Frame | None = None) -> None:
    """Call a function with these arguments first, and the rest unknown."""
    frame = frame or Frame(None, func.scope, None)
    args = Arguments(first, unknown_rest=True)
    call_function_value(m, frame, None, func, args, CallingContext("entry", f"{func.fn.qualname} is called"))


def _run_contracts(m: Machine, cls: ClassValue) -> None:
    """Run the methods that a library runs staged on the user's subclass."""
    for name in cls.external_bases:
        fact = m.program.knowledge.class_(name)
        for method in fact.staged_methods if fact is not None else ():
            found = cls.namespace.get(method)
            if isinstance(found, FunctionValue) and not _is_skipped(m, found) and not _is_eager(m, found):
                bound = BoundMethod(found, generic_instance(m, cls))
                roots, reports = len(m.worklist.roots), len(m.bus.emissions)
                stage_unknown(m, Frame(None, cls.scope, None), cls.node, Contract(name, method, bound))
                if any(_compiles(tv, chain, found) for tv, _, _, chain, _ in m.worklist.roots[roots:]):
                    m.bus.drop_errors(reports)


def _compiles(tv: TransformedValue, chain: tuple[Link, ...], method: FunctionValue) -> bool:
    """The method itself compiles a function, as the loop around a step does: no code compiles such a method as well."""
    return bool(tv.fact.donates) and bool(chain) and chain[-1].fn is method.fn


def _is_eager(m: Machine, method: FunctionValue) -> bool:
    """A script runs the method itself, and the project stages nothing: no code traces it."""
    worklist = m.worklist
    return id(method.fn) in m.trackers[Runs].scripted and not worklist.roots and not worklist.partial_roots


def _run_partial(m: Machine, partial: PartialValue, node: Any, frame: Frame, chain: tuple[Link, ...]) -> None:
    """``partial(lax.scan, body)`` that no known code calls: its body is staged whatever the other arguments are."""
    operand = partial.args[0] if partial.args else next(iter(partial.kwargs.values()), partial)
    if isinstance(operand, FunctionValue) and id(operand.fn) in m.trackers[Runs].called_functions:
        return
    m.path.stack = list(chain)
    call(m, frame, node, partial, Arguments([], unknown_rest=True))
    m.path.stack = []


# --- what is left out -----------------------------------------------------------------------------------


def function_in_class(value: Value) -> FunctionValue | None:
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


def _is_skipped(m: Machine, value: Value) -> bool:
    """Whether the request skips a function, as it is or transformed. A function that was made while another ran is never
    skipped: the request wants that other function to run."""
    function = _underlying(value)
    while isinstance(function, BoundMethod):
        function = function.func
    if not isinstance(function, FunctionValue) or function.closure is not None:
        return False
    return (function.scope.path, function.fn.qualname) in m.worklist.skipped


def _is_dared(m: Machine, value: Value) -> bool:
    """All known calls of a function expect it to raise (see ``Runs.is_dared``)."""
    function = underlying(value)
    return isinstance(function, FunctionValue) and m.trackers[Runs].is_dared(id(function.fn))


def _is_tried(m: Machine, form: Value) -> bool:
    """All known calls of a transformed function stand in a ``try``, or in blocks that are to raise. Other forms of the same
    function are judged by themselves."""
    runs = m.trackers[Runs]
    return form in runs.tried and form not in runs.sound


def _is_covered(m: Machine, fn: ir.Function) -> bool:
    """Whether known callers ran all of the function.

    Not so where a caller's arguments decided a test: there are lines that only others would run.
    """
    runs = m.trackers[Runs]
    if m.trackers[Recording].records is not None or id(fn) not in runs.callees or id(fn) in runs.decided:
        return False
    return runs.has_run(id(fn), staged=False) or runs.has_run(id(fn), staged=True)
