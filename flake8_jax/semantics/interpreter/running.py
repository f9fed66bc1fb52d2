"""Running a whole body: a function on bound arguments, the top level of a module.

Vocabulary
----------
run         of one function body, in a frame of its own; an equal run is remembered and repeated (see ``summaries``).
context     a function, staged or eager: it is run on so many different inputs before its result is unknown.
captured    what a function closes over, from enclosing functions.

Every module starts with a process that has passed no point yet (see ``trackers.process``).

Limitations: recursion beyond the second call, unless a constant argument counts down.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.cells import is_raising
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import CALLED, Arguments, Call, CallingContext, is_written
from flake8_jax.semantics.domain.classes import mro_of
from flake8_jax.semantics.domain.code import names_read
from flake8_jax.semantics.domain.conditions import branch_condition, labelled
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.signatures import binding_error
from flake8_jax.semantics.domain.stack import NORMAL, RETURN, Flow, Link, Mode
from flake8_jax.semantics.domain.values import (
    GRAD,
    NONE,
    RAISES,
    Array,
    ClassValue,
    Const,
    FunctionValue,
    GeneratorValue,
    StaticMethodValue,
    Unknown,
    Value,
    holds_tracer,
)
from flake8_jax.semantics.events.events import CachedCall, Hashing
from flake8_jax.semantics.events.facts import bound_axis_fact
from flake8_jax.semantics.interpreter.binding import bind
from flake8_jax.semantics.interpreter.closures import functions_behind, held_of_arguments, held_of_captures
from flake8_jax.semantics.interpreter.operations import describes_shapes
from flake8_jax.semantics.interpreter.stopwatches import start_timed_cell
from flake8_jax.semantics.interpreter.summaries import (
    Inputs,
    call_text,
    effects_of,
    generalized,
    holds_fresh_closure,
    inputs_of,
    remembered,
    repeat,
    shared_by_elements,
)
from flake8_jax.semantics.interpreter.usage import as_used
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import run_block
from flake8_jax.semantics.machine.limits import MAX_CALL_DEPTH, MAX_STEPS_PER_ENTRY
from flake8_jax.semantics.machine.tracker import Tracker
from flake8_jax.semantics.trackers.clocks import track_lost
from flake8_jax.semantics.trackers.freshness import Freshness, caches_result
from flake8_jax.semantics.trackers.keys import Keys
from flake8_jax.semantics.trackers.late_binding import track_run
from flake8_jax.semantics.trackers.presumption import Presuming, Presumption
from flake8_jax.semantics.trackers.process import Process, new_process
from flake8_jax.semantics.trackers.recipes import mark_tangents
from flake8_jax.semantics.trackers.replicas import Replicas, track_call
from flake8_jax.semantics.trackers.runs import Runs, track_called, track_dared, track_wrapped


def run_module(m: Machine, scope: ModuleScope) -> None:
    """Run a module's top level, for good, whatever path asked for it."""

    def run() -> None:
        frame = Frame(None, scope, None)
        frame.slots = scope.slots
        scope.slots["__name__"] = Unknown("__name__")
        scope.slots["__file__"] = Unknown("__file__")
        process = m.trackers[Process]
        process.points = new_process()
        if scope.cells:
            _run_cells(m, frame)
        else:
            run_block(m, frame, scope.tree.body)
        scope.process = process.points

    m.isolated(scope.path, run)


def _run_cells(m: Machine, frame: Frame) -> None:
    """Run a notebook cell by cell. What a cell rebinds holds for the cells after it: no code calls older ones then. What
    raises in a cell whose saved output is an exception is shown on purpose."""
    scope = frame.scope
    first: dict[str, tuple[int, Value]] = {}
    for cell, statements in itertools.groupby(scope.tree.body, lambda statement: scope.cell_of(statement.start)):
        raises = cell > 0 and is_raising(scope.text, scope.cells[cell - 1])
        m.path.caught += raises
        m.path.failing_cell = raises
        of_cell = list(statements)
        stop_timing = start_timed_cell(m, frame, of_cell)
        flow = run_block(m, frame, of_cell)
        if stop_timing is not None:
            stop_timing()
        m.path.failing_cell = False
        m.path.caught -= raises
        for name, value in scope.slots.items():
            if first.setdefault(name, (cell, value))[1] is not value:
                versions = scope.versions.setdefault(name, [first[name]])
                if versions[-1][1] is not value:
                    versions.append((cell, value))
        if flow != NORMAL and not m.program.goes_on:
            break


MAX_DESCENT = 8
"""A recursion that counts down is followed to this depth, another one to the second call."""


def call_function_value(
    m: Machine, frame: Frame, node: Any, func: FunctionValue, args: Arguments, context: CallingContext = CALLED
) -> Value:
    """Run a function of the project on arguments, or remember an equal run."""
    fn = func.fn
    track_called(m, func, context.kind)
    if context.kind != "entry":
        track_run(m, func)
    if m.path.caught and func.closure is not None:
        track_dared(m, functions_behind(m, func))
    unknown = _not_followed(m, frame, node, func, args)
    if unknown is not None:
        return unknown
    made = Invocation(bind(m, func, args), context.mode if context.mode is not None else m.path.mode, context)
    if not made.mode.presumed:
        used = as_used(m, func, made.bound, staged=made.mode.staged)
        if used is not made.bound:
            made = Invocation(used, made.mode, context)
    if func.cached:
        _emit_hashed_arguments(m, frame, node, args)
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        presumed = _presumed(m, presumption, func, made)
        if presumed is None:
            return Unknown("driver")
        made = presumed
    assumed = m.path.assumed
    if m.path.conditions:
        held = held_of_captures(m, func) if func.closure is not None else frozenset()
        m.path.assumed = assumed | held | held_of_arguments(m, made.bound)
    m.trackers[Freshness].caching_calls += caches_result(func)
    result = _run_or_repeat(m, func, Call(frame, node, args), made)
    m.trackers[Freshness].caching_calls -= caches_result(func)
    m.path.assumed = assumed
    if m.trackers[Replicas].running:
        track_call(m, fn, func.closure)
    if func.cached:
        emit_cached(m, frame, node, result, fn.name)
    return Unknown("decorated") if func.replaced else result


def _not_followed(m: Machine, frame: Frame, node: Any, func: FunctionValue, args: Arguments) -> Value | None:
    """What a call gives whose function does not run: a recursion, the rest of an entry that takes too long, a call that
    Python refuses. None for any other call."""
    running = [link for link in m.path.stack if link.fn is func.fn] if m.path.stack else []
    if len(m.path.stack) >= MAX_CALL_DEPTH or (len(running) >= 2 and not _descends(m, func, args, running)):
        _lose(m, frame, node, "recursion or depth")
        return Unknown("recursion", host_test=True)
    if m.path.steps > MAX_STEPS_PER_ENTRY:
        _lose(m, frame, node, "step budget")
        return Unknown("budget", host_test=True)
    if binding_error(func, args):
        if m.path.mode.staged and is_written(node, args) and not m.program.is_overridden(func):
            frame.failed = node
        return Unknown(RAISES)
    return None


def emit_cached(m: Machine, frame: Frame, node: Any, result: Value, name: str) -> None:
    """Tell the rules that staged code calls a function that keeps its results for later calls."""
    if m.path.mode.ambient and not m.path.mode.presumed and node is not None and m.bus.wants(CachedCall):
        m.bus.emit(CachedCall(m.path.context(frame.scope), node, result, name))


class Invocation(msgspec.Struct, frozen=True, eq=False):
    """A function about to run: its arguments by parameter, how its code runs, how it comes to run."""

    bound: dict[str, Value]
    mode: Mode
    context: CallingContext


def _presumed(m: Machine, presumption: Presumption, func: FunctionValue, made: Invocation) -> Invocation | None:
    """The run, as a library's users might stage the function; None where the function drives others. A run of any other
    kind stays as it is, and teaches what to presume."""
    if made.mode.presumed and presumption.settled:
        if id(func.fn) in presumption.drivers:
            return None
        if made.context.kind == "entry":
            presumption.entered = made.bound
        bound = presumption.presumed(func, made.bound)
        if made.mode.differentiated:
            for name, value in bound.items():
                if value is not made.bound[name]:
                    mark_tangents(m, value)
        return Invocation(bound, made.mode, made.context)
    presumption.bind(func.fn, made.bound)
    if made.context.kind == "entry":
        shapes = [p.name for p in func.fn.params if describes_shapes(m, func.scope, p.annotation)]
        presumption.exclude(func.fn, shapes)
    return made


def _run_or_repeat(m: Machine, func: FunctionValue, at: Call, made: Invocation) -> Value:
    """Run a function on bound arguments, unless an equal run is remembered or there were too many."""
    fn, runs, caps = func.fn, m.trackers[Runs], m.trackers[Runs].caps
    bound, mode, context = made.bound, made.mode, made.context
    inputs = inputs_of(m, func, bound, mode)
    known = runs.memo.setdefault(id(fn), {})
    plain = inputs.plain and context.serial is None
    found = known.get(inputs.key) if plain else None
    if found is not None:
        return repeat(m, found, inputs.values, at, fn, bound)
    if plain and runs.may_run_again(id(fn), inputs.key):
        return _run(m, func, at, made, inputs)
    staged = mode.staged
    member = runs.member if runs.member is not None and func.owner in mro_of(runs.member) else None
    counts = runs.contexts if plain or context.kind == "entry" else runs.apart
    count, most = counts.get((id(fn), staged, member), 0), runs.most(id(fn), staged=staged)
    if any(isinstance(value, ClassValue) for value in bound.values()):
        most = max(most, caps.apart)  # ``register(cls)`` is called for many classes, and changes each
    if count >= most // 2 and plain and context.kind == "call":
        for general in _generalizations(m, func, made):
            made, inputs = general, inputs_of(m, func, general.bound, general.mode)
            found = known.get(inputs.key) if inputs.plain else None
            if found is not None or (count < most and general.mode is mode):
                break
        if found is not None:
            return repeat(m, found, inputs.values, at, fn, bound)
        if count >= most and not (count < most + caps.last and _is_last_pass(m)):
            return _give_up(m, made.mode, at)
    elif count >= (caps.entries if plain or context.kind == "entry" else caps.apart):
        return _give_up(m, mode, at)
    counts[id(fn), staged, member] = count + 1
    runs.runs += 1
    return _run(m, func, at, made, inputs)


def _generalizations(m: Machine, func: FunctionValue, made: Invocation) -> Iterator[Invocation]:
    """The call with its numbers forgotten: all but those that tests of the function read, and then all. Where a test has lost
    its number, both ways of it run, of which the caller takes one."""
    deciding = _deciding(m, func.fn)
    bound = {k: v if v is func.defaults.get(k) else generalized(v) for k, v in made.bound.items()}
    kept = {k: made.bound[k] if k in deciding else v for k, v in bound.items()}
    yield Invocation(kept, made.mode, made.context)
    if any(bound[k] is not v for k, v in kept.items()):
        yield Invocation(bound, msgspec.structs.replace(made.mode, optional=True), made.context)


def _deciding(m: Machine, fn: ir.Function) -> frozenset[str]:
    """The parameters that a test of the function reads, or one of a function in it: themselves, or a number that is computed of
    them (``n = max(int(n), 1)``)."""
    found = m.program.deciding.get(id(fn))
    if found is None:
        tested: set[str] = set()
        computed: list[tuple[int, set[str], set[str]]] = []
        for statement in fn.body:
            for node in walk(statement):
                if isinstance(node, (ir.If, ir.While, ir.IfExp, ir.Assert)):
                    tested.update(names_read(node.test))
                elif isinstance(node, ir.Assign) and _is_number_of(node.value):
                    targets = {part.id for target in node.targets for part in walk(target) if isinstance(part, ir.Name)}
                    computed.append((node.start, targets, names_read(node.value)))
        for _, targets, read in sorted(computed, key=lambda one: one[0], reverse=True):  # from the tests back
            if not targets.isdisjoint(tested):
                tested |= read
        found = m.program.deciding[id(fn)] = frozenset(tested & {parameter.name for parameter in fn.params})
    return found


_OF_NUMBERS = frozenset({"abs", "bool", "float", "int", "max", "min", "round"})


def _is_number_of(value: ir.Expr) -> bool:
    """The expression computes a number of others, with operators and functions of Python alone."""
    return all(
        isinstance(
            node, (ir.Name, ir.Constant, ir.BinOp, ir.UnaryOp, ir.BoolOp, ir.Compare, ir.IfExp, ir.Tuple, ir.Argument)
        )
        or (isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id in _OF_NUMBERS)
        for node in walk(value)
    )


def _is_last_pass(m: Machine) -> bool:
    """The passes before have used up the runs of the functions that a loop calls, and rules get events of this one alone."""
    loops = m.path.loops
    return bool(loops) and all(loop.last for loop in loops)


def _give_up(m: Machine, mode: Mode, at: Call) -> Value:
    """A function was run often enough: what this run would have shown is not known."""
    for axis in mode.axes:
        m.bus.record_everywhere(bound_axis_fact(axis))
    _lose(m, at.frame, at.node, "contexts")
    result = Unknown("contexts", host_test=True)
    track_wrapped(m, NONE, (*at.args.values, *at.args.kwargs.values()), result)
    return result


def _lose(m: Machine, frame: Frame, node: Any, limit: str) -> None:
    """A call runs nothing, because of a limit."""
    m.bus.count(limit)
    m.trackers[Runs].lost += 1
    track_lost(m, frame, node)


def _descends(m: Machine, func: FunctionValue, args: Arguments, running: list[Link]) -> bool:
    """A recursion that counts down: a constant argument is smaller than it was, and not below zero."""
    before = running[-1].bound
    if before is None or len(running) >= MAX_DESCENT:
        return False
    for name, now in bind(m, func, args).items():
        then = before.get(name)
        if isinstance(now, Const) and isinstance(then, Const) and type(now.value) is type(then.value) is int:
            if 0 <= now.value < then.value:
                return True
    return False


def _emit_hashed_arguments(m: Machine, frame: Frame, node: Any, args: Arguments) -> None:
    """Tell the rules that a function that keeps its results is called with a tracer: its cache hashes the arguments."""
    if not m.bus.wants(Hashing) or node is None:
        return
    for value in (*args.values, *args.kwargs.values()):
        if isinstance(value, Array) and holds_tracer(value, GRAD):
            m.bus.emit(Hashing(m.path.context(frame.scope), node, value, "cache"))
            return


def _run(m: Machine, func: FunctionValue, at: Call, made: Invocation, inputs: Inputs) -> Value:
    """Run a function, and remember the run where it may be."""
    mode, serial = made.mode, made.context.serial
    mark, reports, shared = len(m.journal.entries), len(m.bus.emissions), shared_by_elements(mode)
    inner = _frame_for(func, made, mark)
    flow, marks = _run_body(m, inner, _link_to(m, func, at, made, inner), mode, func)
    if inner.exits:
        branches = inner.exits
        writes = m.journal.rollback(mark)
        if flow == NORMAL or inner.ended:
            branches.append(writes)
        m.journal.merge(branches)
    m.trackers.returned(marks, suspended=func.fn.is_generator)
    result = _result_of(m, inner, func.fn, flow)
    uses = m.trackers[Keys].uses
    if len(m.bus.emissions) > reports or (uses and any(slots is uses for slots, *_ in m.journal.entries[mark:])):
        m.trackers[Runs].reporting.add(id(func.fn))
    m.bus.keep_first_reports(reports)
    m.trackers.settle(mark, result)
    if inputs.plain and serial is None and shared == shared_by_elements(mode):
        has_fresh_closure = holds_fresh_closure(result, func.closure)
        if has_fresh_closure:
            m.trackers[Runs].making.setdefault(id(func.fn), {}).setdefault(inputs.key, 0)
        effects = effects_of(m, func, inner, inputs, mark) if not has_fresh_closure else None
        if effects is not None:
            known = m.trackers[Runs].memo[id(func.fn)]
            known[inputs.key] = remembered(m, inputs, result, effects, reports, marks)
    return result


def _frame_for(func: FunctionValue, made: Invocation, mark: int) -> Frame:
    """The frame of a run. mark: the length of the journal at its start."""
    inner = Frame(func.fn, func.scope, func.closure, owner=func.owner)
    inner.slots.update(made.bound)
    inner.trace = made.mode.trace
    inner.mark = mark
    owner, name = func.owner, func.fn.name
    if owner is not None and func.fn.params and not isinstance(owner.namespace.get(name), StaticMethodValue):
        inner.self_value = made.bound.get(func.fn.params[0].name)
    return inner


def _link_to(m: Machine, func: FunctionValue, at: Call, made: Invocation, inner: Frame) -> Link:
    """The link of the call stack that leads to a run."""
    fn, context = func.fn, made.context
    return Link(
        scope=at.frame.scope, node=at.node, kind=context.kind, function=fn.qualname,
        text=context.text or call_text(m, fn),
        serial=context.serial if context.serial is not None else m.path.new_serial(), fn=fn,
        receiver=inner.self_value or _class_of_method(func, made),
        bound=made.bound,
    )  # fmt: skip


def _class_of_method(func: FunctionValue, made: Invocation) -> Value | None:
    """The class that a class method gets as its first argument."""
    owner, fn = func.owner, func.fn
    held = owner.namespace.get(fn.name) if owner is not None and fn.params else None
    return made.bound.get(fn.params[0].name) if isinstance(held, StaticMethodValue) and held.to_class else None


def _run_body(
    m: Machine, inner: Frame, link: Link, mode: Mode, func: FunctionValue
) -> tuple[Flow, dict[type[Tracker], Any]]:
    """Run the body of a function on the path with one more link: how it ends, and the marks of the trackers."""
    path = m.path
    saved_mode, saved_base, saved_conditions = path.mode, path.loop_base, len(path.conditions)
    saved_condition_base, path.condition_base = path.condition_base, saved_conditions
    path.stack.append(link)
    path.mode = mode
    path.loop_base = len(path.loops)
    branch_base, path.branch_base = path.branch_base, len(path.branches)
    marks = m.trackers.call(func, link.bound or {})
    flow = run_block(m, inner, func.fn.body)
    del path.conditions[saved_conditions:]
    path.condition_base = saved_condition_base
    path.loop_base = saved_base
    path.branch_base = branch_base
    path.mode = saved_mode
    path.stack.pop()
    return flow, marks


def _result_of(m: Machine, inner: Frame, fn: ir.Function, flow: Flow) -> Value:
    """What a run gives whose body has ended with ``flow``."""
    if fn.is_generator:
        element = joining.union_of(inner.yields) if inner.yields else Unknown("yield")
        return GeneratorValue(element, made_in=m.path.mode.trace)
    if flow == NORMAL:
        inner.returns.append(Unknown("stub") if _is_stub(fn) else NONE)
    if not inner.returns:
        return Unknown(RAISES if flow != RETURN else "return")
    result = inner.returns[0]
    if inner.vague and joining.are_unlike(inner.returns):
        return Unknown("return", host_test=True)
    if inner.answers and joining.are_unequal_flags(inner.returns):
        return Unknown("return", host_test=True)
    for other in inner.returns[1:]:
        result = joining.join(result, other)
    if len(inner.returns) > 1:
        serial = m.path.new_branch()
        result = labelled(
            result, inner.returns, [frozenset([branch_condition(serial, i)]) for i in range(len(inner.returns))]
        )
        m.trackers.joined(inner.returns, result)
    return result


def _is_stub(fn: ir.Function) -> bool:
    """The body is a docstring, or ``...``: another definition says what the function does."""
    return all(isinstance(s, ir.ExprStmt) and isinstance(s.value, ir.Constant) for s in fn.body)
