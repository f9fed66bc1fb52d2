"""Loops: ``for`` and ``while``.

Vocabulary
----------
head        the state at the start of an iteration; each pass over the body joins into it what the pass left behind, until
            nothing changes.
emitting    the last pass is the one that emits events: what they say holds in every iteration.
unrolled    a loop over a few known elements that differ runs once for each.
too deep    nested in so many loops of one function that it runs once and rules hear nothing of it. In passes that rules do
            not hear of, not even that: what its last run left behind stands for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain import memo_keys
from flake8_jax.semantics.domain.code import names_read
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import BREAK, CONTINUE, NORMAL, RAISE, RETURN, Flow, LoopState, Writes
from flake8_jax.semantics.domain.values import (
    MISSING,
    Array,
    Const,
    ExternalInstance,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    Static,
    TransformedValue,
    Tree,
    UnionValue,
    Unknown,
    Value,
    known_elements,
)
from flake8_jax.semantics.events.events import (
    DonatedUse,
    Formatting,
    KeyUse,
    LibraryCall,
    MethodCall,
    MissingSync,
    Store,
    TruthTest,
)
from flake8_jax.semantics.events.facts import iterates
from flake8_jax.semantics.interpreter.assignment import assign
from flake8_jax.semantics.interpreter.branches import guessed_names, write_guessed
from flake8_jax.semantics.interpreter.conditions import condition_of, judge_reports
from flake8_jax.semantics.interpreter.iteration import are_functions, iterated, parts_of
from flake8_jax.semantics.machine.bus import Emission
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import RUN, evaluate, run_block
from flake8_jax.semantics.machine.limits import MAX_SETTLED_LOOPS
from flake8_jax.semantics.trackers.freshness import track_staged_loop
from flake8_jax.semantics.trackers.runs import Runs
from flake8_jax.semantics.trackers.unrolling import is_number, trips_of, trips_of_while
from flake8_jax.semantics.trackers.variation import Variations, forget

MAX_PASSES = 3

MAX_EMITTING_LOOPS = 3
"""In loops that are nested more deeply, all passes but the last run the loops within them once, without events."""

MAX_NESTED_LOOPS = 6
"""Loops that stand in so many others of one function run once, and rules hear nothing of them."""

MAX_UNROLLED = 8
"""A loop over so many known elements is run element by element; half as many in an unrolled loop, and so on."""


_OF_FIRST = (DonatedUse, MissingSync)
"""Events of the first iteration that count whatever the others show."""
_OF_TIME = (Formatting, LibraryCall, MethodCall, Store)
"""Events of the first iteration that count where a later one gives up the function that makes them."""


class _DeepRun(msgspec.Struct, frozen=True, eq=False):
    """What a loop that is nested too deeply left behind: writes, and paths that ended in it."""

    writes: Writes
    loop_exits: list[Writes]
    again: bool
    exits: list[Writes]
    returns: list[Value]
    yields: list[Value]


def _break(m: Machine, frame: Frame, node: ir.Break) -> Flow:
    loop = frame.loops[-1]
    loop.exits.append(m.journal.since(loop.base))
    loop.vague = loop.vague or frame.guesses > frame.setups
    return BREAK


def _continue(m: Machine, frame: Frame, node: ir.Continue) -> Flow:
    loop = frame.loops[-1]
    loop.continues.append(m.journal.since(loop.mark))
    return CONTINUE


def run_loop(m: Machine, frame: Frame, loop: LoopState, once: Callable[[], Flow]) -> None:
    """Run ``once`` (one iteration) to a fixpoint and leave the state after the loop, ``break`` not included."""
    track_staged_loop(m, loop.node)
    m.path.passes += 1
    m.journal.keep_alive.append(loop)  # arrays remember the loop in which they were dispatched by its identity
    doubtful, around, emitted = frame.doubtful, frame.without_events, len(m.bus.emissions)
    too_deep = len(frame.loops) >= MAX_NESTED_LOOPS
    before = frame.deep_loops.get(id(loop.node)) if around and too_deep else None
    if before is not None:
        m.path.passes -= 1
        _repeat_deep(m, frame, loop, before)
        return
    left = _ends_of(frame, loop)
    without_events = around or too_deep
    if too_deep:
        m.bus.count("loops nested too deeply")
    limit = 0 if without_events else MAX_PASSES if m.path.passes <= MAX_SETTLED_LOOPS else 1
    loop.base = len(m.journal.entries)
    attempt, runs, ever_given_up = 0, m.trackers[Runs], False
    of_first: list[Emission] = []
    while True:
        last, lost = attempt == limit, runs.lost
        # Each loop in here would run its body at least twice, and each loop in those.
        frame.without_events = without_events or (not last and m.path.passes > MAX_EMITTING_LOOPS)
        loop.last = last and not without_events
        reports, ends = len(m.bus.emissions), _ends_of(frame, loop)
        branches = _run_iteration(m, frame, loop, once)
        frame.doubtful = doubtful
        if loop.runs and branches:
            # There surely is a first iteration, and this was it: the fixpoint starts after it.
            loop.runs = False
            m.journal.merge(branches)
            if not without_events:
                continue
            branches = [{}]
        changed = _widen_head(m, frame, loop, branches, give_up=attempt + 1 >= limit)
        given_up = runs.lost > lost
        ever_given_up = ever_given_up or given_up  # the last pass may repeat a run that gave up
        # Where a function was given up, the pass that rules get events of runs it once more.
        repeats = given_up and not last and not without_events and all(outer.last for outer in m.path.loops)
        if last or not (changed or frame.without_events or repeats):
            m.bus.emissions += of_first if ever_given_up else []
            break
        of_first += _forget_reports(m, reports, first=attempt == 0)
        ends.forget_later(frame, loop)
        attempt = attempt + 1 if changed or frame.without_events else limit
    if too_deep:
        del m.bus.emissions[emitted:]
        ended = frame.exits[left.exits :], frame.returns[left.returns :], frame.yields[left.yields :]
        writes = m.journal.since(loop.base)
        frame.deep_loops[id(loop.node)] = _DeepRun(writes, loop.exits[:], loop.again, *ended)
    m.path.passes -= 1
    frame.without_events = around
    _end_variations(m, loop)


class _Ends(NamedTuple):
    """How many paths were known that leave the function, yield from it, or leave the loop by ``break``; see ``Frame`` and
    ``LoopState``."""

    exits: int
    returns: int
    yields: int
    breaks: int

    def forget_later(self, frame: Frame, loop: LoopState) -> None:
        """Forget the paths that have left since."""
        del frame.exits[self.exits :]
        del frame.returns[self.returns :]
        del frame.yields[self.yields :]
        del loop.exits[self.breaks :]


def _ends_of(frame: Frame, loop: LoopState) -> _Ends:
    return _Ends(len(frame.exits), len(frame.returns), len(frame.yields), len(loop.exits))


def _run_iteration(m: Machine, frame: Frame, loop: LoopState, once: Callable[[], Flow]) -> list[Writes]:
    """Run one iteration and undo it: what each of its paths has written that reaches the next iteration."""
    mark = len(m.journal.entries)
    m.path.loops.append(loop)
    m.trackers.iteration(loop)
    frame.loops.append(loop)
    loop.mark = mark
    frame.branches += 1
    loop.branches, loop.tested = frame.branches, False
    flow = once()
    frame.branches -= 1
    frame.loops.pop()
    m.path.loops.pop()
    writes = m.journal.rollback(mark)
    branches = loop.continues
    loop.continues = []
    if flow == NORMAL:
        branches.append(writes)
    loop.again = loop.again or bool(branches)
    return branches


def _forget_reports(m: Machine, reports: int, *, first: bool) -> list[Emission]:
    """Drop the reports of a pass, because the next one makes them again. Of the first one, gives back what counts if a later
    pass gives up a function that ran too often."""
    emitted = m.bus.emissions[reports:]
    # What the first iteration reads after it was donated stays deleted, whatever the others find there; and the step
    # that it runs is the one that they run, on values of which less is known.
    m.bus.emissions[reports:] = [e for e in emitted if first and type(e.event) in _OF_FIRST]
    return [e for e in emitted if first and (type(e.event) is KeyUse or _is_on_time(e))]


def _is_on_time(emission: Emission) -> bool:
    """The report says what an iteration reads or stores: the first one does so as the others do."""
    level = emission.report.level or emission.rule.level
    return type(emission.event) in _OF_TIME and level != "error"


def _repeat_deep(m: Machine, frame: Frame, loop: LoopState, before: _DeepRun) -> None:
    """Do again what a loop that is nested too deeply did before. The state may differ by now, so values are widened."""
    loop.base = len(m.journal.entries)
    writes: Writes = {}
    for where, (slots, slot, value) in before.writes.items():
        known = isinstance(value, Value) and m.trackers.owner_of(slots) is None
        writes[where] = (slots, slot, _widened(value, value) if known else value)
    m.journal.join(writes)
    loop.exits += before.loop_exits
    loop.again = before.again
    frame.exits += before.exits
    frame.returns += before.returns
    frame.yields += before.yields
    _end_variations(m, loop)


def _end_variations(m: Machine, loop: LoopState) -> None:
    if loop.again and not m.path.mode.staged:
        m.bus.record_everywhere(iterates(loop))
    if m.trackers[Variations].known or m.trackers[Variations].grown:
        forget(m, loop)


def _widen_head(m: Machine, frame: Frame, loop: LoopState, branches: list[Writes], *, give_up: bool) -> bool:
    """Join what the iteration left behind into the state at the loop's head; whether anything there changed."""
    changed = False
    if not branches:
        return False
    mark = len(m.journal.entries)
    m.journal.merge([{}, *branches])
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
        _await_last(loop, now, [branch.get((id(slots), slot)) for branch in branches])
        if memo_keys.equivalent(old, now):
            continue
        changed = True
        if give_up:
            slots[slot] = _widened(old, now)
    # A key that came into use in this iteration must be seen by the next one.
    for slots, _slot, old in m.journal.entries[mark:]:
        if old is MISSING and m.trackers.owner_of(slots) is not None:
            changed = True
    return m.trackers.widen(frame, loop, branches, m.journal.entries[mark:]) or changed


def _await_last(loop: LoopState, now: Value, made: list[tuple[dict[Any, Any], Any, Any] | None]) -> None:
    """What each iteration has the device compute, the next one finds unfinished. made: by each path through the body."""
    if isinstance(now, Array) and not now.dispatched:
        last = [write[2] if write is not None else None for write in made]
        if all(isinstance(value, Array) and value.dispatched == id(loop) for value in last):
            now.dispatched = id(loop)


def _widened(old: Value, now: Value) -> Value:
    if isinstance(now, (Array, Tree, Static)) or _differs_in_arrays(old, now):
        return now
    if isinstance(now, UnionValue):
        others = [v for v in now.members if not isinstance(v, (Array, Tree, Static, Const))]
        if not others or (len(others) == 1 and isinstance(others[0], TransformedValue)):
            return now  # with a transform: what the loop applies when it is first needed
    return Unknown("loop")


def _differs_in_arrays(old: Value, now: Value) -> bool:
    """Both are objects of one class, such as a model before and after a step, that differ only in the arrays they hold."""
    if isinstance(old, Instance) and isinstance(now, Instance):
        same = old.cls is now.cls and old.complete is now.complete
    elif isinstance(old, ExternalInstance) and isinstance(now, ExternalInstance):
        same = old.cls == now.cls
    else:
        return False
    if not same or (old.exact, old.level) != (now.exact, now.level) or old.slots.keys() != now.slots.keys():
        return False
    return all(_is_as_before(value, now.slots[name]) for name, value in old.slots.items())


def _is_as_before(old: Any, now: Any) -> bool:
    if not isinstance(old, Value) or not isinstance(now, Value):
        return bool(old == now)
    both = type(old) is Array and type(now) is Array
    return both or memo_keys.equivalent(old, now) or _differs_in_arrays(old, now)


def _for(m: Machine, frame: Frame, node: ir.For) -> Flow:
    iterable = evaluate(m, frame, node.iter)
    loop = LoopState("for", node, frame.scope)
    known = known_elements(iterable)
    loop.trip_count = _trip_count(frame, node, iterable)
    loop.counting = _counts(iterable)
    if known is not None and _worth_unrolling(m, known):
        return _unrolled(m, frame, node, loop, known)
    make_element = iterated(m, frame, node.iter, iterable, "for", loop)
    if make_element is None:  # surely empty
        if frame.fn is not None:
            m.trackers[Runs].decided.add(id(frame.fn))
        return run_block(m, frame, node.orelse)

    loop.times = len(known) if known is not None else 0
    loop.runs = bool(known) or (isinstance(iterable, GeneratorValue) and iterable.some)
    loop.runs = loop.runs or (isinstance(iterable, (Array, HostArray)) and bool(iterable.length))
    loop.runs = loop.runs or (isinstance(iterable, ListValue) and "some" in iterable.slots)
    m.trackers.loop_enter(frame, loop)

    def once() -> Flow:
        assign(m, frame, node.target, make_element(), node.iter)
        return run_block(m, frame, node.body)

    is_some = loop.runs
    run_loop(m, frame, loop, once)
    m.trackers.loop_leave(frame, loop, node.iter, trips_of(iterable))
    if is_some and not loop.again:  # the first iteration leaves the loop
        return _leave_loop(m, frame, loop, RETURN if frame.exits or frame.returns or frame.yields else RAISE)
    flow: Flow = run_block(m, frame, node.orelse) if node.orelse else NORMAL
    return _leave_loop(m, frame, loop, flow)


def _trip_count(frame: Frame, node: ir.For, iterable: Value) -> int:
    """How often the loop runs, whichever code calls the function around; 0 where that is not known."""
    if frame.fn is not None and not {p.name for p in frame.fn.params}.isdisjoint(names_read(node.iter)):
        return 0
    known = known_elements(iterable)
    if known is not None:
        return len(known)
    length = iterable.length if isinstance(iterable, (Array, HostArray)) else None
    return trips_of(iterable) or length or 0


def _counts(iterable: Value) -> bool:
    """The elements are numbers, as those of a ``range``."""
    elements = (iterable.element,) if isinstance(iterable, GeneratorValue) else known_elements(iterable) or ()
    return bool(elements) and all(is_number(element) for element in elements)


def _worth_unrolling(m: Machine, elements: tuple[Value, ...]) -> bool:
    """A few elements that are so different from one another that their join would say nothing; or just one."""
    if len(elements) == 1:
        return True
    depth = sum(loop.unrolled for loop in m.path.loops)
    parts = [p for e in elements for p in parts_of(e)]
    if are_functions(m, elements):
        return True
    if not 1 < len(elements) <= (MAX_UNROLLED >> depth):
        return False
    return any(
        not isinstance(p, (Array, Tree, Unknown, Static, HostArray))
        and not (isinstance(p, Const) and not isinstance(p.value, str))
        for p in parts
    )


def _unrolled(m: Machine, frame: Frame, node: ir.For, loop: LoopState, elements: tuple[Value, ...]) -> Flow:
    """A loop over a few known elements: one iteration each."""
    loop.unrolled = loop.last = True
    loop.times = len(elements)
    track_staged_loop(m, node)
    m.trackers.loop_enter(frame, loop)
    m.journal.keep_alive.append(loop)
    doubtful = frame.doubtful
    loop.base = loop.mark = len(m.journal.entries)
    m.path.loops.append(loop)
    frame.loops.append(loop)
    frame.branches += 1
    flow: Flow = NORMAL
    for element in elements:
        frame.doubtful = doubtful
        m.trackers.iteration(loop)
        assign(m, frame, node.target, element, node.iter)
        flow = run_block(m, frame, node.body)
        if loop.continues:
            branches, loop.continues = loop.continues, []
            writes = m.journal.rollback(loop.mark)
            if flow == NORMAL:
                branches.append(writes)
            m.journal.merge(branches)
            flow = NORMAL
        if flow != NORMAL:
            break
    frame.branches -= 1
    frame.doubtful = doubtful
    frame.loops.pop()
    m.path.loops.pop()
    if m.trackers[Variations].known or m.trackers[Variations].grown:
        forget(m, loop)
    m.trackers.loop_leave(frame, loop, node.iter, None)
    if flow == NORMAL and node.orelse:
        flow = run_block(m, frame, node.orelse)
    return _leave_loop(m, frame, loop, RAISE if flow == BREAK else flow)


def _leave_loop(m: Machine, frame: Frame, loop: LoopState, flow: Flow) -> Flow:
    """Merge the paths that left by ``break`` with the one that ran to the end (if there is one)."""
    if not loop.exits:
        return flow
    branches = loop.exits
    writes = m.journal.rollback(loop.base)
    if flow == NORMAL:
        branches.append(writes)
    guessed = guessed_names(frame, branches) if loop.vague else []
    m.journal.merge(branches)
    write_guessed(m, frame, guessed)
    return NORMAL


def _while(m: Machine, frame: Frame, node: ir.While) -> Flow:
    loop = LoopState("while", node, frame.scope)
    endless, first = False, True
    trips = trips_of_while(m, frame, node) if m.path.mode.compiled else None
    m.trackers.loop_enter(frame, loop)

    def once() -> Flow:
        nonlocal endless, first
        condition = condition_of(m, frame, node.test, "while", node)
        loop.runs = first and condition.truth is True
        first = False
        endless = condition.truth is True
        if condition.truth is False:
            return RAISE
        conditions, reports = len(m.path.conditions), len(m.bus.emissions)
        for learn in condition.when_true:
            learn(m)
        flow = run_block(m, frame, node.body)
        del m.path.conditions[conditions:]
        judge_reports(m, condition, reports, outcome=True)
        if flow == NORMAL and m.path.mode.staged and condition.truth is None:
            _test_again(m, frame, node)
        return flow

    run_loop(m, frame, loop, once)
    m.trackers.loop_leave(frame, loop, node.test, trips)
    flow: Flow = RAISE if endless else NORMAL
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
    m.journal.rollback(mark)


RUN.update({ir.For: _for, ir.While: _while, ir.Break: _break, ir.Continue: _continue})
