"""How ``scan``, ``fori_loop``, ``while_loop``, ``cond`` and their kin call what they stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.knowledge.model import TransformFact
from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.arguments import Arguments, CallingContext
from flake8_jax.semantics.domain.boundary import relevelled
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.signatures import CALLABLES, describe, differs, is_function, is_no_tuple_of
from flake8_jax.semantics.domain.stack import Link, LoopState, Mode
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    NO_BIRTH,
    NONE,
    Array,
    BoundMethod,
    Const,
    DictValue,
    FunctionValue,
    HostArray,
    Instance,
    ListValue,
    PartialValue,
    Room,
    Static,
    Tree,
    TupleValue,
    Unknown,
    Value,
    canonical_key,
    freshen,
    known_elements,
)
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.interpreter.operators import result_level
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.signature_checks import check_operand, tell
from flake8_jax.semantics.models.staging import enter, outer_level, stage
from flake8_jax.semantics.trackers.allocations import settle_births
from flake8_jax.semantics.trackers.presumption import Presuming

_STRUCTURES = frozenset({TupleValue, Instance, DictValue})


def _inner(m: Machine, value: Value | None, level: int = ABSTRACT) -> Value:
    """A carry or an operand as the staged function sees it."""
    presumption = m.trackers[Presuming].presumption
    if presumption is not None and value is not None:
        presumption.mark_leaves(value)
    return boundary.tracify(value, level) if value is not None else Tree(level)


def _settled(before: Value, after: Value, room: Room | None = None) -> Value:
    """The carry of a second iteration: what stayed the same stays, what changed is whatever it may become."""
    if before is after:
        return before
    room = room if room is not None else Room()
    if type(after) in _STRUCTURES and not room.enter(after):
        return Unknown("deep")
    if isinstance(before, TupleValue) and isinstance(after, TupleValue) and len(before.elts) == len(after.elts):
        return TupleValue(
            tuple(_settled(b, a, room) for b, a in zip(before.elts, after.elts, strict=True)),
            after.cls or before.cls,
            after.names or before.names,
        )
    if isinstance(before, Instance) and isinstance(after, Instance) and before.cls is after.cls:
        made = Instance(after.cls, exact=after.exact, level=after.level, born=NO_BIRTH)
        made.complete = after.complete
        for name in {**before.slots, **after.slots}:
            b, a = before.slots.get(name), after.slots.get(name)
            made.slots[name] = _settled(b, a, room) if b is not None and a is not None else a if a is not None else b
        return made
    if isinstance(before, DictValue) and isinstance(after, DictValue):
        items = dict(before.items())
        return DictValue(
            {k: _settled(items[k], v, room) if k in items else v for k, v in after.items()},
            after.slots.get("*"),
            is_open=after.slots["open"],
        )
    if isinstance(before, (Array, Tree, Unknown)) and canonical_key(before) is canonical_key(after):
        return before
    # Whatever the first iteration was given, the second is given something else: a key among it is another key.
    return joining.join(freshen(before), _carried(after) if isinstance(before, (Array, Tree)) else after)


def _carried(leaf: Value) -> Value:
    """What the next iteration gets for a leaf: a number that the body returned comes back as an array."""
    hosts = (Const, Static, HostArray)
    return joining.join_all(
        boundary.tracify(v, ABSTRACT) if isinstance(v, hosts) else v for v in joining.members_of(leaf)
    )


def _loop_serial(m: Machine, node: Any, which: str) -> int:
    """One serial for all iterations of a loop's body, so that its second iteration meets the uses of the first."""
    key = (id(node), which, tuple(link.serial for link in m.path.stack))
    found = m.path.body_serials.get(key)
    if found is None:
        found = m.path.body_serials[key] = m.path.new_serial()
    return found


def _iterate(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, body: Value, first: Value,
    arguments: Callable[[Value], list[Value]], carry_of: Callable[[Value], Value],
) -> tuple[Value, Value]:  # fmt: skip
    """Run a loop body twice: once on the initial carry, once on what the carry may have become."""
    mode = enter(m, fact, name)
    loop = LoopState(name.rpartition(".")[2], node)
    m.path.loops.append(loop)
    serial = _loop_serial(m, node, "body")
    result = _stage_body(m, frame, node, name, body, arguments(first), mode, serial)
    carry = _settled(first, carry_of(result))
    result = _stage_body(m, frame, node, name, body, arguments(carry), mode, serial)
    m.path.loops.pop()
    return _settled(carry, carry_of(result)), result


def _stage_body(
    m: Machine, frame: Frame, node: Any, name: str, body: Value, values: list[Value], mode: Mode, serial: int
) -> Value:
    """Stage a loop body under a fixed serial for the body's own frame as well."""
    args = Arguments(values)
    operand = body
    while isinstance(body, (BoundMethod, PartialValue)):
        if isinstance(body, PartialValue):
            args = args.prepended(*body.args)
            args.kwargs = {**body.kwargs, **args.kwargs}
        else:
            args = args.prepended(body.self_value)
        body = body.func
    if isinstance(body, FunctionValue):
        from flake8_jax.semantics.interpreter.running import call_function_value

        saved_base = m.path.loop_base
        m.path.loop_base = len(m.path.loops)
        link = Link(frame.scope, node, "root", describe(body), f"{name} stages {describe(body)}", serial, None)
        m.path.stack.append(link)
        saved = m.path.mode
        m.path.mode = mode
        for value in args.values:
            settle_births(value, mode.trace)
        result = call_function_value(m, frame, node, body, args, CallingContext(serial=_loop_serial(m, node, "frame")))
        m.path.mode = saved
        m.path.stack.pop()
        m.path.loop_base = saved_base
        return result
    return stage(m, frame, node, name, operand, Arguments(values), mode, serial=serial)


def _check_carry(m: Machine, frame: Frame, node: Any, name: str, first: Value, after: Value) -> None:
    if differs(first, after):
        short = name.rpartition(".")[2]
        tell(
            m,
            frame,
            node,
            name,
            f"the carry that the body of `{short}` returns has another structure than the initial one",
        )


def run_scan(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    body = bound.get("f", Unknown("body"))
    if not check_operand(m, frame, node, name, "f", body, 2):
        return Unknown("scan")
    first = _inner(m, bound.get("init"))
    xs = bound.get("xs", Unknown("xs") if args.unknown_rest else NONE)

    def arguments(carry: Value) -> list[Value]:
        return [carry, _axis_element(m, xs)]

    def carry_of(result: Value) -> Value:
        pair = known_elements(result)
        return pair[0] if pair is not None and len(pair) == 2 else Unknown("carry")

    carry, result = _iterate(m, frame, node, name, fact, body, first, arguments, carry_of)
    if is_no_tuple_of(result, 2):
        tell(m, frame, node, name, "the body of `scan` has to return a pair, (carry, output)")
    pair = known_elements(result)
    if pair is not None and len(pair) == 2 and "init" in bound:
        _check_carry(m, frame, node, name, bound["init"], pair[0])
    ys = pair[1] if pair is not None and len(pair) == 2 else Unknown("ys")
    level = outer_level(m, args)
    return TupleValue((boundary.release(carry, level), boundary.release(boundary.stack_axis(ys), level)))


def _axis_element(m: Machine, xs: Value) -> Value:
    """A slice of ``xs`` as the body sees it: surely tracers."""
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        presumption.mark_leaves(xs)
    if isinstance(xs, Const) and xs.value is None:
        return NONE
    if isinstance(xs, Unknown):
        return Tree(ABSTRACT)
    return boundary.tracify(boundary.element_of_axis(xs), ABSTRACT)


def run_map(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    body = bound.get("f", Unknown("body"))
    if not check_operand(m, frame, node, name, "f", body, 1):
        return Unknown("map")
    element = _axis_element(m, bound.get("xs", Unknown("xs")))
    _, result = _iterate(m, frame, node, name, fact, body, NONE, lambda carry: [freshen(element)], lambda r: NONE)
    return boundary.release(boundary.stack_axis(result), outer_level(m, args))


def run_fori_loop(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    body = bound.get("body_fun", Unknown("body"))
    if not check_operand(m, frame, node, name, "body_fun", body, 2):
        return Unknown("fori_loop")
    first = _inner(m, bound.get("init_val"))

    def arguments(carry: Value) -> list[Value]:
        index = Array(ABSTRACT, "int", 0)
        for lane in m.path.mode.lanes:  # the count of the iterations is no lane's own
            lane.shared[index] = False
        return [index, carry]

    carry, result = _iterate(m, frame, node, name, fact, body, first, arguments, lambda r: r)
    if "init_val" in bound:
        _check_carry(m, frame, node, name, bound["init_val"], result)
    return boundary.release(carry, outer_level(m, args))


def run_while_loop(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    condition = bound.get("cond_fun", Unknown("cond"))
    body = bound.get("body_fun", Unknown("body"))
    if not check_operand(m, frame, node, name, "cond_fun", condition, 1):
        return Unknown("while_loop")
    if not check_operand(m, frame, node, name, "body_fun", body, 1):
        return Unknown("while_loop")
    first = _inner(m, bound.get("init_val"))
    mode = enter(m, fact, name)
    # JAX builds the carry anew for each of the two: what one does to its containers the other does not see.
    stage(m, frame, node, name, condition, Arguments([_inner(m, bound.get("init_val"))]), mode)
    carry, result = _iterate(m, frame, node, name, fact, body, first, lambda c: [c], lambda r: r)
    if "init_val" in bound:
        _check_carry(m, frame, node, name, bound["init_val"], result)
    return boundary.release(carry, outer_level(m, args))


def _branches(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, functions: list[Value], operands: list[Value]
) -> Value:
    return _arms(m, frame, node, name, fact, [(function, [_inner(m, v) for v in operands]) for function in functions])


def _arms(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, calls: list[tuple[Value, list[Value]]]
) -> Value:
    """Run the branches one after the other: functions with their operands."""
    results: list[Value] = []
    arms = []
    for function, operands in calls:
        mark = len(m.journal.entries)
        results.append(stage(m, frame, node, name, function, Arguments(list(operands)), enter(m, fact, name)))
        arms.append(m.journal.take_back(mark))
    m.journal.merge(arms)
    if any(differs(results[0], other) for other in results[1:]):
        short = name.rpartition(".")[2]
        tell(m, frame, node, name, f"the branches of `{short}` return different structures")
    return joining.join_all(results) if results else Unknown("branch")


def run_cond(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    if not bound.keys() <= {p.lstrip("*") for p in fact.params}:
        return Unknown("cond")  # a wrapper with parameters of its own
    operands = list(known_elements(bound["operands"]) or ()) if "operands" in bound else []
    if "operand" in bound:
        operands.append(bound["operand"])
    inner = [_inner(m, v) for v in operands]
    if args.star is not None:
        inner.append(Unknown("operands"))
    functions = [bound.get(p, Unknown("branch")) for p in fact.operands]
    if isinstance(bound.get("pred"), CALLABLES):
        tell(m, frame, node, name, "`cond` takes the predicate first, and this is a function")
        return Unknown("cond")
    if len(operands) == 2 and not is_function(functions[0]) and is_function(functions[1]) and is_function(operands[1]):
        # The old form: ``cond(pred, true_operand, true_fun, false_operand, false_fun)``.
        each = [(functions[1], functions[0]), (operands[1], operands[0])]
        result = _arms(m, frame, node, name, fact, [(f, [boundary.tracify(v, ABSTRACT)]) for f, v in each])
        return boundary.release(result, outer_level(m, args))
    count = None if args.star is not None or args.double_star is not None or args.unknown_rest else len(inner)
    for parameter, function in zip(fact.operands, functions):
        if not check_operand(m, frame, node, name, parameter, function, count):
            return Unknown("cond")
    result = _branches(m, frame, node, name, fact, functions, inner)
    return boundary.release(result, outer_level(m, args))


def run_switch(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    operands = list(known_elements(bound["operands"]) or ()) if "operands" in bound else []
    if "operand" in bound:
        operands.append(bound["operand"])
    inner = [_inner(m, v) for v in operands]
    branches = bound.get("branches", Unknown("branches"))
    known = known_elements(branches)
    if known is None:
        element = joining.any_element(branches) if isinstance(branches, ListValue) else Unknown("branch")
        known = joining.members_of(element)
    result = _branches(m, frame, node, name, fact, list(known), inner)
    return boundary.release(result, outer_level(m, args))


def run_associative_scan(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    elems = bound.get("elems", Unknown("elems"))
    function = bound.get("fn", Unknown("fn"))
    call(m, frame, node, function, Arguments([freshen(elems), freshen(elems)]))
    return (
        relevelled(elems, result_level(m, [elems], library=True)) if not isinstance(elems, Unknown) else Unknown("scan")
    )
