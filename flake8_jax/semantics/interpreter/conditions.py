"""Tests and what they teach: ``if``, ``and``, ``not``, comparisons, the conditional expression.

Vocabulary
----------
narrowing   what an outcome of a test teaches about a name: a union loses members.
key         identifies a test by the values it looks at, so that two tests of one thing are known to be correlated.

Not modelled: relations between numbers, narrowing of items and of attributes of attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.conditions import either_key, labelled, negate_key, normal_condition
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import Writes
from flake8_jax.semantics.domain.values import (
    MISSING,
    NONE,
    Array,
    BuiltinValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    Instance,
    ListValue,
    Static,
    Tree,
    UnionValue,
    Unknown,
    Value,
    is_traced_array,
)
from flake8_jax.semantics.events.events import TruthTest
from flake8_jax.semantics.interpreter.operators import as_array, compare, negated, test_truth, truth_of, unary
from flake8_jax.semantics.interpreter.types import instance_test, untraced_outcome, value_of_class
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import evaluate, lookup
from flake8_jax.semantics.trackers.buffers import read
from flake8_jax.semantics.trackers.reads import Reads
from flake8_jax.semantics.trackers.runs import Runs
from flake8_jax.semantics.trackers.variation import Variations, vary_binary, vary_joined, vary_unary


class Condition(msgspec.Struct, frozen=True, eq=False):
    """What a test amounts to; see ``statements``. ``counter``: it looks at a loop counter. untraced: the outcome that says
    that a value is no tracer, asked for in staged code alone."""

    truth: bool | None
    key: Any = None
    when_true: tuple[Callable[[Machine], None], ...] = ()
    when_false: tuple[Callable[[Machine], None], ...] = ()
    host: bool = False
    counter: bool = False
    untraced: bool | None = None


def condition_of(m: Machine, frame: Frame, node: ir.Expr, how: str, whole: Any) -> Condition:
    """Evaluate a test: tell the rules whose truth is asked for, and find what each outcome teaches."""
    made = _condition(m, frame, node, how, whole)
    if made.truth is None and made.key is not None and how != "while":
        made = msgspec.structs.replace(made, truth=_known_truth(m, made.key))
    if (
        made.truth is None
        and m.path.loops
        and how in ("if", "elif", "ternary", "and", "or")
        and _looks_at_counter(m, frame, node)
    ):
        return msgspec.structs.replace(made, counter=True)
    if made.truth is not None and frame.fn is not None:
        m.trackers[Runs].decided.add(id(frame.fn))
    return made


MAX_CONDITIONS = 64
"""So many of the tests before are compared with a test."""


def _known_truth(m: Machine, key: Any) -> bool | None:
    """The outcome of a test that was made before: on the way here, or on the way to the running function."""
    plain, truth = normal_condition((key, True))
    if plain[0] == "truth" and isinstance(
        m.path.identified.get(plain[1][1]), (ListValue, DictValue, Instance, ExternalInstance)
    ):
        return None  # it may have been filled or emptied since
    for condition in (
        *m.path.assumed,
        *m.path.conditions[max(m.path.condition_base, len(m.path.conditions) - MAX_CONDITIONS) :],
    ):
        other, held = normal_condition(condition)
        if other == plain:
            return held == truth
    return None


def _condition(m: Machine, frame: Frame, node: ir.Expr, how: str, whole: Any) -> Condition:
    kind = type(node)
    if kind is ir.UnaryOp and node.op == "not":  # type: ignore[union-attr]
        inner = _condition(m, frame, node.operand, "not" if how != "while" else "while", whole)  # type: ignore[union-attr]
        truth = None if inner.truth is None else not inner.truth
        key = None if inner.key is None else negate_key(inner.key)
        opposite = None if inner.untraced is None else not inner.untraced
        return Condition(truth, key, inner.when_false, inner.when_true, inner.host, inner.counter, opposite)
    if kind is ir.BoolOp:
        return _bool_condition(m, frame, node, how, whole)  # type: ignore[arg-type]
    if kind is ir.Compare and len(node.ops) == 1:  # type: ignore[union-attr]
        return _compare_condition(m, frame, node, how, whole)  # type: ignore[arg-type]
    value = evaluate(m, frame, node)
    test_truth(m, frame, value, how, node, whole)
    truth = truth_of(value)
    host = isinstance(value, Unknown) and value.host_test
    when_true: tuple[Callable[[Machine], None], ...] = ()
    when_false: tuple[Callable[[Machine], None], ...] = ()
    if kind is ir.Name:
        when_true, when_false = _narrow_truth(frame, node.id, value)  # type: ignore[union-attr]
    untraced: bool | None = None
    if kind is ir.Call:
        when_true, when_false = _narrow_isinstance(m, frame, node)  # type: ignore[arg-type]
        if host and m.path.mode.staged:
            untraced = untraced_outcome(m, frame, node)  # type: ignore[arg-type]
    if kind is ir.NamedExpr:
        when_true, when_false = _narrow_truth(frame, node.target.id, value)  # type: ignore[union-attr]
    named = not isinstance(value, Array) and (not isinstance(value, Static) or value.kind == "bool")
    key = ("truth", _identity(m, value), None) if truth is None and named else None
    return Condition(truth, key, when_true, when_false, host, untraced=untraced)


def _identity(m: Machine, value: Value) -> Any:
    if isinstance(value, Const):
        return ("c", type(value.value).__name__, value.value)
    if isinstance(value, External):
        return ("e", value.name)
    m.path.identified[id(value)] = value
    return ("v", id(value))


def _bool_condition(m: Machine, frame: Frame, node: ir.BoolOp, how: str, whole: Any) -> Condition:
    """``a and b``: b is tested only where a was true; where a tests the number of the iteration, it guards b."""
    if not m.path.loops:
        return _bool_operands(m, frame, node, how, whole)
    loop = m.path.loops[-1]
    guards = loop.guards
    made = _bool_operands(m, frame, node, how, whole)
    loop.guards = guards
    return made


def _bool_operands(m: Machine, frame: Frame, node: ir.BoolOp, how: str, whole: Any) -> Condition:
    """The operands of ``a and b`` in turn; everything learnt from one holds in the next."""
    conjunction = node.op == "and"
    operands, conditions, reports = _Operands(m), len(m.path.conditions), len(m.bus.emissions)
    learnt: list[Callable[[Machine], None]] = []
    host = untraced = False
    undecided = False
    last = len(node.values) - 1
    result: bool | None = conjunction
    for i, operand in enumerate(node.values):
        inner_how = how if i == last or how == "while" else node.op
        condition = _condition(m, frame, operand, inner_how, whole)
        if condition.truth is None and condition.key is not None and how != "while":
            condition = msgspec.structs.replace(condition, truth=_known_truth(m, condition.key))
        host = host or condition.host
        untraced = untraced or condition.untraced is conjunction
        if condition.truth is (not conjunction):
            result = not conjunction if not undecided else None
            if undecided:
                break
            operands.close()
            del m.path.conditions[conditions:]
            return Condition(not conjunction, host=host)
        if condition.truth is None:
            operands.undecided()
            undecided = True
            result = None
            if m.path.loops and _looks_at_counter(m, frame, operand):
                m.path.loops[-1].guards += 1
        steps = condition.when_true if conjunction else condition.when_false
        if condition.key is not None:
            steps = (*steps, _fact(condition.key, conjunction))
        learnt += steps
        operands.learn(steps)
    narrowings = tuple(learnt)
    _keep_first_test(m, reports, whole)
    operands.close()
    del m.path.conditions[conditions:]
    if conjunction:
        return Condition(result, None, narrowings, (), host, untraced=True if untraced else None)
    return Condition(result, None, (), narrowings, host, untraced=False if untraced else None)


def _keep_first_test(m: Machine, reports: int, whole: Any) -> None:
    """Where one operand raises, the truth of the following ones is never asked for."""
    tests = [e for e in m.bus.emissions[reports:] if isinstance(e.event, TruthTest) and e.event.whole is whole]
    later = {id(e) for e in tests if e.event.at is not tests[0].event.at}
    m.bus.emissions[reports:] = [e for e in m.bus.emissions[reports:] if id(e) not in later]


def _fact(key: Any, truth: bool) -> Callable[[Machine], None]:
    """Learn the outcome of a test that is a part of a larger one."""

    def learn(m: Machine) -> None:
        m.path.conditions.append((key, truth))

    return learn


class _Operands:
    """The operands of ``and``/``or`` being run: what was only learnt for evaluating the rest is taken back in the end,
    real effects (a walrus, a call, key uses) stay, and those of operands that may never run are effects of one path."""

    __slots__ = ("learnt", "machine", "mark", "maybe")

    def __init__(self, m: Machine) -> None:
        self.machine = m
        self.mark = len(m.journal.entries)
        self.maybe = -1
        self.learnt: dict[tuple[int, Any], tuple[Any, Any]] = {}

    def undecided(self) -> None:
        """From here on, operands run or not."""
        if self.maybe < 0:
            self.maybe = len(self.machine.journal.entries)

    def learn(self, steps: Iterable[Callable[[Machine], None]]) -> None:
        """Believe what an operand's outcome teaches."""
        m = self.machine
        for step in steps:
            start = len(m.journal.entries)
            step(m)
            for slots, slot, before in m.journal.entries[start:]:
                first = self.learnt.get((id(slots), slot))
                kept = first[0] if first is not None and first[1] is before else before
                self.learnt[id(slots), slot] = (kept, slots.get(slot, MISSING))

    def close(self) -> None:
        """All operands have run."""
        m = self.machine
        later = self._real(m.journal.take_back(self.maybe)) if self.maybe >= 0 else {}
        m.journal.replay(self._real(m.journal.take_back(self.mark)))
        if later:
            m.journal.weaken(later)

    def _real(self, writes: Writes) -> Writes:
        """Writes without what was only learnt."""
        real: Writes = {}
        for where, (slots, slot, value) in writes.items():
            before, learnt = self.learnt.get(where, (MISSING, MISSING))
            if where not in self.learnt or value is not learnt:
                real[where] = (slots, slot, value)
            elif before is not slots.get(slot, MISSING):
                real[where] = (slots, slot, before)
        return real


def _compare_condition(m: Machine, frame: Frame, node: ir.Compare, how: str, whole: Any) -> Condition:
    op = node.ops[0]
    left = evaluate(m, frame, node.left)
    right = evaluate(m, frame, node.comparators[0])
    value = compare(m, frame, node, left, op, right)
    test_truth(m, frame, value, how, node, whole)
    truth = truth_of(value)
    host = isinstance(value, Unknown) and value.host_test
    when_true: tuple[Callable[[Machine], None], ...] = ()
    when_false: tuple[Callable[[Machine], None], ...] = ()
    key: Any = None
    if op in ("is", "is not", "==", "!=") and not is_traced_array(value):
        base = "is" if op.startswith("is") else "=="
        key = (base, _identity(m, left), _identity(m, right))
        if op in ("is not", "!="):
            key = negate_key(key)
        name = node.left.id if isinstance(node.left, ir.Name) else None
        if name is not None and isinstance(right, Const) and (right.value is None or op in ("is", "is not")):
            yes = _narrow_members(frame, name, left, lambda v: isinstance(v, Const) and v.value is right.value)
            no = _narrow_members(frame, name, left, lambda v: not (isinstance(v, Const) and v.value is right.value))
            when_true, when_false = (no, yes) if op in ("is not", "!=") else (yes, no)
        elif isinstance(node.left, ir.Attribute) and isinstance(right, Const) and right.value is None:
            yes, no = _narrow_attribute(m, frame, node.left, left)
            when_true, when_false = (no, yes) if op in ("is not", "!=") else (yes, no)
    return Condition(truth, key, when_true, when_false, host)


def _narrow_attribute(
    m: Machine, frame: Frame, node: ir.Attribute, value: Value
) -> tuple[tuple[Callable[[Machine], None], ...], tuple[Callable[[Machine], None], ...]]:
    """``self.x is None`` on an instance whose attribute is one of several values."""
    if not isinstance(value, UnionValue) or not isinstance(node.value, ir.Name):
        return (), ()
    owner = lookup(m, frame, node.value.id)
    if not isinstance(owner, Instance) or owner.slots.get(node.attr) is not value:
        return (), ()
    slots, attr = owner.slots, node.attr
    kept = joining.union_of([v for v in value.members if not (isinstance(v, Const) and v.value is None)] or [value])

    def learn_not_none(m: Machine) -> None:
        m.journal.write(slots, attr, kept)

    def learn_none(m: Machine) -> None:
        m.journal.write(slots, attr, NONE)

    return (learn_none,), (learn_not_none,)


def _narrow_members(
    frame: Frame, name: str, value: Value, keep: Callable[[Value], bool]
) -> tuple[Callable[[Machine], None], ...]:
    """Learn that only some members of a union are possible for a local name."""
    if not isinstance(value, UnionValue):
        return ()
    kept = [v for v in value.members if keep(v)]
    if not kept or len(kept) == len(value.members):
        return ()
    narrowed = joining.union_of(kept)
    slots = _slots_of(frame, name)

    def learn(m: Machine) -> None:
        m.journal.write(slots, name, narrowed)

    return (learn,)


def _slots_of(frame: Frame, name: str) -> dict[Any, Any]:
    found: Frame | None = frame
    while found is not None:
        if name in found.slots:
            return found.slots
        found = found.parent
    return frame.slots


def _narrow_truth(
    frame: Frame, name: str, value: Value
) -> tuple[tuple[Callable[[Machine], None], ...], tuple[Callable[[Machine], None], ...]]:
    """Inside ``if x:`` x is not None, not False …"""
    return (
        _narrow_members(frame, name, value, lambda v: truth_of(v) is not False),
        _narrow_members(frame, name, value, lambda v: truth_of(v) is not True),
    )


def _narrow_isinstance(
    m: Machine, frame: Frame, node: ir.Call
) -> tuple[tuple[Callable[[Machine], None], ...], tuple[Callable[[Machine], None], ...]]:
    """``isinstance(x, C)`` where the test tells the members of a union apart, or an unknown turns out to be C."""
    if len(node.args) != 2 or not isinstance(node.args[0].value, ir.Name) or not isinstance(node.func, ir.Name):
        return (), ()
    func = lookup(m, frame, node.func.id) or m.program.builtin(node.func.id)
    if not isinstance(func, BuiltinValue) or func.name != "isinstance":
        return (), ()
    name = node.args[0].value.id
    value = lookup(m, frame, name)
    classes = evaluate(m, frame, node.args[1].value)
    if isinstance(value, UnionValue):
        return (
            _narrow_members(frame, name, value, lambda v: instance_test(m, v, classes) is not False),
            _narrow_members(frame, name, value, lambda v: instance_test(m, v, classes) is not True),
        )
    if isinstance(value, (Unknown, Tree)):
        made = value_of_class(m, value, classes)
        if made is not None:
            slots = _slots_of(frame, name)

            def learn(m: Machine) -> None:
                m.journal.write(slots, name, made)

            return (learn,), ()
    return (), ()


def _looks_at_counter(m: Machine, frame: Frame, node: ir.Expr) -> bool:
    """The test takes a remainder, or compares with the number of the iteration."""
    todo: list[Any] = [node]
    while todo:
        n = todo.pop()
        if isinstance(n, ir.BinOp):
            if n.op == "%":
                return True
            todo += [n.left, n.right]
        elif isinstance(n, ir.Compare):
            todo += [n.left, *n.comparators]
        elif isinstance(n, ir.BoolOp):
            todo += n.values
        elif isinstance(n, ir.UnaryOp):
            todo.append(n.operand)
        elif isinstance(n, ir.Name):
            value = lookup(m, frame, n.id)
            if any(id(value) in loop.counters for loop in m.path.loops):
                return True
        elif isinstance(n, ir.Call):
            todo += [a.value for a in n.args]
    return False


def picks_iteration(m: Machine, frame: Frame, node: ir.Expr) -> bool:
    """``i == 0``, ``i < n - 1``: the test tells one iteration, or the first or last few, from the others."""
    if isinstance(node, ir.BoolOp):
        return any(picks_iteration(m, frame, v) for v in node.values)
    if isinstance(node, ir.UnaryOp):
        return picks_iteration(m, frame, node.operand)
    if not isinstance(node, ir.Compare):
        return False
    values = [lookup(m, frame, n.id) for n in (node.left, *node.comparators) if isinstance(n, ir.Name)]
    return any(id(v) in loop.counters for v in values if v is not None for loop in m.path.loops)


def evaluate_bool_op(m: Machine, frame: Frame, node: ir.BoolOp) -> Value:
    """``a and b`` as a value: one of the operands."""
    results: list[Value] = []
    last = len(node.values) - 1
    operands, conditions = _Operands(m), len(m.path.conditions)
    for i, operand in enumerate(node.values):
        if i == last:
            results.append(evaluate(m, frame, operand))
            break
        condition: Condition | None = None
        if isinstance(operand, (ir.Compare, ir.BoolOp, ir.UnaryOp)) or (
            isinstance(operand, ir.Call) and isinstance(operand.func, ir.Name)
        ):
            condition = _condition(m, frame, operand, node.op, node)
            truth = condition.truth
            value: Value = Static("bool") if truth is None else Const(truth)
        else:
            value = evaluate(m, frame, operand)
            numeric = isinstance(value, Tree) and _is_number(node.values[i + 1])
            test_truth(m, frame, as_array(value) if numeric else value, node.op, operand, node)
            truth = truth_of(value)
            if isinstance(operand, ir.Name):
                when_true, when_false = _narrow_truth(frame, operand.id, value)
                condition = Condition(truth, None, when_true, when_false)
        if truth is (node.op == "or"):
            results.append(value)
            break
        if truth is None:
            operands.undecided()
            results.append(_short_circuit_value(value, node.op))
        if condition is not None:
            operands.learn(condition.when_true if node.op == "and" else condition.when_false)
    operands.close()
    del m.path.conditions[conditions:]
    return joining.join_all(results)


def _is_number(node: ir.Expr) -> bool:
    """``x or 1.0``: an alternative that is a number says that ``x`` is one, not a container."""
    return isinstance(node, ir.Constant) and node.kind in ("int", "float")


def _short_circuit_value(value: Value, op: str) -> Value:
    """``x or y`` gives x only where x is true: None and False members fall away."""
    if isinstance(value, UnionValue) and op == "or":
        kept = [v for v in value.members if truth_of(v) is not False]
        return joining.union_of(kept) if kept else value
    return value


def evaluate_unary_op(m: Machine, frame: Frame, node: ir.UnaryOp) -> Value:
    if node.op == "not":
        if isinstance(node.operand, (ir.BoolOp, ir.Compare)):
            condition = _condition(m, frame, node.operand, "not", node)
            return Static("bool") if condition.truth is None else Const(not condition.truth)
        value = evaluate(m, frame, node.operand)
        test_truth(m, frame, value, "not", node.operand, node)
        return negated(value)
    operand = evaluate(m, frame, node.operand)
    if m.trackers[Reads].matter:
        read(m, frame, node, operand, depth=0)
    result = unary(m, operand, node.op)
    return vary_unary(m, operand, result) if m.trackers[Variations].known else result


def evaluate_compare(m: Machine, frame: Frame, node: ir.Compare) -> Value:
    left = evaluate(m, frame, node.left)
    result: Value = Const(True)
    last = len(node.ops) - 1
    for i, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = evaluate(m, frame, comparator)
        result = compare(m, frame, node, left, op, right)
        if m.trackers[Variations].known:
            vary_binary(m, op, left, right, result)
        if i < last:
            # ``a < b < c`` is ``a < b and b < c``: the first result is asked for its truth.
            test_truth(m, frame, result, "compare", node, node)
            if truth_of(result) is False:
                return result
        left = right
    return result


def evaluate_if_exp(m: Machine, frame: Frame, node: ir.IfExp) -> Value:
    condition = condition_of(m, frame, node.test, "ternary", node)
    if condition.truth is not None:
        return evaluate(m, frame, node.body if condition.truth else node.orelse)
    results: list[Value] = []
    arms = []
    for expression, learn, truth in (
        (node.body, condition.when_true, True),
        (node.orelse, condition.when_false, False),
    ):
        mark, reports, conditions = len(m.journal.entries), len(m.bus.emissions), len(m.path.conditions)
        for step in learn:
            step(m)
        if condition.key is not None:
            m.path.conditions.append((condition.key, truth))
        loop = m.path.loops[-1] if condition.counter and m.path.loops else None
        if loop is not None:
            loop.guards += 1
        results.append(evaluate(m, frame, expression))
        if loop is not None:
            loop.guards -= 1
        del m.path.conditions[conditions:]
        if condition.untraced is truth:
            del m.bus.emissions[reports:]
        elif condition.host:
            m.bus.drop_errors(reports)
        arms.append(m.journal.take_back(mark))
    m.journal.merge(arms)
    labels: list[tuple[Any, bool] | None] = [(condition.key, True), (condition.key, False)]
    joined = either_key(results, labels if condition.key is not None else None) or joining.join(results[0], results[1])
    if m.trackers[Variations].known:
        vary_joined(m, results, joined)
    if isinstance(joined, UnionValue) and condition.key is not None:
        joined = labelled(joined, results, labels)
    if condition.host and not isinstance(joined, Unknown) and results[0] is not results[1]:
        # Which one it is, only the host knows: neither may be evidence.
        return Unknown("host test", host_test=isinstance(joined, (Const, Static)))
    return joined
