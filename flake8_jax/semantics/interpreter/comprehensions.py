"""Comprehensions: one iteration per element where the elements are known, else one that stands for all.

Limitations: ``async`` comprehensions, the contents of sets.
"""

from __future__ import annotations

import math

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.code import names_read
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import LoopState
from flake8_jax.semantics.domain.tracer_tests import is_answer
from flake8_jax.semantics.domain.values import (
    Const,
    DictValue,
    GeneratorValue,
    ListValue,
    Static,
    Tree,
    Unknown,
    Value,
    known_elements,
)
from flake8_jax.semantics.events.events import DonatedUse
from flake8_jax.semantics.events.facts import iterates
from flake8_jax.semantics.interpreter.assignment import assign, emit_hash
from flake8_jax.semantics.interpreter.conditions import EITHER, Test, condition_of, judge_reports
from flake8_jax.semantics.interpreter.iteration import is_followed, iterated
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import evaluate
from flake8_jax.semantics.trackers.freshness import track_staged_loop
from flake8_jax.semantics.trackers.keys import Keys
from flake8_jax.semantics.trackers.unrolling import trips_of
from flake8_jax.semantics.trackers.variation import Variations, forget

MAX_COPIES = 512
"""A comprehension is run element by element unless those around it that are make more runs of its element than that."""

MAX_REPEATED = 4
"""Comprehensions that stand in so many others run once, even if they use a key: each of them runs those in it twice."""


def evaluate_comprehension(m: Machine, frame: Frame, node: ir.Comprehension) -> Value:
    inner = Frame(None, frame.scope, frame)
    inner.loops = frame.loops
    outermost = evaluate(m, frame, node.generators[0].iter)
    known = _element_by_element(m, inner, node, outermost)
    if known is not None:
        return known
    loop = LoopState("comprehension", node, frame.scope)
    results: list[Value] = []
    uses_before = len(m.journal.entries)
    trips: list[int | None] = []
    tests: list[Test] = []

    def once(level: int) -> None:
        if level == len(node.generators):
            if node.key is not None:
                key = evaluate(m, inner, node.key)
                emit_hash(m, inner, node.key, key, "dict-key")
            results.append(evaluate(m, inner, node.element))
            return
        generator = node.generators[level]
        iterable = outermost if level == 0 else evaluate(m, inner, generator.iter)
        make_element = iterated(m, inner, generator.iter, iterable, "comprehension", loop)
        trips.append(trips_of(iterable) if not generator.ifs else None)
        if make_element is None:
            return
        assign(m, inner, generator.target, make_element(), None)
        behind: list[tuple[Test, int]] = []
        for test in generator.ifs:
            condition = condition_of(m, inner, test, "comprehension", node)
            tests.append(condition)
            if condition.truth is False:
                return
            for learn in condition.when_true:
                learn(m)
            if condition.untraced is True:
                _forget_tracers(m, inner, test)
            behind.append((condition, len(m.bus.emissions)))
        once(level + 1)
        for condition, reports in behind:
            judge_reports(m, condition, reports, outcome=True)

    m.trackers.loop_enter(frame, loop)
    m.path.loops.append(loop)
    m.trackers.iteration(loop)
    track_staged_loop(m, node)
    reports, conditions = len(m.bus.emissions), len(m.path.conditions)
    once(0)
    del m.path.conditions[conditions:]
    single = len(node.generators) == 1 and len(known_elements(outermost) or ()) == 1
    nested = sum(around.kind == "comprehension" and not around.unrolled for around in m.path.loops) > MAX_REPEATED
    if (
        not single
        and not nested
        and any(slots is m.trackers[Keys].uses for slots, _, _ in m.journal.entries[uses_before:])
    ):
        # A key was used: a second iteration shows whether it is the same one again. What was donated is told of once.
        m.bus.emissions[reports:] = [e for e in m.bus.emissions[reports:] if isinstance(e.event, DonatedUse)]
        m.trackers.iteration(loop)
        once(0)
        del m.path.conditions[conditions:]
    m.path.loops.pop()
    if m.trackers[Variations].known:
        m.bus.record_everywhere(iterates(loop))
        forget(m, loop)
    known_trips = [count for count in trips[: len(node.generators)] if count is not None]
    total = math.prod(known_trips) if len(known_trips) == len(node.generators) else None
    m.trackers.loop_leave(frame, loop, node.generators[0].iter, total)
    some = not tests and len(node.generators) == 1 and is_some(outermost)
    element = results[-1] if results else None
    if node.kind == "set" and element is not None:
        emit_hash(m, frame, node.element, element, "set-element")
    return _made(m, node, element, _answer_of_filters(tests), some=some and element is not None)


def _made(m: Machine, node: ir.Comprehension, element: Value | None, filtered: Unknown | None, *, some: bool) -> Value:
    """What a comprehension gives. element: any one of its elements, None if it surely has none. filtered, some: see
    ``ListValue``."""
    trace = m.path.mode.trace
    if node.kind == "generator":
        return GeneratorValue(element if element is not None else Unknown("nothing"), some=some, made_in=trace)
    if node.kind == "set" and is_answer(element):
        return Unknown("set", host_test=True)
    if node.kind == "set":
        return Static("set", made_in=trace)
    if node.kind == "dict":
        return DictValue({}, element, is_open=True, made_in=trace)
    if element is None:
        return ListValue((), made_in=trace)
    made = ListValue(None, element, made_in=trace)
    if filtered is not None:
        made.slots["filtered"] = filtered
    if some:
        made.slots["some"] = True
    return made


def _answer_of_filters(tests: list[Test]) -> Unknown | None:
    """Whether anything passes the filters, where only Python knows what passes each of them."""
    if not tests or any(test.guesses != EITHER and test.untraced is None for test in tests):
        return None
    return Unknown("filtered", host_test=True, untraced=False if tests[0].untraced is False else None)


def is_some(value: Value) -> bool:
    """There surely is a first element."""
    if isinstance(value, ListValue):
        return "some" in value.slots or bool(value.known())
    return isinstance(value, GeneratorValue) and value.some


def _forget_tracers(m: Machine, inner: Frame, test: ir.Expr) -> None:
    """What a filter tests and keeps is not traced."""
    for name in names_read(test):
        if isinstance(inner.slots.get(name), Tree):
            m.journal.write(inner.slots, name, Unknown("no tracer"))


def _element_by_element(m: Machine, inner: Frame, node: ir.Comprehension, iterable: Value) -> Value | None:
    """A comprehension over one short sequence of known elements: each gets its own value."""
    if len(node.generators) != 1 or node.generators[0].ifs or node.kind == "set":
        return None
    generator = node.generators[0]
    known = known_elements(iterable)
    if known is None or not is_followed(m, known):
        return None
    if len(known) > 1 and isinstance(generator.iter, ir.Call) and all(isinstance(element, Const) for element in known):
        return None  # ``range(4)``: what is made is alike
    if len(known) * math.prod(loop.times for loop in m.path.loops if loop.unrolled and loop.times) > MAX_COPIES:
        return None
    keys: list[Value] = []
    values: list[Value] = []
    loop = LoopState("comprehension", node, inner.scope)
    m.path.loops.append(loop)
    loop.unrolled, loop.times = True, len(known)
    track_staged_loop(m, node)
    for element in known:
        m.trackers.iteration(loop)
        assign(m, inner, generator.target, element, generator.iter)
        if node.key is not None:
            keys.append(evaluate(m, inner, node.key))
            emit_hash(m, inner, node.key, keys[-1], "dict-key")
        values.append(evaluate(m, inner, node.element))
    m.path.loops.pop()
    if m.trackers[Variations].known or m.trackers[Variations].grown:
        forget(m, loop)
    if node.kind == "dict":
        if all(isinstance(k, Const) for k in keys):
            return DictValue({k.value: v for k, v in zip(keys, values, strict=True)}, made_in=m.path.mode.trace)  # type: ignore[attr-defined]
        return DictValue({}, joining.join_all(values), is_open=True, made_in=m.path.mode.trace)
    return ListValue(tuple(values), made_in=m.path.mode.trace)
