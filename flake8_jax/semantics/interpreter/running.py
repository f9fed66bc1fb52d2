"""Running a whole body: a function on bound arguments, the top level of a module.

Vocabulary
----------
run         of one function body, in a frame of its own; an equal run is remembered and repeated (see ``summaries``).
context     a function, staged or eager: it is run on so many different inputs before its result is unknown.
captured    what a function closes over, from enclosing functions.

Every module starts with a process that has taken no turn yet (see ``trackers.process``).

Not modelled: recursion beyond the second call, unless a constant argument counts down.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.stack import NORMAL, RETURN, Link, Mode
from flake8_jax.semantics.domain.values import (
    GRAD,
    NONE,
    Array,
    Const,
    FunctionValue,
    GeneratorValue,
    Unknown,
    Value,
    holds_tracer,
)
from flake8_jax.semantics.events.events import CachedCall, Hashing
from flake8_jax.semantics.interpreter.binding import bind, is_given_twice
from flake8_jax.semantics.interpreter.closures import held_of_captures
from flake8_jax.semantics.interpreter.operations import describes_shapes
from flake8_jax.semantics.interpreter.summaries import (
    call_text,
    generalized,
    memo_key,
    remember,
    repeat,
    shared_by_lanes,
)
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import run_block
from flake8_jax.semantics.machine.limits import MAX_CALL_DEPTH, MAX_STEPS_PER_ENTRY
from flake8_jax.semantics.trackers.axes import bound_note
from flake8_jax.semantics.trackers.captures import Captures
from flake8_jax.semantics.trackers.clocks import forget_order, note_lost
from flake8_jax.semantics.trackers.clocks import mark as log_mark
from flake8_jax.semantics.trackers.freshness import Freshness, shelters
from flake8_jax.semantics.trackers.keys import Keys, settle_splits
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.process import Process, new_process
from flake8_jax.semantics.trackers.records import Recording
from flake8_jax.semantics.trackers.replicas import Replicas, note_call
from flake8_jax.semantics.trackers.runs import Runs, note_called
from flake8_jax.semantics.trackers.unrolling import NOTHING, LoopNests, leave_function
from flake8_jax.semantics.trackers.variation import Variations, vary_joined


def run_module(m: Machine, scope: ModuleScope) -> None:
    """Run a module's top level, for good, whatever path asked for it."""

    def run() -> None:
        frame = Frame(None, scope, None)
        frame.slots = scope.slots
        scope.slots["__name__"] = Unknown("__name__")
        scope.slots["__file__"] = Unknown("__file__")
        process = m.trackers[Process]
        process.turns = new_process()
        run_block(m, frame, scope.tree.body)
        scope.process = process.turns

    m.isolated(scope.path, run)


MAX_DESCENT = 8
"""A recursion that counts down is followed to this depth, another one to the second call."""


def call_function_value(
    m: Machine,
    frame: Frame,
    node: Any,
    func: FunctionValue,
    args: Arguments,
    *,
    kind: str = "call",
    text: str = "",
    mode: Mode | None = None,
    serial: int | None = None,
) -> Value:
    """Run a function of the project on arguments, or remember an equal run."""
    fn = func.fn
    note_called(m, func, kind)
    running = [link for link in m.path.stack if link.fn is fn] if m.path.stack else []
    if len(m.path.stack) >= MAX_CALL_DEPTH or (len(running) >= 2 and not _descends(m, func, args, running)):
        m.bus.count("recursion or depth")
        note_lost(m, frame, node)
        return Unknown("recursion", host_test=True)
    if m.path.steps > MAX_STEPS_PER_ENTRY:
        m.bus.count("step budget")
        note_lost(m, frame, node)
        return Unknown("budget", host_test=True)
    if args.kwargs and args.values and is_given_twice(fn, args):
        return Unknown("raises")  # a way that no run of the program takes: a guess somewhere above was wrong
    bound = bind(m, func, args)
    if func.cached:
        _tell_cached(m, frame, node, func, args)
    run_mode = mode if mode is not None else m.path.mode
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        if run_mode.presumed:
            if id(fn) in presumption.drivers:
                return Unknown("driver")
            bound = presumption.presumed(func, bound)
        else:
            presumption.bind(fn, bound)
            if kind == "entry":
                presumption.exclude(fn, [p.name for p in fn.params if describes_shapes(m, func.scope, p.annotation)])
    assumed = m.path.assumed
    if m.path.conditions and func.closure is not None:
        m.path.assumed = assumed | held_of_captures(m, func)
    m.trackers[Freshness].sheltered += shelters(func)
    result = _run_or_repeat(m, frame, node, func, bound, run_mode, kind, text, serial)
    m.trackers[Freshness].sheltered -= shelters(func)
    m.path.assumed = assumed
    if m.trackers[Replicas].running:
        note_call(m, fn)
    if func.cached:
        tell_cached(m, frame, node, result, fn.name)
    return Unknown("decorated") if func.replaced else result


def tell_cached(m: Machine, frame: Frame, node: Any, result: Value, name: str) -> None:
    """Tell the rules that staged code calls a function that keeps its results for later calls."""
    if m.path.mode.ambient and not m.path.mode.presumed and node is not None and m.bus.wants(CachedCall):
        m.bus.emit(CachedCall(m.path.context(frame.scope), node, result, name))


def _run_or_repeat(
    m: Machine, frame: Frame, node: Any, func: FunctionValue, bound: dict[str, Value], run_mode: Mode, kind: str, text: str,
    serial: int | None,
) -> Value:  # fmt: skip
    """Run a function on bound arguments, unless an equal run is remembered or there were too many."""
    fn = func.fn
    key, inputs, plain = memo_key(m, func, bound, run_mode)
    known = m.trackers[Runs].memo.setdefault(id(fn), {})
    found = known.get(key) if plain and serial is None else None
    if found is not None:
        return repeat(m, found, inputs, frame.scope, node, fn)
    staged = run_mode.staged
    count, most = (
        m.trackers[Runs].contexts.get((id(fn), staged), 0),
        m.trackers[Runs].caps.staged if staged else m.trackers[Runs].caps.eager,
    )
    if m.trackers[Runs].runs >= m.trackers[Runs].caps.generous and id(fn) not in m.trackers[Runs].telling:
        most = min(most, m.trackers[Runs].caps.quiet_staged if staged else m.trackers[Runs].caps.quiet_eager)
    if count >= most // 2 and plain and serial is None and kind == "call":
        general = {k: v if v is func.defaults.get(k) else generalized(v) for k, v in bound.items()}
        if any(general[k] is not v for k, v in bound.items()):
            bound = general
            key, inputs, plain = memo_key(m, func, bound, run_mode)
            found = known.get(key) if plain else None
        if found is not None:
            return repeat(m, found, inputs, frame.scope, node, fn)
        if count >= most:
            _give_up(m, run_mode)
            note_lost(m, frame, node)
            return Unknown("contexts", host_test=True)
    elif count >= m.trackers[Runs].caps.entries:
        _give_up(m, run_mode)
        note_lost(m, frame, node)
        return Unknown("contexts", host_test=True)
    m.trackers[Runs].contexts[id(fn), staged] = count + 1
    m.trackers[Runs].runs += 1
    return _run(m, frame, node, func, bound, run_mode, kind, text, serial, known, key, inputs, plain)


def _give_up(m: Machine, mode: Mode) -> None:
    """A function was run often enough: what this run would have shown is not known."""
    m.bus.count("contexts")
    for axis in mode.axes:
        m.bus.note_everywhere(bound_note(axis))


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


def _tell_cached(m: Machine, frame: Frame, node: Any, func: FunctionValue, args: Arguments) -> None:
    if not m.bus.wants(Hashing) or node is None:
        return
    for value in (*args.values, *args.kwargs.values()):
        if isinstance(value, Array) and holds_tracer(value, GRAD):
            m.bus.emit(Hashing(m.path.context(frame.scope), node, value, "cache"))
            return


def _run(
    m: Machine, frame: Frame, node: Any, func: FunctionValue, bound: dict[str, Value], mode: Mode, kind: str, text: str,
    serial: int | None, known: dict[Any, Any], key: Any, inputs: list[Any], plain: bool,
) -> Value:  # fmt: skip
    fn = func.fn
    inner = Frame(fn, func.scope, func.closure, owner=func.owner)
    inner.slots.update(bound)
    inner.trace = mode.trace
    if func.owner is not None and fn.params:
        inner.self_value = bound.get(fn.params[0].name)
    mark, reports, shared = len(m.journal.entries), len(m.bus.emissions), shared_by_lanes(mode)
    logged = log_mark(m)
    before, m.trackers[LoopNests].inside, work, varieties, captured = (
        m.trackers[LoopNests].inside,
        NOTHING,
        m.trackers[LoopNests].work,
        m.trackers[LoopNests].varieties,
        len(m.trackers[Captures].embedded),
    )
    link = Link(
        scope=frame.scope, node=node, kind=kind, function=fn.qualname,
        text=text or call_text(m, fn),
        serial=serial if serial is not None else m.path.new_serial(), fn=fn, receiver=inner.self_value, bound=bound,
    )  # fmt: skip
    saved_mode, saved_base, saved_conditions = m.path.mode, m.path.loop_base, len(m.path.conditions)
    saved_condition_base, m.path.condition_base = m.path.condition_base, saved_conditions
    inner.mark = mark
    m.path.stack.append(link)
    m.path.mode = mode
    m.path.loop_base = len(m.path.loops)
    records = m.trackers[Recording].records
    if records is not None:
        records.note(func.scope, fn, bound, mode, m.path.stack)
    flow = run_block(m, inner, fn.body)
    del m.path.conditions[saved_conditions:]
    m.path.condition_base = saved_condition_base
    m.path.loop_base = saved_base
    m.path.mode = saved_mode
    m.path.stack.pop()
    size = leave_function(m, before)
    if inner.exits:
        arms = inner.exits
        writes = m.journal.take_back(mark)
        if flow == NORMAL or inner.ended:
            arms.append(writes)
        m.journal.merge(arms)
    if flow == NORMAL and not fn.is_generator:
        inner.returns.append(Unknown("stub") if _is_stub(fn) else NONE)
    if fn.is_generator:
        forget_order(m, logged)
        result: Value = GeneratorValue(
            joining.union_of(inner.yields) if inner.yields else Unknown("yield"), born=m.path.mode.trace
        )
    elif inner.returns:
        result = inner.returns[0]
        for other in inner.returns[1:]:
            result = joining.join(result, other)
        if m.trackers[Variations].known and len(inner.returns) > 1:
            vary_joined(m, inner.returns, result)
    else:
        result = Unknown("raises" if flow != RETURN else "return")
    if len(m.bus.emissions) > reports or (
        m.trackers[Keys].uses and any(slots is m.trackers[Keys].uses for slots, _slot, _old in m.journal.entries[mark:])
    ):
        m.trackers[Runs].telling.add(id(fn))
    m.bus.keep_first_reports(reports)
    if m.trackers[Keys].uses:
        settle_splits(m, mark, result)
    if plain and serial is None and shared == shared_by_lanes(mode):
        meaning = (m.trackers[LoopNests].work - work, m.trackers[LoopNests].varieties > varieties, size)
        embedded = frozenset(m.trackers[Captures].embedded[captured:])
        remember(m, func, inner, inputs, result, known, key, mark, reports, meaning, embedded, logged)
    return result


def _is_stub(fn: ir.Function) -> bool:
    """The body is a docstring, or ``...``: somebody else says what the function does."""
    return all(isinstance(s, ir.ExprStmt) and isinstance(s.value, ir.Constant) for s in fn.body)
