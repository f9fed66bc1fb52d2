"""Evaluating expressions to abstract values.

Vocabulary
----------
supply      a function that gives the element of one iteration; a fresh one each time, so that the keys of
            ``for k in keys`` are different keys.
quiet       evaluated for its value only: rules are not told (they were, or will be, by another evaluation).

Not modelled: overloaded operators of library classes, string contents beyond constants, sets' elements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics import lattice
from flake8_jax.semantics.events import Discarded, Formatting, Hashing, Indexing, Iteration, NameUse, Slicing, Store
from flake8_jax.semantics.machine import LoopState, Machine, labelled
from flake8_jax.semantics.operators import (
    as_array,
    binary,
    compare,
    is_awaited,
    negated,
    result_level,
    surely_not_none,
    test_truth,
    truth_of,
    unary,
)
from flake8_jax.semantics.scopes import Frame
from flake8_jax.semantics.values import (
    ABSTRACT,
    GRAD,
    MAYBE,
    NONE,
    Array,
    AtValue,
    BuiltinValue,
    ClassValue,
    Const,
    Deferred,
    DictValue,
    External,
    ExternalInstance,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    Opaque,
    SliceValue,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    freshen,
    hashes_tracer,
    holds_tracer,
    is_traced_array,
)

SMALL = 8
"""Known sequences up to this length are followed element by element."""


def evaluate(m: Machine, frame: Frame, node: ir.Expr) -> Value:
    """The value of an expression."""
    return EVALUATE[type(node)](m, frame, node)


# --- names ----------------------------------------------------------------------------------------


def lookup(m: Machine, frame: Frame, name: str) -> Value | None:
    """The value bound to a name as seen from ``frame``; None where nothing binds it."""
    scope_frame: Frame | None = frame
    fn = frame.fn
    if not (fn is not None and name in fn.global_names):
        while scope_frame is not None:
            value = scope_frame.slots.get(name)
            if value is not None:
                return m.resolve(value) if isinstance(value, Deferred) else value
            scope_frame = scope_frame.parent
    value = frame.scope.slots.get(name)
    if value is not None:
        if isinstance(value, Deferred):
            value = m.resolve(value)
        if name in frame.scope.rebound and isinstance(value, (Const, Static)) and m.stack:
            return Unknown(name, host_test=True)
        return value
    return None


def _name(m: Machine, frame: Frame, node: ir.Name) -> Value:
    value = lookup(m, frame, node.id)
    if value is None:
        value = m.modules.builtin(node.id) or _late_global(m, frame, node.id)
    if isinstance(value, External) and m.wants(NameUse):
        tell_name(m, frame, node, value, node.id)
    if isinstance(value, UnionValue) and value.conditions is not None and m.conditions:
        return possible_here(m, value)
    return value


def possible_here(m: Machine, value: UnionValue) -> Value:
    """The members of a union that can be on the present path: those that arose under no contrary condition."""
    from flake8_jax.semantics.keys import contradict

    now = frozenset(m.conditions)
    kept = [v for v, held in zip(value.members, value.conditions or (), strict=True) if not contradict(held, now)]
    return lattice.union_of(kept) if kept and len(kept) < len(value.members) else value


def _late_global(m: Machine, frame: Frame, name: str) -> Value:
    """A global that the running module has not bound yet: found if it is a def further down."""
    if frame.scope.state == 1:
        return m.modules.attribute(frame.scope, name)
    return Unknown(name)


def tell_name(m: Machine, frame: Frame, node: Any, value: External, spelled: str, *, is_import: bool = False) -> None:
    """Tell the rules that a library name is read."""
    if m.names_wanted is not None and value.name not in m.names_wanted:
        return
    m.emit(NameUse(m.context(frame.scope), node, value.name, spelled, is_import, node.start, node.end))


# --- truth ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """What a test amounts to; see ``statements``. ``counter``: it looks at a loop counter."""

    truth: bool | None
    key: Any = None
    when_true: tuple[Callable[[Machine], None], ...] = ()
    when_false: tuple[Callable[[Machine], None], ...] = ()
    host: bool = False
    counter: bool = False


def condition_of(m: Machine, frame: Frame, node: ir.Expr, how: str, whole: Any) -> Condition:
    """Evaluate a test: tell the rules whose truth is asked for, and find what each outcome teaches."""
    made = _condition(m, frame, node, how, whole)
    if made.truth is None and made.key is not None and m.assumed:
        made = replace(made, truth=_assumed_truth(m, made.key))
    if made.truth is None and m.loops and how in ("if", "elif", "ternary", "and", "or") and _looks_at_counter(m, frame, node):
        return Condition(None, made.key, made.when_true, made.when_false, made.host, True)
    return made


def _assumed_truth(m: Machine, key: Any) -> bool | None:
    """The outcome of a test on which it hung that the running function is called at all."""
    from flake8_jax.semantics.keys import normal_condition

    plain, truth = normal_condition((key, True))
    for condition in m.assumed:
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
        return Condition(truth, key, inner.when_false, inner.when_true, inner.host, inner.counter)
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
    elif kind is ir.Call:
        when_true, when_false = _narrow_isinstance(m, frame, node)  # type: ignore[arg-type]
    if kind is ir.NamedExpr:
        when_true, when_false = _narrow_truth(frame, node.target.id, value)  # type: ignore[union-attr]
    named = not isinstance(value, Array) and (not isinstance(value, Static) or value.kind == "bool")
    key = ("truth", _identity(m, value), None) if truth is None and named else None
    return Condition(truth, key, when_true, when_false, host)


def negate_key(key: Any) -> Any:
    """The key of the opposite test."""
    return key[2] if key[0] == "not" else ("not", None, key)


def _identity(m: Machine, value: Value) -> Any:
    if isinstance(value, Const):
        return ("c", type(value.value).__name__, value.value)
    if isinstance(value, External):
        return ("e", value.name)
    m.keep_alive.append(value)
    return ("v", id(value))


def _bool_condition(m: Machine, frame: Frame, node: ir.BoolOp, how: str, whole: Any) -> Condition:
    """``a and b``: b is tested only where a was true; where a tests the number of the iteration, it guards b."""
    if not m.loops:
        return _bool_operands(m, frame, node, how, whole)
    loop = m.loops[-1]
    guards = loop.guards
    made = _bool_operands(m, frame, node, how, whole)
    loop.guards = guards
    return made


def _bool_operands(m: Machine, frame: Frame, node: ir.BoolOp, how: str, whole: Any) -> Condition:
    """The operands of ``a and b`` in turn; everything learnt from one holds in the next."""
    conjunction = node.op == "and"
    mark, conditions = len(m.journal), len(m.conditions)
    learnt: list[Callable[[Machine], None]] = []
    host = False
    undecided = False
    last = len(node.values) - 1
    result: bool | None = conjunction
    for i, operand in enumerate(node.values):
        inner_how = how if i == last or how == "while" else node.op
        condition = _condition(m, frame, operand, inner_how, whole)
        host = host or condition.host
        if condition.truth is (not conjunction):
            result = not conjunction if not undecided else None
            if undecided:
                break
            del m.conditions[conditions:]
            return Condition(not conjunction, host=host)
        if condition.truth is None:
            undecided = True
            result = None
            if m.loops and _looks_at_counter(m, frame, operand):
                m.loops[-1].guards += 1
        steps = condition.when_true if conjunction else condition.when_false
        if condition.key is not None:
            steps = (*steps, _fact(condition.key, conjunction))
        learnt += steps
        for step in steps:
            step(m)
    narrowings = tuple(learnt)
    _undo_narrowings(m, mark)
    del m.conditions[conditions:]
    if conjunction:
        return Condition(result, None, narrowings, (), host)
    return Condition(result, None, (), narrowings, host)


def _fact(key: Any, truth: bool) -> Callable[[Machine], None]:
    """Learn the outcome of a test that is a part of a larger one."""

    def learn(m: Machine) -> None:
        m.conditions.append((key, truth))

    return learn


def _undo_narrowings(m: Machine, mark: int) -> None:
    """Take back what was only learnt for evaluating the rest of the test; keep real effects (walrus, key uses)."""
    writes = m.take_back(mark)
    for slots, slot, value in writes.values():
        if slots is m.uses or slot not in slots:
            m.write(slots, slot, value)


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
    kept = lattice.union_of([v for v in value.members if not (isinstance(v, Const) and v.value is None)] or [value])

    def learn_not_none(m: Machine) -> None:
        m.write(slots, attr, kept)

    def learn_none(m: Machine) -> None:
        m.write(slots, attr, NONE)

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
    narrowed = lattice.union_of(kept)
    slots = _slots_of(frame, name)

    def learn(m: Machine) -> None:
        m.write(slots, name, narrowed)

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
    from flake8_jax.semantics.types import instance_test, value_of_class

    if len(node.args) != 2 or not isinstance(node.args[0].value, ir.Name) or not isinstance(node.func, ir.Name):
        return (), ()
    func = lookup(m, frame, node.func.id) or m.modules.builtin(node.func.id)
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
                m.write(slots, name, made)

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
            if any(id(value) in loop.counters for loop in m.loops):
                return True
        elif isinstance(n, ir.Call):
            todo += [a.value for a in n.args]
    return False


def _bool_op(m: Machine, frame: Frame, node: ir.BoolOp) -> Value:
    """``a and b`` as a value: one of the operands."""
    results: list[Value] = []
    last = len(node.values) - 1
    learnt_mark, conditions = len(m.journal), len(m.conditions)
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
            results.append(_short_circuit_value(value, node.op))
        if condition is not None:
            for learn in condition.when_true if node.op == "and" else condition.when_false:
                learn(m)
    _undo_narrowings(m, learnt_mark)
    del m.conditions[conditions:]
    return lattice.join_all(results)


def _is_number(node: ir.Expr) -> bool:
    """``x or 1.0``: an alternative that is a number says that ``x`` is one, not a container."""
    return isinstance(node, ir.Constant) and node.kind in ("int", "float")


def _short_circuit_value(value: Value, op: str) -> Value:
    """``x or y`` gives x only where x is true: None and False members fall away."""
    if isinstance(value, UnionValue) and op == "or":
        kept = [v for v in value.members if truth_of(v) is not False]
        return lattice.union_of(kept) if kept else value
    return value


def _unary_op(m: Machine, frame: Frame, node: ir.UnaryOp) -> Value:
    if node.op == "not":
        if isinstance(node.operand, (ir.BoolOp, ir.Compare)):
            condition = _condition(m, frame, node.operand, "not", node)
            return Static("bool") if condition.truth is None else Const(not condition.truth)
        value = evaluate(m, frame, node.operand)
        test_truth(m, frame, value, "not", node.operand, node)
        return negated(value)
    return unary(m, evaluate(m, frame, node.operand), node.op)


def _compare(m: Machine, frame: Frame, node: ir.Compare) -> Value:
    left = evaluate(m, frame, node.left)
    result: Value = Const(True)
    last = len(node.ops) - 1
    for i, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = evaluate(m, frame, comparator)
        result = compare(m, frame, node, left, op, right)
        if i < last:
            # ``a < b < c`` is ``a < b and b < c``: the first result is asked for its truth.
            test_truth(m, frame, result, "compare", node, node)
            if truth_of(result) is False:
                return result
        left = right
    return result


def _if_exp(m: Machine, frame: Frame, node: ir.IfExp) -> Value:
    condition = condition_of(m, frame, node.test, "ternary", node)
    if condition.truth is not None:
        return evaluate(m, frame, node.body if condition.truth else node.orelse)
    results: list[Value] = []
    arms = []
    for expression, learn, truth in (
        (node.body, condition.when_true, True),
        (node.orelse, condition.when_false, False),
    ):
        mark, reports, conditions = len(m.journal), len(m.emissions), len(m.conditions)
        for step in learn:
            step(m)
        if condition.key is not None:
            m.conditions.append((condition.key, truth))
        loop = m.loops[-1] if condition.counter and m.loops else None
        if loop is not None:
            loop.guards += 1
        results.append(evaluate(m, frame, expression))
        if loop is not None:
            loop.guards -= 1
        del m.conditions[conditions:]
        if condition.host:
            m.drop_errors(reports)
        arms.append(m.take_back(mark))
    m.merge(arms)
    joined = lattice.join(results[0], results[1])
    if isinstance(joined, UnionValue) and condition.key is not None:
        joined = labelled(joined, results, [(condition.key, True), (condition.key, False)])
    if condition.host and not isinstance(joined, Unknown) and results[0] is not results[1]:
        # Which one it is, only the host knows: neither may be evidence.
        return Unknown("host test", host_test=isinstance(joined, (Const, Static)))
    return joined


# --- literals ---------------------------------------------------------------------------------------


def _constant(m: Machine, frame: Frame, node: ir.Constant) -> Value:
    kind = node.kind
    if kind == "none":
        return NONE
    if kind in ("big", "complex", "bytes", "ellipsis"):
        return Static({"big": "int", "complex": "complex", "bytes": "str"}.get(kind, "ellipsis"))
    return Const(node.value)


def elements_of(m: Machine, frame: Frame, nodes: list[ir.Expr]) -> tuple[list[Value], Value | None]:
    """Values of the elements of a display; the second is what a ``*x`` of unknown length adds."""
    values: list[Value] = []
    rest: Value | None = None
    for node in nodes:
        if isinstance(node, ir.Starred):
            starred = evaluate(m, frame, node.value)
            known = known_elements(starred)
            if known is not None and len(known) <= 32:
                values += known
            else:
                supply = iterated(m, frame, node.value, starred, "star", None)
                rest = lattice.join_all([v for v in (rest, supply() if supply else None) if v is not None] or [Unknown("star")])
        else:
            values.append(evaluate(m, frame, node))
    return values, rest


def known_elements(value: Value) -> tuple[Value, ...] | None:
    """The elements of a sequence of known length."""
    if isinstance(value, TupleValue):
        return value.elts
    if isinstance(value, ListValue):
        return value.known()
    return None


def _tuple(m: Machine, frame: Frame, node: ir.Tuple) -> Value:
    values, rest = elements_of(m, frame, node.elts)
    if rest is not None:
        return ListValue(None, lattice.join_all([*values, rest]), is_tuple=True, born=m.mode.trace)
    return TupleValue(tuple(values))


def _list(m: Machine, frame: Frame, node: ir.List) -> Value:
    values, rest = elements_of(m, frame, node.elts)
    if rest is not None or len(values) > 64:
        return ListValue(None, lattice.join_all([*values, *([rest] if rest else [])]), born=m.mode.trace)
    return ListValue(tuple(values), born=m.mode.trace)


def _set(m: Machine, frame: Frame, node: ir.Set) -> Value:
    for element in node.elts:
        value = evaluate(m, frame, element.value if isinstance(element, ir.Starred) else element)
        tell_hash(m, frame, element, value, "set-element")
    return Static("set")


def tell_hash(m: Machine, frame: Frame, at: Any, value: Value, how: str) -> None:
    """Tell the rules that a value that holds a tracer is hashed."""
    if m.wants(Hashing) and hashes_tracer(value, GRAD):
        m.emit(Hashing(m.context(frame.scope), at, value, how))


def _dict(m: Machine, frame: Frame, node: ir.Dict) -> Value:
    items: dict[Any, Value] = {}
    rest: Value | None = None
    is_open = False
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(m, frame, value_node)
        if key_node is None:
            if isinstance(value, DictValue):
                items.update(value.items())
                is_open = is_open or value.slots["open"]
                more = value.slots.get("*")
            else:
                is_open, more = True, Tree(value.level) if isinstance(value, Tree) else Unknown("**")
            if more is not None:
                rest = more if rest is None else lattice.join(rest, more)
            continue
        key = evaluate(m, frame, key_node)
        tell_hash(m, frame, key_node, key, "dict-key")
        if isinstance(key, Const) and len(items) < 64:
            items[key.value] = value
        else:
            is_open = True
            rest = value if rest is None else lattice.join(rest, value)
    return DictValue(items, rest, is_open=is_open, born=m.mode.trace)


def _joined_str(m: Machine, frame: Frame, node: ir.JoinedStr) -> Value:
    held: list[Value] = []
    for part in node.values:
        if isinstance(part, ir.FormattedValue):
            made = _formatted(m, frame, part)
            if isinstance(made, Static):
                held += made.holds
    return Static("str", tuple(held))


def _formatted(m: Machine, frame: Frame, node: ir.FormattedValue) -> Value:
    value = evaluate(m, frame, node.value)
    for nested in node.spec or ():
        evaluate(m, frame, nested)
    has_spec = bool(node.spec_text) or (node.spec is not None and node.spec_text is None)
    if has_spec and not node.conversion and m.wants(Formatting) and isinstance(value, (Array, UnionValue)):
        if holds_tracer(value, GRAD) or is_awaited(m, value):
            m.emit(Formatting(m.context(frame.scope), node.value, value, "f-string", node.spec_text or ""))
        return Static("str")
    return Static("str", (value, *getattr(value, "holds", ())) if isinstance(value, (Array, Tree, Static)) else ())


# --- attributes and items -----------------------------------------------------------------------------


def _attribute(m: Machine, frame: Frame, node: ir.Attribute) -> Value:
    from flake8_jax.semantics.attributes import load_attribute

    base = evaluate(m, frame, node.value)
    value = load_attribute(m, frame, node, base, node.attr)
    if isinstance(value, External) and m.wants(NameUse):
        tell_name(m, frame, node, value, node.attr)
    return value


def _slice(m: Machine, frame: Frame, node: ir.Slice) -> Value:
    return SliceValue(*[None if n is None else evaluate(m, frame, n) for n in (node.lower, node.upper, node.step)])


def _subscript(m: Machine, frame: Frame, node: ir.Subscript) -> Value:
    base = evaluate(m, frame, node.value)
    index = evaluate(m, frame, node.index)
    return load_item(m, frame, node, base, index)


def _index_pairs(node: ir.Expr, index: Value) -> list[tuple[ir.Expr, Value]]:
    """Each component of an index with its IR."""
    if isinstance(node, ir.Tuple) and isinstance(index, TupleValue) and len(node.elts) == len(index.elts):
        return list(zip(node.elts, index.elts, strict=True))
    return [(node, index)]


def _tell_index(m: Machine, frame: Frame, node: ir.Subscript, base: Value, index: Value, mode: str) -> None:
    context = None
    for part_node, part in _index_pairs(node.index, index):
        if isinstance(part, SliceValue) and isinstance(part_node, ir.Slice) and m.wants(Slicing):
            if any(v is not None and holds_tracer(v, GRAD) for v in (part.lower, part.upper, part.step)):
                context = context or m.context(frame.scope)
                m.emit(Slicing(context, node, part_node, base, part.lower, part.upper, part.step, mode))
    if m.wants(Indexing) and any(
        isinstance(v, (Array, Tree, UnionValue)) and holds_tracer(v, GRAD) for _, v in _index_pairs(node.index, index)
    ):
        m.emit(Indexing(context or m.context(frame.scope), node, base, index, mode))


def load_item(
    m: Machine, frame: Frame, node: ir.Subscript, base: Value, index: Value, *, quiet: bool = False
) -> Value:
    """``base[index]``."""
    if not quiet and all(isinstance(b, DictValue) for b in lattice.members_of(base)):
        tell_hash(m, frame, node.index, index, "dict-lookup")
        quiet = True
    if isinstance(base, UnionValue):
        return lattice.union_of([load_item(m, frame, node, b, index, quiet=quiet) for b in base.members])
    if not quiet and not isinstance(base, (AtValue, ClassValue, External)):
        _tell_index(m, frame, node, base, index, "load")
    from flake8_jax.semantics.containers import item_of

    if isinstance(base, AtValue):
        if not quiet:
            _tell_index(m, frame, node, base.base, index, "at")
        return AtValue(base.base, index)
    if isinstance(base, Instance):
        from flake8_jax.semantics.calls import call_method

        found = call_method(m, frame, node, base, "__getitem__", (index,))
        return found if found is not None else Unknown("item")
    return item_of(m, base, index)


def store_item(
    m: Machine, frame: Frame, node: ir.Subscript, base: Value, index: Value, value: Value, *, how: str, op: str = ""
) -> None:
    """``base[index] = value``."""
    if m.wants(Store):
        m.emit(Store(m.context(frame.scope), node, how, base, value, "", op))
    from flake8_jax.semantics.containers import set_item

    if isinstance(base, DictValue):
        tell_hash(m, frame, node.index, index, "dict-key")
    if isinstance(base, Instance):
        from flake8_jax.semantics.calls import call_method

        call_method(m, frame, node, base, "__setitem__", (index, value))
        return
    set_item(m, base, index, value)


# --- assignment ---------------------------------------------------------------------------------------


def assign(m: Machine, frame: Frame, target: ir.Expr, value: Value, source: ir.Expr | None, op: str = "") -> None:
    """Bind a target to a value. ``source``: the IR of the value, for events about unpacking."""
    kind = type(target)
    if kind is ir.Name:
        _bind(m, frame, target, value, op)  # type: ignore[arg-type]
    elif kind is ir.Tuple or kind is ir.List:
        _unpack(m, frame, target, value, source)  # type: ignore[arg-type]
    elif kind is ir.Attribute:
        from flake8_jax.semantics.attributes import store_attribute

        base = evaluate(m, frame, target.value)  # type: ignore[union-attr]
        store_attribute(m, frame, target, base, target.attr, value, op)  # type: ignore[union-attr,arg-type]
    elif kind is ir.Subscript:
        base = evaluate(m, frame, target.value)  # type: ignore[union-attr]
        index = evaluate(m, frame, target.index)  # type: ignore[union-attr]
        store_item(m, frame, target, base, index, value, how="item")  # type: ignore[arg-type]
    elif kind is ir.Starred:
        assign(m, frame, target.value, value, source)  # type: ignore[union-attr]


def _bind(m: Machine, frame: Frame, target: ir.Name, value: Value, op: str) -> None:
    fn = frame.fn
    name = target.id
    if fn is not None:
        if name in fn.global_names:
            if m.wants(Store):
                m.emit(Store(m.context(frame.scope), target, "global", None, value, name, op))
            joined = lattice.join(frame.scope.slots.get(name, value), value)
            # Which of its values a global has by then, only the host knows.
            m.write(frame.scope.slots, name, Unknown(name, host_test=True) if type(joined) is Unknown else joined)
            return
        if name in fn.nonlocal_names:
            if m.wants(Store):
                m.emit(Store(m.context(frame.scope), target, "nonlocal", None, value, name, op))
            outer = frame.parent
            while outer is not None and name not in outer.slots:
                outer = outer.parent
            m.write(outer.slots if outer is not None else frame.slots, name, value)
            return
    m.write(frame.slots, name, value)


def _unpack(m: Machine, frame: Frame, target: ir.Tuple | ir.List, value: Value, source: ir.Expr | None) -> None:
    targets = target.elts
    star = next((i for i, t in enumerate(targets) if isinstance(t, ir.Starred)), None)
    if isinstance(value, UnionValue):
        per_member = [_unpacked(m, frame, target, v, len(targets), star, source) for v in value.members]
        values = [lattice.union_of(column) for column in zip(*per_member, strict=True)]
    else:
        values = _unpacked(m, frame, target, value, len(targets), star, source)
    for t, v in zip(targets, values, strict=True):
        assign(m, frame, t, v, source)


def _unpacked(
    m: Machine, frame: Frame, target: ir.Expr, value: Value, count: int, star: int | None, source: ir.Expr | None
) -> list[Value]:
    """One value per target."""
    from flake8_jax.semantics.containers import item_of

    known = known_elements(value)
    if known is not None:
        if star is None and len(known) == count:
            return list(known)
        if star is not None and len(known) >= count - 1:
            tail = count - star - 1
            middle = ListValue(known[star : len(known) - tail], born=m.mode.trace)
            return [*known[:star], middle, *known[len(known) - tail :]]
        return [Unknown("unpack") for _ in range(count)]
    if isinstance(value, Array) and value.dtype != "key" and source is not None and m.wants(Iteration):
        m.emit(Iteration(m.context(frame.scope), source, value, "unpack", count if star is None else None))
    if isinstance(value, (Array, Tree, Unknown, HostArray)) and star is None:
        return [item_of(m, value, Const(i)) for i in range(count)]
    supply = iterated(m, frame, target, value, "quiet", None)
    if supply is None:
        return [Unknown("unpack") for _ in range(count)]
    values = [supply() for _ in range(count)]
    if star is not None:
        values[star] = ListValue(None, values[star], born=m.mode.trace)
    return values


# --- iteration ----------------------------------------------------------------------------------------


def iterated(
    m: Machine, frame: Frame, node: Any, value: Value, how: str, loop: LoopState | None
) -> Callable[[], Value] | None:
    """How to get the element of one iteration; None if there is surely none. how: as in ``events.Iteration``."""
    if how != "quiet" and m.wants(Iteration) and isinstance(value, (Array, UnionValue)):
        if is_traced_array(value) and getattr(value, "dtype", "") != "key":
            m.emit(Iteration(m.context(frame.scope), node, value, how, None))
    known = known_elements(value)
    if known is not None:
        if not known:
            return None
        joined = lattice.join_all(known)
        return lambda: freshen(joined)
    if isinstance(value, ListValue):
        element = lattice.any_element(value)
        return lambda: freshen(element)
    if isinstance(value, GeneratorValue):
        produced = value.element

        def next_element() -> Value:
            fresh = freshen(produced)
            if loop is not None and value.fresh:
                counter = fresh.elts[0] if isinstance(fresh, TupleValue) else fresh
                m.keep_alive.append(counter)
                loop.counters.add(id(counter))
            return fresh

        return next_element
    if isinstance(value, DictValue):
        keys = [k for k, _ in value.items()]
        if not keys and not value.slots["open"] and "*" not in value.slots:
            return None
        if keys and len(keys) <= SMALL and not value.slots["open"]:
            joined_key = lattice.join_all([Const(k) for k in keys])
            return lambda: joined_key
        return lambda: Static("str")
    if isinstance(value, Array):
        ndim = value.ndim - 1 if value.ndim else None
        level = result_level(m, (value,))
        return lambda: Array(level, value.dtype, ndim, dispatched=value.dispatched)
    if isinstance(value, HostArray):
        return lambda: HostArray(value.dtype, value.ndim - 1 if value.ndim else None)
    if isinstance(value, Static):
        kind = {"shape": "int", "str": "str"}.get(value.kind, "")
        return lambda: Static(kind)
    if isinstance(value, Const):
        return lambda: Static("str")
    if isinstance(value, UnionValue):
        supplies = [iterated(m, frame, node, v, "quiet", loop) for v in value.members]
        present = [s for s in supplies if s is not None]
        if not present:
            return None
        return lambda: lattice.union_of([s() for s in present])
    if isinstance(value, Instance):
        from flake8_jax.semantics.calls import call_method

        iterator = call_method(m, frame, node, value, "__iter__")
        if iterator is not None and iterator is not value and not isinstance(iterator, Instance):
            return iterated(m, frame, node, iterator, "quiet", loop)
        owner = iterator if isinstance(iterator, Instance) else value

        def step() -> Value:
            return call_method(m, frame, node, owner, "__next__") or Unknown("element")

        return step
    if isinstance(value, Tree):
        return lambda: Unknown("element of a pytree")
    return lambda: Unknown("element")


def _comprehension(m: Machine, frame: Frame, node: ir.Comprehension) -> Value:
    inner = Frame(None, frame.scope, frame)
    inner.loops = frame.loops
    known = _element_by_element(m, frame, inner, node)
    if known is not None:
        return known
    loop = LoopState("comprehension", node)
    results: list[Value] = []
    outermost = evaluate(m, frame, node.generators[0].iter)
    uses_before = len(m.journal)

    def once(level: int) -> None:
        if level == len(node.generators):
            if node.key is not None:
                key = evaluate(m, inner, node.key)
                tell_hash(m, inner, node.key, key, "dict-key")
            results.append(evaluate(m, inner, node.element))
            return
        generator = node.generators[level]
        iterable = outermost if level == 0 else evaluate(m, inner, generator.iter)
        supply = iterated(m, inner, generator.iter, iterable, "comprehension", loop)
        if supply is None:
            return
        assign(m, inner, generator.target, supply(), None)
        for test in generator.ifs:
            condition = condition_of(m, inner, test, "comprehension", node)
            for learn in condition.when_true:
                learn(m)
        once(level + 1)

    m.loops.append(loop)
    reports, conditions = len(m.emissions), len(m.conditions)
    once(0)
    del m.conditions[conditions:]
    single = len(node.generators) == 1 and len(known_elements(outermost) or ()) == 1
    if not single and any(slots is m.uses for slots, _, _ in m.journal[uses_before:]):
        # A key was used: a second iteration shows whether it is the same one again.
        del m.emissions[reports:]
        once(0)
        del m.conditions[conditions:]
    m.loops.pop()
    element = results[-1] if results else None
    if node.kind == "generator":
        return GeneratorValue(element if element is not None else Unknown("nothing"))
    if node.kind == "set":
        if element is not None:
            tell_hash(m, frame, node.element, element, "set-element")
        return Static("set")
    if node.kind == "dict":
        return DictValue({}, element, is_open=True, born=m.mode.trace)
    return ListValue(None, element, born=m.mode.trace)


def _element_by_element(m: Machine, frame: Frame, inner: Frame, node: ir.Comprehension) -> Value | None:
    """A comprehension over one short sequence of known elements: each gets its own value."""
    if len(node.generators) != 1 or node.generators[0].ifs or node.kind == "set":
        return None
    generator = node.generators[0]
    if not isinstance(generator.iter, (ir.Tuple, ir.List, ir.Name, ir.Attribute)):
        return None
    iterable = evaluate(m, frame, generator.iter)
    known = known_elements(iterable)
    if known is None or not 0 < len(known) <= SMALL:
        return None
    keys: list[Value] = []
    values: list[Value] = []
    loop = LoopState("comprehension", node)
    m.loops.append(loop)
    for element in known:
        assign(m, inner, generator.target, element, generator.iter)
        if node.key is not None:
            keys.append(evaluate(m, inner, node.key))
            tell_hash(m, inner, node.key, keys[-1], "dict-key")
        values.append(evaluate(m, inner, node.element))
    m.loops.pop()
    if node.kind == "dict":
        if all(isinstance(k, Const) for k in keys):
            return DictValue({k.value: v for k, v in zip(keys, values, strict=True)}, born=m.mode.trace)  # type: ignore[attr-defined]
        return DictValue({}, lattice.join_all(values), is_open=True, born=m.mode.trace)
    return ListValue(tuple(values), born=m.mode.trace)


# --- the rest -------------------------------------------------------------------------------------------


def _bin_op(m: Machine, frame: Frame, node: ir.BinOp) -> Value:
    # A chain ``a + b + c + …`` leans to the left: walk down it without recursion.
    chain: list[ir.BinOp] = [node]
    while isinstance(chain[-1].left, ir.BinOp):
        chain.append(chain[-1].left)
    value = evaluate(m, frame, chain[-1].left)
    for link in reversed(chain):
        value = binary(m, frame, link, value, link.op, evaluate(m, frame, link.right))
    return value


def _lambda(m: Machine, frame: Frame, node: ir.Lambda) -> Value:
    from flake8_jax.semantics.definitions import make_function

    return make_function(m, frame, node.function)


def _call(m: Machine, frame: Frame, node: ir.Call) -> Value:
    from flake8_jax.semantics.calls import evaluate_call

    return evaluate_call(m, frame, node)


def evaluate_statement(m: Machine, frame: Frame, node: ir.ExprStmt) -> None:
    """An expression whose value is dropped."""
    if isinstance(node.value, ir.Constant):
        return
    if isinstance(node.value, ir.Call):
        from flake8_jax.semantics.calls import evaluate_call

        value = evaluate_call(m, frame, node.value, used=False)
    else:
        value = evaluate(m, frame, node.value)
    if isinstance(value, AtValue) or (m.wants(Discarded) and isinstance(node.value, ir.Call)):
        from flake8_jax.semantics.calls import callee_name

        m.emit(Discarded(m.context(frame.scope), node.value, value, callee_name(m, frame, node.value)))


def _starred(m: Machine, frame: Frame, node: ir.Starred) -> Value:
    return evaluate(m, frame, node.value)


def _await(m: Machine, frame: Frame, node: ir.Await) -> Value:
    return evaluate(m, frame, node.value)


def _yield(m: Machine, frame: Frame, node: ir.Yield) -> Value:
    frame.yields.append(evaluate(m, frame, node.value) if node.value is not None else NONE)
    return Unknown("sent")


def _yield_from(m: Machine, frame: Frame, node: ir.YieldFrom) -> Value:
    value = evaluate(m, frame, node.value)
    supply = iterated(m, frame, node.value, value, "for", None)
    if supply is not None:
        frame.yields.append(supply())
    return Unknown("sent")


def _named(m: Machine, frame: Frame, node: ir.NamedExpr) -> Value:
    value = evaluate(m, frame, node.value)
    owner = frame
    while owner.fn is None and owner.owner is None and owner.parent is not None:
        owner = owner.parent
    m.write(owner.slots, node.target.id, value)
    return value


EVALUATE: dict[type, Callable[[Machine, Frame, Any], Value]] = {
    ir.Constant: _constant,
    ir.Name: _name,
    ir.Attribute: _attribute,
    ir.Call: _call,
    ir.Subscript: _subscript,
    ir.Slice: _slice,
    ir.BinOp: _bin_op,
    ir.UnaryOp: _unary_op,
    ir.BoolOp: _bool_op,
    ir.Compare: _compare,
    ir.IfExp: _if_exp,
    ir.Lambda: _lambda,
    ir.Tuple: _tuple,
    ir.List: _list,
    ir.Set: _set,
    ir.Dict: _dict,
    ir.Starred: _starred,
    ir.Comprehension: _comprehension,
    ir.FormattedValue: _formatted,
    ir.JoinedStr: _joined_str,
    ir.Await: _await,
    ir.Yield: _yield,
    ir.YieldFrom: _yield_from,
    ir.NamedExpr: _named,
}
