"""Running statements: control flow over abstract values.

Vocabulary
----------
flow        how a block ends: NORMAL (falls through), RETURN, RAISE, BREAK, CONTINUE.
condition   the outcome of a test: a truth where it is known, what each arm learns from it (narrowings), a key by which
            two tests of the same thing are known to be correlated, and whether only the host can decide it.

Loops run to a fixpoint first; rules hear of the last pass only. Not modelled: the number of iterations (but for
constants), exceptions that a call may raise outside ``try``, ``async`` interleavings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain import memo_keys
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import BREAK, CONTINUE, NORMAL, RAISE, RETURN, LoopState, Watched, Writes
from flake8_jax.semantics.domain.values import (
    MISSING,
    NONE,
    Array,
    Condition,
    Const,
    DictValue,
    External,
    ExternalInstance,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    known_elements,
)
from flake8_jax.semantics.events.events import DonatedUse, Store, TruthTest
from flake8_jax.semantics.events.facts import iterates
from flake8_jax.semantics.interpreter.asserting import expects_error, waited_for
from flake8_jax.semantics.interpreter.assignment import assign, store_item
from flake8_jax.semantics.interpreter.conditions import condition_of, picks_iteration
from flake8_jax.semantics.interpreter.expressions import load_item
from flake8_jax.semantics.interpreter.iteration import iterated
from flake8_jax.semantics.interpreter.operations import call_method, resolve_name
from flake8_jax.semantics.interpreter.operators import as_array, binary
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import RUN, evaluate, run_block
from flake8_jax.semantics.trackers.allocations import Change, tell_change, undo_changes
from flake8_jax.semantics.trackers.freshness import note_staged_loop
from flake8_jax.semantics.trackers.globals import GlobalReads
from flake8_jax.semantics.trackers.process import ENVIRON, note_import, set_variables
from flake8_jax.semantics.trackers.runs import Runs
from flake8_jax.semantics.trackers.steps import TrainingSteps, give_back, tell_steps
from flake8_jax.semantics.trackers.unrolling import trips_of, trips_of_while
from flake8_jax.semantics.trackers.variation import Variations, forget, note_augmented, note_self_update, vary_binary
from flake8_jax.semantics.trackers.versions import ApiUses

CATCHES_TRACER_ERRORS = frozenset(
    {"builtins.Exception", "builtins.BaseException", "builtins.TypeError", "builtins.ValueError", "builtins.IndexError",
     "builtins.AttributeError", "builtins.NameError", "builtins.RuntimeError"}
)  # fmt: skip
MAX_PASSES = 3
MAX_HEARD_LOOPS = 3
"""In loops that are nested more deeply, all passes but the last run the loops within them once, unheard by the rules."""
MAX_NESTED_LOOPS = 6
"""Loops that stand in so many others of one function run once, and rules hear nothing of them."""
MAX_UNROLLED = 8
"""A loop over so many known elements is run element by element; half as many in an unrolled loop, and so on."""


def _expression(m: Machine, frame: Frame, node: ir.ExprStmt) -> int:
    from flake8_jax.semantics.interpreter.expressions import evaluate_statement

    evaluate_statement(m, frame, node)
    return NORMAL


def _assign(m: Machine, frame: Frame, node: ir.Assign) -> int:
    value = evaluate(m, frame, node.value)
    if frame.loops and type(node.value) is ir.BinOp:
        note_self_update(m, frame, node, node.value)
    if m.trackers[TrainingSteps].taken is not None:
        tell_steps(m, frame, node, value)
    for target in node.targets:
        assign(m, frame, target, value, node.value)
    return NORMAL


def _annotated(m: Machine, frame: Frame, node: ir.AnnAssign) -> int:
    versions = m.trackers[ApiUses].versions
    if versions is not None and frame.fn is None:
        versions.annotations(m, frame, [node.annotation], partial(resolve_name, m, frame.scope, frame))
    if node.value is None:
        return NORMAL
    value = evaluate(m, frame, node.value)
    if isinstance(value, Unknown) and value.parent is None:
        from flake8_jax.semantics.interpreter.operations import value_of_annotation

        value = value_of_annotation(m, frame.scope, frame, node.annotation) or value
    assign(m, frame, node.target, value, node.value)
    return NORMAL


def _augmented(m: Machine, frame: Frame, node: ir.AugAssign) -> int:
    target = node.target
    right = None
    if isinstance(target, ir.Subscript):
        base = evaluate(m, frame, target.value)
        index = evaluate(m, frame, target.index)
        old = load_item(m, frame, target, base, index, quiet=True)
        right = evaluate(m, frame, node.value)
        result = binary(m, frame, node, old, node.op, right)
        store_item(m, Change(frame, target, "item-augmented", base, result, op=node.op, itself=bool(node.op)), index)
        return NORMAL
    old = evaluate(m, frame, target)
    right = evaluate(m, frame, node.value)
    if node.op == "+" and isinstance(old, ListValue) and not old.is_tuple:
        from flake8_jax.semantics.interpreter.containers import extend_list

        tell_change(m, Change(frame, target, "method", old, right, "+="))
        extend_list(m, frame, old, right, node)
        return NORMAL
    if node.op == "|" and isinstance(old, External) and old.name == ENVIRON:
        set_variables(m, frame, target, right)
    if node.op == "|" and (isinstance(old, DictValue) or (isinstance(old, Static) and old.kind == "set")):
        tell_change(m, Change(frame, target, "method", old, right, "|="))
    result = binary(m, frame, node, old, node.op, right)
    if m.trackers[Variations].known:
        vary_binary(m, node.op, old, right, result)
    if frame.loops:
        note_augmented(m, frame, target, node.op, old, right)
    assign(m, frame, target, result, node.value, op=node.op)
    return NORMAL


def _return(m: Machine, frame: Frame, node: ir.Return) -> int:
    loop = frame.loops[-1] if frame.loops else None
    if loop is not None:
        loop.leaving = True
    frame.returns.append(evaluate(m, frame, node.value) if node.value is not None else NONE)
    if loop is not None:
        loop.leaving = False
    if m.trackers[TrainingSteps].taken is not None:
        give_back(m, frame.returns[-1])
    if frame.arms:
        frame.exits.append(m.journal.since(frame.mark))
    else:
        frame.ended = True
    return RETURN


def _raise(m: Machine, frame: Frame, node: ir.Raise) -> int:
    if node.exc is not None:
        evaluate(m, frame, node.exc)
    return RAISE


def _assert(m: Machine, frame: Frame, node: ir.Assert) -> int:
    with waited_for(m):
        condition = condition_of(m, frame, node.test, "assert", node)
    for narrow in condition.when_true:
        narrow(m)
    if condition.key is not None:
        m.path.conditions.append(Condition(condition.key, True))
    return RAISE if isinstance(node.test, ir.Constant) and condition.truth is False else NORMAL


def _delete(m: Machine, frame: Frame, node: ir.Delete) -> int:
    for target in node.targets:
        if isinstance(target, ir.Subscript):
            base = evaluate(m, frame, target.value)
            index = evaluate(m, frame, target.index)
            if m.bus.wants(Store) and isinstance(base, (Array, Tree)):
                m.bus.emit(Store(m.path.context(frame.scope), target, "item-delete", base, None, "", ""))
            from flake8_jax.semantics.interpreter.containers import delete_item

            undo_changes(m, base)
            delete_item(m, base, index)
        elif isinstance(target, ir.Name) and target.id in frame.slots:
            m.journal.write(frame.slots, target.id, Unknown("deleted"))
    return NORMAL


def _pass(m: Machine, frame: Frame, node: ir.Stmt) -> int:
    return NORMAL


def _break(m: Machine, frame: Frame, node: ir.Break) -> int:
    loop = frame.loops[-1]
    loop.exits.append(m.journal.since(loop.base))
    return BREAK


def _continue(m: Machine, frame: Frame, node: ir.Continue) -> int:
    loop = frame.loops[-1]
    loop.continues.append(m.journal.since(loop.mark))
    return CONTINUE


# --- branches -------------------------------------------------------------------------------------


class Arm(msgspec.Struct, frozen=True, eq=False):
    """One alternative: what is learnt on entering it, then what runs. ``guess``: taken only if the host says so. barred:
    taken only where nothing is traced, and this is staged."""

    run: Callable[[], int]
    learn: tuple[Callable[[Machine], None], ...] = ()
    key: Any = None
    truth: bool = True
    guess: bool = False
    barred: bool = False


def branch(m: Machine, frame: Frame, arms: list[Arm]) -> int:
    """Run all arms from the same state and merge those that fall through."""
    live: list[Writes] = []
    live_arms: list[Arm] = []
    flows: list[int] = []
    doubtful, doubts, around = frame.doubtful, [], m.path.arms
    for arm in arms:
        frame.doubtful = doubtful
        m.path.arms = (*around, m.path.new_arm())
        mark, reports, conditions = len(m.journal.entries), len(m.bus.emissions), len(m.path.conditions)
        for learn in arm.learn:
            learn(m)
        if arm.key is not None:
            m.path.conditions.append(Condition(arm.key, arm.truth))
        frame.arms += 1
        flow = arm.run()
        frame.arms -= 1
        del m.path.conditions[conditions:]
        if arm.barred:
            del m.bus.emissions[reports:]
        elif arm.guess:
            m.bus.drop_errors(reports)
        writes = m.journal.take_back(mark)
        flows.append(flow)
        if flow == NORMAL:
            live.append(writes)
            live_arms.append(arm)
            doubts.append(frame.doubtful)
    m.path.arms = around
    left = any(f in (RETURN, BREAK, CONTINUE) for f in flows)
    frame.doubtful = doubtful or (
        bool(live) and all(d or (left and a.guess) for a, d in zip(live_arms, doubts, strict=True))
    )
    if not live:
        return next((f for f in (RETURN, BREAK, CONTINUE) if f in flows), RAISE)
    m.journal.merge(live, [Condition(a.key, a.truth) if a.key is not None else None for a in live_arms])
    if len(live) == 1 and len(arms) > 1 and live_arms[0].key is not None:
        m.path.conditions.append(Condition(live_arms[0].key, live_arms[0].truth))
    return NORMAL


def _if(m: Machine, frame: Frame, node: ir.If) -> int:
    # A long elif chain is unrolled here, arm by arm, so that it costs no Python stack.
    pending: list[tuple[ir.If, Any]] = []
    current: ir.If | None = node
    tail: list[ir.Stmt] = []
    mark, known = -1, len(m.path.conditions)
    while current is not None:
        condition = condition_of(m, frame, current.test, "elif" if current.is_elif else "if", current)
        if mark < 0:
            mark = len(m.journal.entries)
        if condition.truth is True:
            tail = current.body
            break
        following = current.orelse
        is_chain = len(following) == 1 and isinstance(following[0], ir.If) and following[0].is_elif
        if condition.truth is None:
            if m.path.loops and _moves_bound(current):
                condition = msgspec.structs.replace(condition, counter=True)
            pending.append((current, condition))
            for learn in condition.when_false:
                learn(m)
            if len(pending) > 12 or not is_chain:
                tail = following
                break
        elif not is_chain:
            tail = following
            break
        current = following[0] if is_chain else None  # type: ignore[assignment]
    if not pending:
        return run_block(m, frame, tail)
    tests = m.journal.take_back(mark)
    del m.path.conditions[known:]
    guards = sum(1 for _, c in pending if c.counter)
    loop = m.path.loops[-1] if m.path.loops else None
    arms: list[Arm] = []
    false_learn: list[Callable[[Machine], None]] = []
    guess = False
    for current_if, condition in pending:
        body = current_if.body

        def run(body: list[ir.Stmt] = body) -> int:
            return run_block(m, frame, body)

        guess = guess or condition.host
        barred = condition.untraced is True
        arms.append(Arm(run, (*false_learn, *condition.when_true), condition.key, True, guess, barred))
        false_learn = [lambda m: m.journal.replay(tests)]
    last = pending[-1][1]

    def run_tail() -> int:
        return run_block(m, frame, tail)

    barred = any(condition.untraced is False for _node, condition in pending)
    arms.append(Arm(run_tail, tuple(false_learn), last.key if len(pending) == 1 else None, False, guess, barred))
    picked = 0
    if guards and loop is not None:
        loop.guards += 1
        loop.tested = True
        picked = any(picks_iteration(m, frame, current_if.test) for current_if, c in pending if c.counter)
        loop.picked += picked
    flow = branch(m, frame, arms)
    if picked and loop is not None:
        loop.picked -= picked
    if guards and loop is not None and not any(_leaves(current_if.body) for current_if, _ in pending):
        loop.guards -= 1  # else ``if step % 100: continue`` guards the rest of the block, which takes it back
    return flow


def _leaves(body: list[ir.Stmt]) -> bool:
    """The block ends the iteration or the function."""
    return bool(body) and isinstance(body[-1], (ir.Continue, ir.Return))


def _match(m: Machine, frame: Frame, node: ir.Match) -> int:
    from flake8_jax.semantics.interpreter.patterns import bind_pattern, compares_by_value, compares_with_number

    subject = evaluate(m, frame, node.subject)
    number = as_array(subject) if any(compares_with_number(c.pattern) for c in node.cases) else subject
    if lattice_traced(number) and any(compares_by_value(c.pattern) for c in node.cases) and m.bus.wants(TruthTest):
        m.bus.emit(TruthTest(m.path.context(frame.scope), node.subject, number, "match", node))
    arms: list[Arm] = []
    exhaustive = False
    for case in node.cases:

        def run(case: ir.MatchCase = case) -> int:
            bind_pattern(m, frame, case.pattern, subject)
            if case.guard is not None:
                condition_of(m, frame, case.guard, "case", case.guard)
            return run_block(m, frame, case.body)

        arms.append(Arm(run))
        if case.guard is None and isinstance(case.pattern, ir.MatchAs) and case.pattern.pattern is None:
            exhaustive = True
            break
    if not exhaustive:
        arms.append(Arm(lambda: NORMAL))
    return branch(m, frame, arms)


def lattice_traced(value: Value) -> bool:
    from flake8_jax.semantics.domain.values import is_traced_array

    return is_traced_array(value)


# --- loops ----------------------------------------------------------------------------------------


def run_loop(
    m: Machine, frame: Frame, loop: LoopState, once: Callable[[], int], *, may_skip: bool = True
) -> Writes | None:
    """Run ``once`` (one iteration) to a fixpoint and leave the state after the loop, ``break`` not included.

    Returns:
        the state at the head of the loop as writes of a path that skips it, for callers that need it; or None.
    """
    note_staged_loop(m, loop.node)
    m.path.passes += 1
    m.journal.keep_alive.append(loop)  # arrays remember the loop in which they were dispatched by its identity
    doubtful, around, told = frame.doubtful, frame.unheard, len(m.bus.emissions)
    too_deep = len(frame.loops) >= MAX_NESTED_LOOPS
    unheard = around or too_deep
    if too_deep:
        m.bus.count("loops nested too deeply")
    limit = 0 if unheard else MAX_PASSES if m.path.passes <= 2 else 1
    loop.base = len(m.journal.entries)
    attempt = 0
    while True:
        last = attempt == limit
        # Each loop in here would run its body at least twice, and each loop in those.
        frame.unheard = unheard or (not last and m.path.passes > MAX_HEARD_LOOPS)
        mark, reports = len(m.journal.entries), len(m.bus.emissions)
        returns, yields = len(frame.returns), len(frame.yields)
        exits, function_exits = len(loop.exits), len(frame.exits)
        m.path.loops.append(loop)
        m.trackers.iteration(loop)
        frame.loops.append(loop)
        loop.mark = mark
        frame.arms += 1
        loop.arms, loop.tested = frame.arms, False
        flow = once()
        frame.arms -= 1
        frame.doubtful = doubtful
        frame.loops.pop()
        m.path.loops.pop()
        writes = m.journal.take_back(mark)
        arms = loop.continues
        loop.continues = []
        if flow == NORMAL:
            arms.append(writes)
        loop.again = loop.again or bool(arms)
        if loop.runs and arms:
            # There surely is a first iteration, and this was it: the fixpoint starts behind it.
            loop.runs = False
            m.journal.merge(arms)
            if not unheard:
                continue
            arms = [{}]
        changed = _widen_head(m, frame, loop, arms, give_up=attempt + 1 >= limit)
        if last or (not changed and not frame.unheard):
            break
        # What the first iteration reads after it was donated stays deleted, whatever the others find there.
        m.bus.emissions[reports:] = [
            e for e in m.bus.emissions[reports:] if attempt == 0 and isinstance(e.event, DonatedUse)
        ]
        del frame.returns[returns:]
        del frame.yields[yields:]
        del loop.exits[exits:]
        del frame.exits[function_exits:]
        attempt += 1
    if too_deep:
        del m.bus.emissions[told:]
    m.path.passes -= 1
    frame.unheard = around
    _end_variations(m, loop)
    return None


def _end_variations(m: Machine, loop: LoopState) -> None:
    if loop.again and not m.path.mode.staged:
        m.bus.note_everywhere(iterates(loop))
    if m.trackers[Variations].known or m.trackers[Variations].grown:
        forget(m, loop)


def _widen_head(m: Machine, frame: Frame, loop: LoopState, arms: list[Writes], *, give_up: bool) -> bool:
    """Join what the iteration left behind into the state at the loop's head; whether anything there changed."""
    changed = False
    if not arms:
        return False
    mark = len(m.journal.entries)
    m.journal.merge([{}, *arms])
    for slots, slot, old in m.journal.entries[mark:]:
        now = slots.get(slot, MISSING)
        if now is old or old is MISSING:
            continue
        if m.trackers.owner_of(slots) is not None:
            changed = changed or now != old
            continue
        if not isinstance(now, Value) or not isinstance(old, Value):
            changed = changed or now != old
            continue
        if memo_keys.equivalent(old, now):
            continue
        changed = True
        if give_up:
            slots[slot] = _widened(old, now)
    # A key that came into use in this iteration must be seen by the next one.
    for slots, _slot, old in m.journal.entries[mark:]:
        if old is MISSING and m.trackers.owner_of(slots) is not None:
            changed = True
    return m.trackers.widen(frame, loop, arms, m.journal.entries[mark:]) or changed


def _widened(old: Value, now: Value) -> Value:
    if isinstance(now, (Array, Tree, Static)):
        return now
    if isinstance(now, UnionValue) and all(isinstance(v, (Array, Tree, Static, Const)) for v in now.members):
        return now
    return Unknown("loop")


def _for(m: Machine, frame: Frame, node: ir.For) -> int:
    iterable = evaluate(m, frame, node.iter)
    loop = LoopState("for", node)
    known = known_elements(iterable)
    if known is not None and _worth_unrolling(m, known):
        return _unrolled(m, frame, node, loop, known)
    supply = iterated(m, frame, node.iter, iterable, "for", loop)
    if supply is None:  # surely empty
        if frame.fn is not None:
            m.trackers[Runs].decided.add(id(frame.fn))
        return run_block(m, frame, node.orelse)

    loop.times = len(known) if known is not None else 0
    loop.runs = bool(known) or (isinstance(iterable, GeneratorValue) and iterable.some)
    m.trackers.loop_enter(frame, loop)

    def once() -> int:
        assign(m, frame, node.target, supply(), node.iter)
        return run_block(m, frame, node.body)

    run_loop(m, frame, loop, once)
    m.trackers.loop_leave(frame, loop, node.iter, trips_of(iterable))
    flow = run_block(m, frame, node.orelse) if node.orelse else NORMAL
    return _leave_loop(m, frame, loop, flow)


def _worth_unrolling(m: Machine, elements: tuple[Value, ...]) -> bool:
    """A few elements that are so different from one another that their join would say nothing; or just one."""
    if len(elements) == 1:
        return True
    depth = sum(loop.unrolled for loop in m.path.loops)
    if not 1 < len(elements) <= (MAX_UNROLLED >> depth):
        return False
    parts = [p for e in elements for p in (e.elts if isinstance(e, TupleValue) else (e,))]
    return any(
        not isinstance(p, (Array, Tree, Unknown, Static, HostArray))
        and not (isinstance(p, Const) and not isinstance(p.value, str))
        for p in parts
    )


def _unrolled(m: Machine, frame: Frame, node: ir.For, loop: LoopState, elements: tuple[Value, ...]) -> int:
    """A loop over a few known elements: one iteration each."""
    loop.unrolled = True
    loop.times = len(elements)
    note_staged_loop(m, node)
    m.trackers.loop_enter(frame, loop)
    m.journal.keep_alive.append(loop)
    doubtful = frame.doubtful
    loop.base = loop.mark = len(m.journal.entries)
    m.path.loops.append(loop)
    frame.loops.append(loop)
    frame.arms += 1
    flow = NORMAL
    for element in elements:
        frame.doubtful = doubtful
        m.trackers.iteration(loop)
        assign(m, frame, node.target, element, node.iter)
        flow = run_block(m, frame, node.body)
        if loop.continues:
            arms, loop.continues = loop.continues, []
            writes = m.journal.take_back(loop.mark)
            if flow == NORMAL:
                arms.append(writes)
            m.journal.merge(arms)
            flow = NORMAL
        if flow != NORMAL:
            break
    frame.arms -= 1
    frame.doubtful = doubtful
    frame.loops.pop()
    m.path.loops.pop()
    if m.trackers[Variations].known or m.trackers[Variations].grown:
        forget(m, loop)
    m.trackers.loop_leave(frame, loop, node.iter, None)
    if flow == NORMAL and node.orelse:
        flow = run_block(m, frame, node.orelse)
    return _leave_loop(m, frame, loop, RAISE if flow == BREAK else flow)


def _leave_loop(m: Machine, frame: Frame, loop: LoopState, flow: int) -> int:
    """Merge the paths that left by ``break`` with the one that ran to the end (if there is one)."""
    if not loop.exits:
        return flow
    arms = loop.exits
    writes = m.journal.take_back(loop.base)
    if flow == NORMAL:
        arms.append(writes)
    m.journal.merge(arms)
    return NORMAL


def _while(m: Machine, frame: Frame, node: ir.While) -> int:
    loop = LoopState("while", node)
    endless, first = False, True
    trips = trips_of_while(m, frame, node) if m.path.mode.compiled else None
    m.trackers.loop_enter(frame, loop)

    def once() -> int:
        nonlocal endless, first
        condition = condition_of(m, frame, node.test, "while", node)
        loop.runs = first and condition.truth is True
        first = False
        endless = condition.truth is True
        if condition.truth is False:
            return RAISE
        conditions = len(m.path.conditions)
        for learn in condition.when_true:
            learn(m)
        flow = run_block(m, frame, node.body)
        del m.path.conditions[conditions:]
        if flow == NORMAL and m.path.mode.staged and condition.truth is None:
            _test_again(m, frame, node)
        return flow

    run_loop(m, frame, loop, once)
    m.trackers.loop_leave(frame, loop, node.test, trips)
    flow = RAISE if endless else NORMAL
    if node.orelse and not endless:
        flow = run_block(m, frame, node.orelse)
    flow = _leave_loop(m, frame, loop, flow)
    if flow == RAISE and endless and (frame.exits or frame.returns or frame.yields):
        return RETURN
    return flow


def _test_again(m: Machine, frame: Frame, node: ir.While) -> None:
    """The test as the iteration leaves it: what it was before the loop may be no tracer, and no longer counts."""
    mark, reports, conditions = len(m.journal.entries), len(m.bus.emissions), len(m.path.conditions)
    condition_of(m, frame, node.test, "while", node)
    kept = [e for e in m.bus.emissions[reports:] if isinstance(e.event, TruthTest)]
    del m.bus.emissions[reports:]
    m.bus.emissions += kept
    del m.path.conditions[conditions:]
    m.journal.take_back(mark)


# --- try, with ------------------------------------------------------------------------------------


def _try(m: Machine, frame: Frame, node: ir.Try) -> int:
    catches = any(_catches_tracer_errors(m, frame, handler.type) for handler in node.handlers)

    def body() -> int:
        reports = len(m.bus.emissions)
        frame.attempts += bool(node.handlers)
        flow = run_block(m, frame, node.body)
        frame.attempts -= bool(node.handlers)
        if catches and _drop_caught(m, reports) and flow == NORMAL:
            return RAISE  # the body fails on a tracer: what goes on are the handlers
        if flow == NORMAL and node.orelse:
            flow = run_block(m, frame, node.orelse)
        return flow

    seen: Watched = {}

    def watched() -> int:
        nonlocal seen
        flow, seen = m.journal.watch(body)
        return flow

    arms = [Arm(watched)]
    for handler in node.handlers:

        def handle(handler: ir.ExceptHandler = handler) -> int:
            m.journal.interrupted(seen)
            if handler.type is not None:
                evaluate(m, frame, handler.type)
            if handler.name:
                m.journal.write(frame.slots, handler.name, Unknown("exception"))
            return run_block(m, frame, handler.body)

        arms.append(Arm(handle, guess=True))
    flow = body() if not node.handlers else branch(m, frame, arms)
    if node.finalbody:
        final = run_block(m, frame, node.finalbody)
        if final != NORMAL:
            return final
    return flow


def _drop_caught(m: Machine, reports: int) -> bool:
    """Forget the errors reported since: a handler catches them. Whether one of them says that JAX raises here."""
    found = [e for e in m.bus.emissions[reports:] if (e.report.level or e.rule.level) == "error"]
    m.bus.drop_errors(reports)
    return any(e.rule.code.startswith(("JAX1", "JAX2")) for e in found)


def _catches_tracer_errors(m: Machine, frame: Frame, kind: ir.Expr | None) -> bool:
    if kind is None:
        return True
    value = evaluate(m, frame, kind)
    for member in value.elts if isinstance(value, TupleValue) else (value,):
        name = member.name if isinstance(member, External) else getattr(member, "name", "")
        if name in CATCHES_TRACER_ERRORS or f"builtins.{name}" in CATCHES_TRACER_ERRORS:
            return True
        if name.startswith(("jax.errors.", "jax.core.")):
            return True
        if isinstance(member, Unknown):
            return True
    return False


def _with(m: Machine, frame: Frame, node: ir.With) -> int:
    saved_mode, saved_caught, saved_attempts = m.path.mode, m.path.caught, frame.attempts
    entered: list[Instance] = []
    for item in node.items:
        manager = evaluate(m, frame, item.context)
        if isinstance(manager, ExternalInstance):
            if manager.cls == "jax.ensure_compile_time_eval":
                m.path.mode = msgspec.structs.replace(m.path.mode, ambient=False)
            elif manager.cls in ("jax.disable_jit", "chex.fake_jit"):
                m.path.mode = msgspec.structs.replace(m.path.mode, presumed=True)
            elif manager.cls in ("contextlib.suppress", "pytest.raises"):
                m.path.caught += 1
                frame.attempts += 1
        elif isinstance(manager, Unknown):
            frame.attempts += 1
        if expects_error(item.context):
            m.path.caught += 1
        value = _entered(m, frame, node, manager)
        if isinstance(manager, Instance):
            entered.append(manager)
        if item.target is not None:
            assign(m, frame, item.target, value, item.context)
    flow = run_block(m, frame, node.body)
    m.path.mode, m.path.caught, frame.attempts = saved_mode, saved_caught, saved_attempts
    for left in reversed(entered):
        call_method(m, frame, node, left, "__exit__", (NONE, NONE, NONE))
    return flow


def _moves_bound(node: ir.If) -> bool:
    """``if steps >= next_report: …; next_report += every``: once in a while, however the steps are counted."""
    if not isinstance(node.test, ir.Compare) or _leaves(node.body):
        return False
    moved = {s.target.id for s in node.body if isinstance(s, ir.AugAssign) and isinstance(s.target, ir.Name)}
    return any(isinstance(n, ir.Name) and n.id in moved for n in (node.test.left, *node.test.comparators))


def _entered(m: Machine, frame: Frame, node: ir.With, manager: Value) -> Value:
    if isinstance(manager, GeneratorValue):
        return manager.element
    if isinstance(manager, Instance):
        entered = call_method(m, frame, node, manager, "__enter__")
        return entered if entered is not None else manager
    if isinstance(manager, ExternalInstance):
        fact = m.program.knowledge.function(manager.cls)
        if fact is not None and fact.returns == "context":
            entered = manager.slots.get("enter_result")
            return entered if isinstance(entered, Value) else Unknown("with")
        return manager
    return Unknown("with")


# --- definitions ----------------------------------------------------------------------------------


def _function(m: Machine, frame: Frame, node: ir.FunctionDef) -> int:
    from flake8_jax.semantics.interpreter.definitions import define_function

    name, value = node.function.name, define_function(m, frame, node)
    if frame.fn is None and not m.trackers[GlobalReads].staged:
        m.journal.write(frame.slots, name, value)  # nearly all of them, and there are many
    else:
        assign(m, frame, ir.Name(node.name_start, node.name_start + len(name), name), value, None)
    return NORMAL


def _class(m: Machine, frame: Frame, node: ir.ClassDef) -> int:
    from flake8_jax.semantics.interpreter.definitions import define_class

    assign(m, frame, ir.Name(node.name_start, node.name_start + len(node.name), node.name),
           define_class(m, frame, node), None)  # fmt: skip
    return NORMAL


def _import(m: Machine, frame: Frame, node: ir.Import) -> int:
    versions = m.trackers[ApiUses].versions
    for name in node.names:
        if versions is not None:
            versions.imported(m, frame.scope, name)
        if name.alias:
            m.journal.write(frame.slots, name.alias, m.program.load(name.name))
        else:
            m.journal.write(frame.slots, name.name.split(".")[0], m.program.load_top(name.name))
        note_import(m, frame, node, name.name)
    return NORMAL


def _import_from(m: Machine, frame: Frame, node: ir.ImportFrom) -> int:
    from flake8_jax.semantics.interpreter.definitions import import_from

    import_from(m, frame, node)
    return NORMAL


def _type_alias(m: Machine, frame: Frame, node: ir.TypeAlias) -> int:
    m.journal.write(frame.slots, node.name, Unknown("type alias"))
    return NORMAL


RUN.update(
    {
        ir.ExprStmt: _expression,
        ir.Assign: _assign,
        ir.AnnAssign: _annotated,
        ir.AugAssign: _augmented,
        ir.Return: _return,
        ir.Raise: _raise,
        ir.Assert: _assert,
        ir.Delete: _delete,
        ir.Pass: _pass,
        ir.Break: _break,
        ir.Continue: _continue,
        ir.Global: _pass,
        ir.Nonlocal: _pass,
        ir.If: _if,
        ir.While: _while,
        ir.For: _for,
        ir.Try: _try,
        ir.With: _with,
        ir.Match: _match,
        ir.FunctionDef: _function,
        ir.ClassDef: _class,
        ir.Import: _import,
        ir.ImportFrom: _import_from,
        ir.TypeAlias: _type_alias,
    }
)
