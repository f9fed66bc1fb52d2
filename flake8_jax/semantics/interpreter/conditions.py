"""Tests and what the analysis learns from them: ``if``, ``and``, ``not``, comparisons, the conditional expression.

Vocabulary
----------
narrowing   what the outcome of a test says about a name. For example, a union loses members.
guess       an outcome that no known caller causes. What happens after it is not evidence.
key         identifies a test by the values that it tests, so that two tests of the same thing are known to have the same
            outcome.

Limitations: relations between numbers, narrowing of items and of attributes of attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.conditions import (
    alternatives,
    either_key,
    labelled,
    negate_key,
    normal_condition,
)
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import Writes
from flake8_jax.semantics.domain.tracer_tests import untraced_of_all, untraced_outcome
from flake8_jax.semantics.domain.values import (
    MISSING,
    NONE,
    UNKNOWN_RANK,
    Array,
    BuiltinValue,
    Condition,
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
    known_elements,
)
from flake8_jax.semantics.events.events import TestKind, TruthTest
from flake8_jax.semantics.interpreter.comparisons import compare_values, other_library
from flake8_jax.semantics.interpreter.operations import resolve_name
from flake8_jax.semantics.interpreter.operators import as_array, negated, test_truth, truth_of, unary
from flake8_jax.semantics.interpreter.types import instance_test, value_of_class
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import evaluate, lookup
from flake8_jax.semantics.trackers.buffers import read
from flake8_jax.semantics.trackers.reads import Reads
from flake8_jax.semantics.trackers.runs import Runs
from flake8_jax.semantics.trackers.variation import Variations, vary_binary, vary_joined, vary_unary

Steps = tuple[Callable[[Machine], None], ...]
"""What an outcome of a test teaches."""


NEITHER: frozenset[bool] = frozenset()
EITHER = frozenset({True, False})


class Test(msgspec.Struct, frozen=True, eq=False):
    """What a test amounts to; see ``statements``. guesses: the outcomes that are guesses. ``counter``: it looks at a loop
    counter; frequent: and holds every few iterations. untraced: the outcome that says that a value is no tracer, asked for in
    staged code alone."""

    truth: bool | None
    key: Any = None
    when_true: Steps = ()
    when_false: Steps = ()
    guesses: frozenset[bool] = NEITHER
    counter: bool = False
    frequent: bool = False
    untraced: bool | None = None

    def taught(self, outcome: bool) -> Steps:
        """What the test teaches where it came out so."""
        return self.when_true if outcome else self.when_false


def judge_reports(m: Machine, test: Test, reports: int, *, outcome: bool) -> None:
    """Forget the reports since ``reports`` that are true only where a test came out as ``outcome``, if that is a guess, or
    says that nothing is traced."""
    if test.untraced is outcome:
        del m.bus.emissions[reports:]
    elif outcome in test.guesses or m.path.mode.optional:
        m.bus.drop_errors(reports)


def condition_of(m: Machine, frame: Frame, node: ir.Expr, how: TestKind, whole: Any) -> Test:
    """Evaluate a test: tell the rules whose truth is asked for, and find what each outcome teaches."""
    made = _settled(m, frame, node, how, whole)
    if made.truth is not None:
        if frame.fn is not None:
            m.trackers[Runs].decided.add(id(frame.fn))
    elif m.path.loops and how in ("if", "elif", "ternary", "and", "or"):
        frequent = _found_rare(m, made.key)
        if _looks_at_counter(m, frame, node):
            return msgspec.structs.replace(made, counter=True, frequent=frequent or _is_frequent(m, frame, node))
        if frequent is not None:
            return msgspec.structs.replace(made, counter=True, frequent=frequent)
    return made


_OFTEN = 20
"""What happens once in so many iterations still happens often."""


def _is_frequent(m: Machine, frame: Frame, node: ir.Expr) -> bool:
    """``step % 10 == 0``: what the test guards runs every few iterations."""
    if isinstance(node, ir.BoolOp) and node.op == "or":
        return any(_is_frequent(m, frame, value) for value in node.values)
    if isinstance(node, ir.Name):
        value = lookup(m, frame, node.id)
        return any(loop.rare.get(id(value), False) for loop in m.path.loops)
    if not isinstance(node, ir.Compare) or not isinstance(node.left, ir.BinOp) or node.left.op != "%":
        return False
    right = node.left.right
    every = _constant_of(m, frame, right)
    if isinstance(every, (ir.Constant, Const)):
        return type(every.value) is int and every.value <= _OFTEN
    return _EVERY_FEW.fullmatch(last_name(right).lower()) is not None


_EVERY_FEW = re.compile(
    r"(?!.*(?:target|log|eval|save|print|plot|test|checkpoint|ckpt|valid))"
    r"(?:.*_)?(?:train|training|learn|learning|update|rollout|accumulation)_(?:freq|frequency|every|interval|period|steps)"
)
"""``step % config.train_freq``: what agents train by is a small number."""


def _constant_of(m: Machine, frame: Frame, node: ir.Expr) -> Any:
    """The value of a variable, or of an attribute of an object (``config.log_every``), as far as it is known."""
    if isinstance(node, ir.Name):
        return lookup(m, frame, node.id)
    if isinstance(node, ir.Attribute):
        owner = _constant_of(m, frame, node.value)
        return owner.slots.get(node.attr) if isinstance(owner, Instance) else None
    return node


def _found_rare(m: Machine, key: Any) -> bool | None:
    """What is tested came out of a test of a counter, ``if is_due(step)``, ``if self.due``: whether that holds often."""
    about = normal_condition(Condition(key, True))[0] if key is not None else None
    if about is None or about[0] != "truth" or about[1][0] != "v":
        return None
    return next((loop.rare[about[1][1]] for loop in m.path.loops if about[1][1] in loop.rare), None)


def track_rare(m: Machine, frame: Frame, node: ir.Expr, result: Value) -> None:
    """A test is no condition but a value, which may be tested later."""
    known = type(result) is Static and result.kind == "bool"
    if m.path.loops and (known or type(result) in (UnionValue, Unknown)) and _looks_at_counter(m, frame, node):
        m.journal.keep_alive.append(result)
        rare = m.path.loops[-1].rare
        rare[id(result)] = rare.get(id(result), _is_frequent(m, frame, node))


def _settled(m: Machine, frame: Frame, node: ir.Expr, how: TestKind, whole: Any) -> Test:
    """A test, decided by an earlier one of the same where there is one; that of ``while`` is made again and again."""
    made = _condition(m, frame, node, how, whole)
    if isinstance(node, ir.Attribute) and node.attr == "jax_disable_jit" and m.path.mode.compiled:
        return msgspec.structs.replace(made, truth=False)  # where JAX compiles, that is off
    if made.truth is not None or made.key is None:
        return made
    if how != "while":
        made = msgspec.structs.replace(made, truth=_known_truth(m, made.key))
    if m.path.host_choices and made.truth is None and made.guesses != EITHER:
        key, choices = made.key, m.path.host_choices
        on_host = {outcome for outcome in EITHER if normal_condition(Condition(key, outcome)) in choices}
        made = msgspec.structs.replace(made, guesses=made.guesses | on_host)
    return made


MAX_CONDITIONS = 64
"""So many of the tests before are compared with a test."""


def _known_truth(m: Machine, key: Any) -> bool | None:
    """The outcome of a test that was made before: on the way here, or on the way to the running function."""
    plain, truth = normal_condition(Condition(key, True))
    if plain[0] == "truth" and isinstance(
        m.path.identified.get(plain[1][1]), (ListValue, DictValue, Instance, ExternalInstance)
    ):
        return None  # it may have been filled or emptied since
    assumed = {held == truth for other, held in map(normal_condition, m.path.assumed) if other == plain}
    if assumed:
        return assumed.pop() if len(assumed) == 1 else None  # both: no path leads here
    for condition in m.path.conditions[max(m.path.condition_base, len(m.path.conditions) - MAX_CONDITIONS) :]:
        other, held = normal_condition(condition)
        if other == plain:
            return held == truth
    return None


def _condition(m: Machine, frame: Frame, node: ir.Expr, how: TestKind, whole: Any) -> Test:
    if isinstance(node, ir.UnaryOp) and node.op == "not":
        return _negated(_condition(m, frame, node.operand, "not" if how != "while" else "while", whole))
    if isinstance(node, ir.BoolOp):
        return _bool_condition(m, frame, node, how, whole)
    if isinstance(node, ir.Compare) and len(node.ops) == 1:
        return _compare_condition(m, frame, node, how, whole)
    value = evaluate(m, frame, node)
    test_truth(m, frame, value, how, node, whole)
    truth = truth_of(value)
    guesses = _guesses(value)
    when_true, when_false = _narrow(m, frame, node, value)
    named = not isinstance(value, Array) and (not isinstance(value, Static) or value.kind == "bool")
    key = ("truth", _identity(m, value), None) if truth is None and named else None
    return Test(truth, key, when_true, when_false, guesses, untraced=_untraced(m, value))


def _untraced(m: Machine, value: Value) -> bool | None:
    """The outcome of asking for the truth of a value that says that nothing is traced, in staged code."""
    answer = value.slots.get("filtered") if isinstance(value, ListValue) else value
    return untraced_outcome(answer) if answer is not None and m.path.mode.staged else None


def _guesses(value: Value) -> frozenset[bool]:
    """The outcomes of asking for the truth of a value that are guesses."""
    if isinstance(value, Static) and value.rank == UNKNOWN_RANK:
        return EITHER
    if isinstance(value, ListValue):
        return EITHER if "filtered" in value.slots else frozenset({False}) if "some" in value.slots else NEITHER
    if not isinstance(value, Unknown):
        return NEITHER
    if value.host_test:
        return EITHER
    return NEITHER if value.doubt is None else frozenset({value.doubt})


def _negated(test: Test) -> Test:
    truth = None if test.truth is None else not test.truth
    key = None if test.key is None else negate_key(test.key)
    opposite = None if test.untraced is None else not test.untraced
    guesses = frozenset([not outcome for outcome in test.guesses]) if len(test.guesses) == 1 else test.guesses
    return Test(truth, key, test.when_false, test.when_true, guesses, test.counter, untraced=opposite)


def _narrow(m: Machine, frame: Frame, node: ir.Expr, value: Value) -> tuple[Steps, Steps]:
    """What each outcome of asking for the truth of an expression teaches of the name in it."""
    if isinstance(node, ir.Name):
        return _narrow_truth(frame, node.id, value)
    if isinstance(node, ir.NamedExpr):
        return _narrow_truth(frame, node.target.id, value)
    return _narrow_isinstance(m, frame, node) if isinstance(node, ir.Call) else ((), ())


def _identity(m: Machine, value: Value) -> Any:
    if isinstance(value, Const):
        return ("c", type(value.value).__name__, value.value)
    if isinstance(value, External):
        return ("e", value.name)
    m.path.identified[id(value)] = value
    return ("v", id(value))


def _bool_condition(m: Machine, frame: Frame, node: ir.BoolOp, how: TestKind, whole: Any) -> Test:
    """``a and b``: b is tested only where a was true; where a tests the number of the iteration, it guards b."""
    if not m.path.loops:
        return _bool_operands(m, frame, node, how, whole)
    loop = m.path.loops[-1]
    guards = loop.guards
    made = _bool_operands(m, frame, node, how, whole)
    loop.guards = guards
    return made


def _bool_operands(m: Machine, frame: Frame, node: ir.BoolOp, how: TestKind, whole: Any) -> Test:
    """The operands of ``a and b`` in turn; everything learnt from one holds in the next."""
    conjunction = node.op == "and"
    operands, reports = _Operands(m), len(m.bus.emissions)
    learnt: list[Callable[[Machine], None]] = []
    seen: list[Test] = []
    untraced = False
    last = len(node.values) - 1
    inner: TestKind = "while" if how == "while" else "and" if conjunction else "or"
    for i, operand in enumerate(node.values):
        test = _settled(m, frame, operand, how if i == last else inner, whole)
        operands.judge_reports()
        untraced = untraced or test.untraced is conjunction
        if test.truth is (not conjunction):
            _keep_first_test(m, reports, whole)
            operands.close()
            return Test(not conjunction)  # however those before it come out
        if test.truth is None:
            operands.undecided(test, conjunction)
            seen.append(test)
            if m.path.loops and _looks_at_counter(m, frame, operand):
                m.path.loops[-1].guards += 1
        steps = test.taught(conjunction)
        if test.key is not None:
            steps = (*steps, _fact(test.key, conjunction))
        learnt += steps
        operands.learn(steps)
    _keep_first_test(m, reports, whole)
    operands.close()
    truth, asked = None if seen else conjunction, conjunction if untraced else None
    guesses = _joint_guesses(seen, conjunction)
    # ``isinstance(x, tuple) and len(x) == 2``: if the length of each tuple is known to be 2, the first operand decides.
    other = seen[0].taught(not conjunction) if len(seen) == 1 else ()
    if conjunction:
        return Test(truth, None, tuple(learnt), other, guesses, untraced=asked)
    return Test(truth, None, other, tuple(learnt), guesses, untraced=asked)


def _joint_guesses(tests: list[Test], conjunction: bool) -> frozenset[bool]:
    """The outcomes of ``a and b`` that are guesses: True if that of one is, False if that of all is. Where the host alone
    decides one of them, both."""
    if any(test.guesses == EITHER for test in tests):
        return EITHER
    whole = any(conjunction in test.guesses for test in tests)
    part = bool(tests) and all((not conjunction) in test.guesses for test in tests)
    return frozenset([conjunction] * whole + [not conjunction] * part)


def _keep_first_test(m: Machine, reports: int, whole: Any) -> None:
    """Where one operand raises, the truth of the following ones is never asked for."""
    tests = [e for e in m.bus.emissions[reports:] if isinstance(e.event, TruthTest) and e.event.whole is whole]
    later = {id(e) for e in tests if e.event.at is not tests[0].event.at}
    m.bus.emissions[reports:] = [e for e in m.bus.emissions[reports:] if id(e) not in later]


def _fact(key: Any, truth: bool) -> Callable[[Machine], None]:
    """Learn the outcome of a test that is a part of a larger one."""

    def learn(m: Machine) -> None:
        hold(m, Condition(key, truth))

    return learn


def hold(m: Machine, condition: Condition) -> None:
    """From here on a test has come out so, and with it everything that this says of the branches that were taken before."""
    m.path.conditions.append(condition)
    m.path.conditions += _implied(m, condition)


def _implied(m: Machine, condition: Condition) -> frozenset[Condition]:
    """What else held wherever a value came from that a test comes out so for: ``flag`` was set where ``f`` was."""
    key, truth = normal_condition(condition)
    if key[0] not in ("truth", "is", "==") or key[1][0] != "v":
        return frozenset()
    known = alternatives(m.path.identified.get(key[1][1]))
    kept = [held for value, held in known if _outcome(key, value) is not (not truth)]
    return frozenset.intersection(*kept) if 0 < len(kept) < len(known) else frozenset()


def _outcome(key: Any, value: Value) -> bool | None:
    """How a test of a value comes out."""
    if key[0] == "truth":
        return truth_of(value)
    if key[2][0] != "c":
        return None
    if not isinstance(value, Const):
        return None if isinstance(value, (Static, Unknown, UnionValue)) or key[2][1] != "NoneType" else False
    return bool(type(value.value).__name__ == key[2][1] and value.value == key[2][2])


class _Operands:
    """The operands of ``and``/``or`` being run: what was only learnt for evaluating the rest is reverted in the end,
    real effects (a walrus, a call, key uses) stay, and those of operands that may never run are effects of one path."""

    __slots__ = ("barred", "conditions", "guess", "learnt", "machine", "mark", "maybe", "reports")

    def __init__(self, m: Machine) -> None:
        self.machine = m
        self.mark = len(m.journal.entries)
        self.conditions = len(m.path.conditions)
        self.maybe = -1
        self.learnt: dict[tuple[int, Any], tuple[Any, Any]] = {}
        self.reports = -1
        self.guess = self.barred = False

    def undecided(self, test: Test | None = None, outcome: bool = True) -> None:
        """From here on, operands run or not: only where ``test`` came out as ``outcome``."""
        if self.maybe < 0:
            self.maybe = len(self.machine.journal.entries)
        optional = self.machine.path.mode.optional
        if test is not None or optional:
            self.reports = len(self.machine.bus.emissions)
            self.guess = self.guess or optional or (test is not None and outcome in test.guesses)
            self.barred = self.barred or (test is not None and test.untraced is outcome)

    def judge_reports(self) -> None:
        """Forget the reports on an operand that only runs where a guess is right, or where nothing is traced."""
        if self.reports < 0:
            return
        if self.barred:
            del self.machine.bus.emissions[self.reports :]
        elif self.guess:
            self.machine.bus.drop_errors(self.reports)

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
        later = self._real(m.journal.rollback(self.maybe)) if self.maybe >= 0 else {}
        m.journal.replay(self._real(m.journal.rollback(self.mark)))
        if later:
            m.journal.join(later)
        del m.path.conditions[self.conditions :]

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


def _compare_condition(m: Machine, frame: Frame, node: ir.Compare, how: TestKind, whole: Any) -> Test:
    op = node.ops[0]
    left = evaluate(m, frame, node.left)
    right = evaluate(m, frame, node.comparators[0])
    value = compare_values(m, frame, node, left, op, right)
    test_truth(m, frame, value, how, node, whole)
    if _asks_host_dtype(m, frame, node.left, right):
        return Test(truth=op in ("!=", "is not", "not in"))
    guesses = _guesses(value) | other_library(left, op, right)
    untraced = _untraced(m, value)
    if op not in ("is", "is not", "==", "!=") or is_traced_array(value):
        return Test(truth_of(value), guesses=guesses, untraced=untraced)
    key = ("is" if op.startswith("is") else "==", _identity(m, left), _identity(m, right))
    equal, other = _narrow_equal(m, frame, node, left, right)
    if op in ("is not", "!="):
        return Test(truth_of(value), negate_key(key), other, equal, guesses, untraced=untraced)
    return Test(truth_of(value), key, equal, other, guesses, untraced=untraced)


_HOST_DTYPES = frozenset({"object", "str", "bytes", "O", "U", "S", "M", "m", "V"})
_HOST_SCALARS = frozenset({"numpy.object_", "numpy.str_", "numpy.bytes_", "numpy.datetime64", "numpy.timedelta64"})


def _asks_host_dtype(m: Machine, frame: Frame, node: ir.Expr, asked: Value) -> bool:
    """``x.dtype == object``, ``x.dtype.kind in "OSU"`` where x is a traced array: JAX has no arrays of objects or texts."""
    of_dtype = node.value if isinstance(node, ir.Attribute) and node.attr in ("kind", "char", "type") else node
    if not isinstance(of_dtype, ir.Attribute) or of_dtype.attr != "dtype":
        return False
    base = resolve_name(m, frame.scope, frame, of_dtype.value)
    return base is not None and is_traced_array(base) and _is_host_dtype(asked, of_dtype is not node)


def _is_host_dtype(asked: Value, is_letter: bool) -> bool:
    if isinstance(asked, Const) and isinstance(asked.value, str):
        return asked.value in _HOST_DTYPES or (is_letter and bool(asked.value) and set(asked.value) <= _HOST_DTYPES)
    elements = known_elements(asked)
    if elements:
        return all(_is_host_dtype(element, is_letter) for element in elements)
    name = getattr(asked, "name", "")
    return name in _HOST_SCALARS or (isinstance(asked, BuiltinValue) and name in _HOST_DTYPES)


def _narrow_equal(m: Machine, frame: Frame, node: ir.Compare, left: Value, right: Value) -> tuple[Steps, Steps]:
    """What it teaches of the left side that it is a constant, and that it is not."""
    if not isinstance(right, Const):
        return (), ()
    if isinstance(node.left, ir.Name) and (right.value is None or node.ops[0] in ("is", "is not")):
        same = _narrow_members(frame, node.left.id, left, lambda v: isinstance(v, Const) and v.value is right.value)
        other = _narrow_members(
            frame, node.left.id, left, lambda v: not (isinstance(v, Const) and v.value is right.value)
        )
        return same, other
    if isinstance(node.left, ir.Attribute) and right.value is None:
        return _narrow_attribute(m, frame, node.left, left)
    return (), ()


def _narrow_attribute(m: Machine, frame: Frame, node: ir.Attribute, value: Value) -> tuple[Steps, Steps]:
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


def _narrow_members(frame: Frame, name: str, value: Value, keep: Callable[[Value], bool]) -> Steps:
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


def _narrow_truth(frame: Frame, name: str, value: Value) -> tuple[Steps, Steps]:
    """Inside ``if x:`` x is not None, not False …"""
    return (
        _narrow_members(frame, name, value, lambda v: truth_of(v) is not False),
        _narrow_members(frame, name, value, lambda v: truth_of(v) is not True),
    )


def _narrow_isinstance(m: Machine, frame: Frame, node: ir.Call) -> tuple[Steps, Steps]:
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
            if any(id(value) in loop.counters or id(value) in loop.rare for loop in m.path.loops):
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
    if isinstance(node, ir.Name):
        value = lookup(m, frame, node.id)
        return isinstance(value, Static) and value.kind == "bool" and _is_counter(m, frame, node)
    if not isinstance(node, ir.Compare):
        return False
    return any(_is_counter(m, frame, n) for n in (node.left, *node.comparators))


def predicate_picks_iteration(m: Machine, frame: Frame, node: ir.Expr) -> bool:
    """``(i == k) & ready`` as the predicate of a ``cond``: it holds in some iterations alone. The loop may go over numbers in
    any order, so that an equality picks the iteration of that element."""
    if isinstance(node, ir.BinOp) and node.op == "&":
        return any(predicate_picks_iteration(m, frame, side) for side in (node.left, node.right))
    if isinstance(node, ir.Compare) and node.ops == ["=="]:
        names = [n for n in (node.left, *node.comparators) if isinstance(n, ir.Name)]
        values = {id(lookup(m, frame, name.id)) for name in names}
        if any(not values.isdisjoint(loop.elements) for loop in m.path.loops):
            return True
    return picks_iteration(m, frame, node)


def picks_others(m: Machine, frame: Frame, node: ir.Expr) -> bool:
    """``i < n - 1``, ``not last``: where the test fails, the iteration is picked."""
    if isinstance(node, ir.UnaryOp) and node.op == "not":
        return isinstance(node.operand, ir.Name) and picks_iteration(m, frame, node.operand)
    if not isinstance(node, ir.Compare) or len(node.ops) != 1:
        return False
    right = _is_counter(m, frame, node.comparators[0])
    if not right and not _is_counter(m, frame, node.left):
        return False
    return node.ops[0] in (("!=", ">", ">=") if right else ("!=", "<", "<="))


_FIRST_FEW = 100
_BEYOND: dict[str, bool] = {"<": False, "<=": False, "==": False, "!=": True, ">": True, ">=": True}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def usual_outcome(m: Machine, frame: Frame, node: ir.Expr) -> bool | None:
    """How a test of a counter comes out in all iterations but the first few: ``i < 10`` fails, ``i`` holds. Or in most of
    them: ``i % 100`` holds. None where the program does not say how many those are."""
    if isinstance(node, ir.BinOp) and node.op == "%":
        return True
    if isinstance(node, ir.UnaryOp) and node.op == "not":
        outcome = usual_outcome(m, frame, node.operand)
        return None if outcome is None else not outcome
    if isinstance(node, ir.Name):
        value = lookup(m, frame, node.id)
        counts = isinstance(value, Static) and value.kind == "int" and _is_counter(m, frame, node)
        return True if counts else None
    return _usual_comparison(m, frame, node) if isinstance(node, ir.Compare) and len(node.ops) == 1 else None


def _usual_comparison(m: Machine, frame: Frame, node: ir.Compare) -> bool | None:
    counter, bound, op = node.left, node.comparators[0], node.ops[0]
    if isinstance(counter, ir.BinOp) and counter.op == "%":
        return True if op == "!=" else None
    if not _is_counter(m, frame, counter):
        counter, bound, op = bound, counter, _MIRRORED.get(op, op)
    number = lookup(m, frame, bound.id) if isinstance(bound, ir.Name) else evaluate_constant(bound)
    if not _is_counter(m, frame, counter) or not isinstance(number, Const) or type(number.value) is not int:
        return None
    return _BEYOND.get(op) if _are_few(m, number.value) else None


def _are_few(m: Machine, number: int) -> bool:
    """So many iterations are less than half of those that the loops around run, where that is known."""
    trip_counts = [loop.trip_count or loop.times for loop in m.path.loops]
    return number <= _FIRST_FEW and all(not n or 2 * number <= n for n in trip_counts)


def evaluate_constant(node: ir.Expr) -> Value | None:
    """A number as it is written."""
    return Const(node.value) if isinstance(node, ir.Constant) else None


def _is_counter(m: Machine, frame: Frame, node: ir.Expr) -> bool:
    """The number of the iteration, or so many more or less than that; or whether it compares so and so."""
    while isinstance(node, ir.BinOp) and node.op in ("+", "-"):
        node = node.left
    value = lookup(m, frame, node.id) if isinstance(node, ir.Name) else None
    return value is not None and any(id(value) in loop.counters for loop in m.path.loops)


def evaluate_bool_op(m: Machine, frame: Frame, node: ir.BoolOp) -> Value:
    """``a and b`` as a value: one of the operands."""
    results: list[Value] = []
    answers: list[Value] = []
    last = len(node.values) - 1
    connective: TestKind = "and" if node.op == "and" else "or"
    operands = _Operands(m)
    for i, operand in enumerate(node.values):
        if i == last:
            results.append(evaluate(m, frame, operand))
            answers.append(results[-1])
            operands.judge_reports()
            break
        test: Test | None = None
        if isinstance(operand, (ir.Compare, ir.BoolOp, ir.UnaryOp)) or (
            isinstance(operand, ir.Call) and isinstance(operand.func, ir.Name)
        ):
            test = _condition(m, frame, operand, connective, node)
            truth = test.truth
            value: Value = _answer_of(test)
        else:
            value = evaluate(m, frame, operand)
            numeric = isinstance(value, Tree) and _is_number(node.values[i + 1])
            test_truth(m, frame, as_array(value) if numeric else value, connective, operand, node)
            truth = truth_of(value)
            if isinstance(operand, ir.Name):
                when_true, when_false = _narrow_truth(frame, operand.id, value)
                test = Test(truth, None, when_true, when_false, _guesses(value), untraced=_untraced(m, value))
        answers.append(value)
        operands.judge_reports()
        if truth is (node.op == "or"):
            results.append(value)
            break
        if truth is None:
            operands.undecided(test, node.op == "and")
            results.append(_short_circuit_value(value, node.op))
        if test is not None:
            operands.learn(test.taught(node.op == "and"))
    operands.close()
    joined = joining.join_all(results)
    if isinstance(joined, Unknown) and len(results) > 1:
        joined.untraced = untraced_of_all(answers, settling=node.op == "or")
    track_rare(m, frame, node, joined)
    return joined


def _answer_of(test: Test) -> Value:
    """The value of an expression that is a test."""
    if test.truth is not None:
        return Const(test.truth)
    if test.guesses:
        doubt = None if test.guesses == EITHER else next(iter(test.guesses))
        return Unknown("test", host_test=doubt is None, doubt=doubt, untraced=test.untraced)
    return Static("bool")


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
            test = _condition(m, frame, node.operand, "not", node)
            opposite = negated(_answer_of(test))
            track_rare(m, frame, node, opposite)
            return opposite
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
        result = compare_values(m, frame, node, left, op, right)
        if m.trackers[Variations].known:
            vary_binary(m, op, left, right, result)
        if i < last:
            # ``a < b < c`` is ``a < b and b < c``: the first result is asked for its truth.
            test_truth(m, frame, result, "compare", node, node)
            if truth_of(result) is False:
                return result
        left = right
    if m.path.loops and type(result) is Static and picks_iteration(m, frame, node):
        m.journal.keep_alive.append(result)
        m.path.loops[-1].counters.add(id(result))
    else:
        track_rare(m, frame, node, result)
    return result


def evaluate_if_exp(m: Machine, frame: Frame, node: ir.IfExp) -> Value:
    test = condition_of(m, frame, node.test, "ternary", node)
    if test.truth is not None:
        return evaluate(m, frame, node.body if test.truth else node.orelse)
    start = len(m.bus.emissions)
    yes, written = _evaluate_branch(m, frame, node.body, test, outcome=True)
    middle = len(m.bus.emissions)
    no, written_else = _evaluate_branch(m, frame, node.orelse, test, outcome=False)
    _judge_both(m, test, start, middle)
    m.journal.merge([written, written_else])
    joined = _either(m, test, yes, no)
    track_host_choice(m, [yes, no], [Condition(test.key, True), Condition(test.key, False)] if test.key else [])
    is_guess = test.guesses == EITHER or test.untraced is not None
    if is_guess and not isinstance(joined, Unknown) and yes is not no:
        # Which one it is, only the host knows: neither may be evidence.
        return Unknown("host test", host_test=isinstance(joined, (Const, Static)))
    return joined


def track_host_choice(m: Machine, values: Sequence[Any], labels: Sequence[Condition | None]) -> None:
    """A test chose between JAX and NumPy: the code is analyzed for JAX, so where the test comes out as for NumPy again,
    what runs is none of the code that was analyzed."""
    host = joining.host_member(values)
    label = labels[host] if host is not None and len(labels) == 2 else None
    if label is not None:
        m.path.host_choices.add(normal_condition(label))


def _evaluate_branch(m: Machine, frame: Frame, node: ir.Expr, test: Test, *, outcome: bool) -> tuple[Value, Writes]:
    """The value of an expression that runs where a test came out so, and what evaluating it writes."""
    mark, conditions = len(m.journal.entries), len(m.path.conditions)
    for step in test.taught(outcome):
        step(m)
    if test.key is not None:
        hold(m, Condition(test.key, outcome))
    loop = m.path.loops[-1] if test.counter and m.path.loops else None
    if loop is not None:
        loop.guards += 1
    value = evaluate(m, frame, node)
    if loop is not None:
        loop.guards -= 1
    del m.path.conditions[conditions:]
    return value, m.journal.rollback(mark)


def _judge_both(m: Machine, test: Test, start: int, middle: int) -> None:
    """``judge_reports`` of both outcomes: an error that each of them makes is no guess."""
    rules = [{e.rule.code for e in part if (e.report.level or e.rule.level) == "error"}
             for part in (m.bus.emissions[start:middle], m.bus.emissions[middle:])]  # fmt: skip
    if test.untraced is None and not rules[0].isdisjoint(rules[1]):
        return
    judge_reports(m, test, middle, outcome=False)
    other = m.bus.emissions[middle:]
    del m.bus.emissions[middle:]
    judge_reports(m, test, start, outcome=True)
    m.bus.emissions += other


def _either(m: Machine, test: Test, yes: Value, no: Value) -> Value:
    """One of two values, as a test comes out."""
    tests = None if test.key is None else [Condition(test.key, True), Condition(test.key, False)]
    joined = either_key([yes, no], [*tests] if tests else None) or joining.join(yes, no)
    if m.trackers[Variations].known:
        vary_joined(m, [yes, no], joined)
    return labelled(joined, [yes, no], [frozenset([t]) for t in tests]) if tests is not None else joined
