"""How ``scan``, ``fori_loop``, ``while_loop``, ``cond`` and similar functions call what they stage.

Vocabulary
----------
carry       what one iteration hands to the next. settled: what it may have become by then.
body        the function that a loop stages; it is run twice, on the initial carry and on the settled one.
element     what a body gets of ``xs`` in one iteration: a slice along the first axis.
pair        what the body of ``scan`` returns: the carry and an output.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.arguments import Arguments, CallingContext
from flake8_jax.semantics.domain.boundary import relevelled
from flake8_jax.semantics.domain.signatures import CALLABLES, differs, is_function, is_no_tuple_of
from flake8_jax.semantics.domain.stack import LoopState
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    NONE,
    UNKNOWN_TRACE,
    Array,
    BoundMethod,
    Const,
    DictValue,
    FunctionValue,
    HostArray,
    Instance,
    Level,
    ListValue,
    PartialValue,
    Room,
    Static,
    Tree,
    TupleValue,
    Unknown,
    Value,
    canonical_key,
    copy_with_new_identity,
    known_elements,
)
from flake8_jax.semantics.interpreter.conditions import predicate_picks_iteration
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.interpreter.operators import result_level
from flake8_jax.semantics.interpreter.running import call_function_value
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.application import Transformation
from flake8_jax.semantics.models.boundaries import arrived
from flake8_jax.semantics.models.signature_checks import check_operand, emit_problem
from flake8_jax.semantics.models.staging import Staging, enter, outer_level, stage, staged
from flake8_jax.semantics.models.tables import model
from flake8_jax.semantics.trackers.key_carries import carry_uses
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.readiness import Readiness


def _inner(m: Machine, value: Value | None, level: Level = ABSTRACT) -> Value:
    """A carry or an operand as the staged function sees it."""
    presumption = m.trackers[Presuming].presumption
    if presumption is not None and value is not None:
        presumption.mark_leaves(value)
    return arrived(value, boundary.to_tracers(value, level)) if value is not None else Tree(level)


def _settled(before: Value, after: Value, room: Room | None = None) -> Value:
    """The carry of a second iteration: what stayed the same stays, what changed is whatever it may become."""
    if before is after:
        return before
    room = room if room is not None else Room()
    if type(after) in _STRUCTURES and not room.enter(after):
        return Unknown("deep")
    settle = _STRUCTURES.get(type(after)) if type(before) is type(after) else None
    settled = settle(before, after, room) if settle is not None else None
    if settled is not None:
        return settled
    if isinstance(before, (Array, Tree, Unknown)) and canonical_key(before) is canonical_key(after):
        return before
    # Whatever the first iteration was given, the second is given something else: a key among it is another key.
    return joining.join(copy_with_new_identity(before), _carried(after) if isinstance(before, (Array, Tree)) else after)


def _settled_tuple(before: TupleValue, after: TupleValue, room: Room) -> Value | None:
    if len(before.elts) != len(after.elts):
        return None
    elements = tuple(_settled(b, a, room) for b, a in zip(before.elts, after.elts, strict=True))
    return TupleValue(elements, after.cls or before.cls, after.names or before.names)


def _settled_instance(before: Instance, after: Instance, room: Room) -> Value | None:
    if before.cls is not after.cls:
        return None
    made = Instance(after.cls, exact=after.exact, level=after.level, made_in=UNKNOWN_TRACE)
    made.complete = after.complete
    for name in {**before.slots, **after.slots}:
        b, a = before.slots.get(name), after.slots.get(name)
        made.slots[name] = _settled(b, a, room) if b is not None and a is not None else a if a is not None else b
    return made


def _settled_dict(before: DictValue, after: DictValue, room: Room) -> Value | None:
    items = dict(before.items())
    return DictValue(
        {k: _settled(items[k], v, room) if k in items else v for k, v in after.items()},
        after.slots.get("*"),
        is_open=after.slots["open"],
    )


_STRUCTURES: dict[type, Callable[[Any, Any, Room], Value | None]] = {
    TupleValue: _settled_tuple,
    Instance: _settled_instance,
    DictValue: _settled_dict,
}
"""How two values of one kind settle part by part; None where their structures differ."""


def _carried(leaf: Value) -> Value:
    """What the next iteration gets for a leaf: a number that the body returned comes back as an array."""
    hosts = (Const, Static, HostArray)
    return joining.join_all(
        boundary.to_tracers(v, ABSTRACT) if isinstance(v, hosts) else v for v in joining.members_of(leaf)
    )


def _loop_serial(m: Machine, node: Any, which: str) -> int:
    """One serial for all iterations of a loop's body, so that its second iteration meets the uses of the first."""
    key = (id(node), which, tuple(link.serial for link in m.path.stack))
    found = m.path.body_serials.get(key)
    if found is None:
        found = m.path.body_serials[key] = m.path.new_serial()
    return found


class Iterated(NamedTuple):
    """A loop. once: the carry that the body returns for the initial one. carry: what it has become in the end. result: what the
    body returns."""

    once: Value
    carry: Value
    result: Value


def _iterate(
    m: Machine,
    app: Transformation,
    body: Value,
    first: Value,
    arguments: Callable[[Value], list[Value]],
    carry_of: Callable[[Value], Value],
) -> Iterated:
    """Run a loop body twice: once on the initial carry, once on what the carry may have become."""
    inside = enter(m, app.fact, app.name)
    m.trackers[Readiness].track_device_loop()
    loop = LoopState(app.short, app.node, app.frame.scope, entering=first)
    m.path.loops.append(loop)
    how = Staging(app.name, inside.mode, serial=_loop_serial(m, app.node, "body"))
    once = carry_of(_stage_body(m, app, body, arguments(first), how))
    loop.entering = None
    carry = _settled(first, once)
    carry_uses(m, carry, first, once)
    result = _stage_body(m, app, body, arguments(carry), how)
    m.path.loops.pop()
    return Iterated(once, _settled(carry, carry_of(result)), result)


def _stage_body(m: Machine, app: Transformation, body: Value, values: list[Value], how: Staging) -> Value:
    """Stage a loop body under a fixed serial for the body's own frame as well."""
    function, args = _with_bound(body, Arguments(values))
    if not isinstance(function, FunctionValue):
        return stage(m, body, app.at.to(Arguments(values)), how)

    def run() -> Value:
        serial = _loop_serial(m, app.node, "frame")
        return call_function_value(m, app.frame, app.node, function, args, CallingContext(serial=serial))

    return staged(m, function, app.at.to(args), how, run)


def _with_bound(body: Value, args: Arguments) -> tuple[Value, Arguments]:
    """The function behind methods and ``partial``, with the arguments that are bound there."""
    while isinstance(body, (BoundMethod, PartialValue)):
        if isinstance(body, PartialValue):
            args = args.prepended(*body.args)
            args.kwargs = {**body.kwargs, **args.kwargs}
        else:
            args = args.prepended(body.self_value)
        body = body.func
    return body, args


def _check_carry(m: Machine, app: Transformation, parameter: str, after: Value) -> None:
    """The carry that a body returns for the initial one, which is this argument, has its structure."""
    first = app.bound.get(parameter)
    if first is not None and differs(first, after):
        problem = f"The returned carry and the initial carry of `{app.short}` have different pytree structures; make them equal"
        emit_problem(m, app, problem)


@model("scan")
def _run_scan(m: Machine, app: Transformation) -> Value:
    if not check_operand(m, app, "f", 2):
        return Unknown("scan")
    first = _inner(m, app.bound.get("init"))
    xs = app.bound.get("xs", Unknown("xs") if app.at.args.unknown_rest else NONE)

    def arguments(carry: Value) -> list[Value]:
        return [carry, _axis_element(m, xs)]

    def carry_of(result: Value) -> Value:
        pair = _pair_of(result)
        return pair[0] if pair is not None else Unknown("carry")

    once, carry, result = _iterate(m, app, app.bound.get("f", Unknown("body")), first, arguments, carry_of)
    if is_no_tuple_of(result, 2):
        emit_problem(
            m, app, "The body of `scan` must return a pair (carry, output), but this one does not; return both"
        )
    pair = _pair_of(result)
    if pair is not None:
        _check_carry(m, app, "init", once)
    ys = pair[1] if pair is not None else Unknown("ys")
    level = outer_level(m, app.at.args)
    return TupleValue((boundary.from_tracers(carry, level), boundary.from_tracers(boundary.stack_axis(ys), level)))


def _pair_of(result: Value) -> tuple[Value, Value] | None:
    known = known_elements(result)
    return (known[0], known[1]) if known is not None and len(known) == 2 else None


def _axis_element(m: Machine, xs: Value) -> Value:
    """A slice of ``xs`` as the body sees it: surely tracers."""
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        presumption.mark_leaves(xs)
    if isinstance(xs, Const) and xs.value is None:
        return NONE
    if isinstance(xs, Unknown):
        return Tree(ABSTRACT)
    return boundary.to_tracers(boundary.element_of_axis(xs), ABSTRACT)


@model("map")
def _run_map(m: Machine, app: Transformation) -> Value:
    if not check_operand(m, app, "f", 1):
        return Unknown("map")
    body = app.bound.get("f", Unknown("body"))
    element = _axis_element(m, app.bound.get("xs", Unknown("xs")))
    _, _, result = _iterate(m, app, body, NONE, lambda carry: [copy_with_new_identity(element)], lambda r: NONE)
    return boundary.from_tracers(boundary.stack_axis(result), outer_level(m, app.at.args))


@model("fori_loop")
def _run_fori_loop(m: Machine, app: Transformation) -> Value:
    if not check_operand(m, app, "body_fun", 2):
        return Unknown("fori_loop")

    def arguments(carry: Value) -> list[Value]:
        index = Array(ABSTRACT, "int", 0)
        m.journal.keep_alive.append(index)
        m.path.loops[-1].counters.add(id(index))
        for mapped_axis in m.path.mode.mapped_axes:  # the count of the iterations is no element's own
            mapped_axis.shared[index] = False
        return [index, carry]

    return _loop(m, app, _inner(m, app.bound.get("init_val")), arguments)


@model("while_loop")
def _run_while_loop(m: Machine, app: Transformation) -> Value:
    if not check_operand(m, app, "cond_fun", 1) or not check_operand(m, app, "body_fun", 1):
        return Unknown("while_loop")
    first = _inner(m, app.bound.get("init_val"))
    inside = enter(m, app.fact, app.name)
    # JAX builds a new carry for each of the two, so neither sees what the other does to its containers.
    tested = Arguments([_inner(m, app.bound.get("init_val"))])
    stage(m, app.bound.get("cond_fun", Unknown("cond")), app.at.to(tested), inside)
    return _loop(m, app, first, lambda carry: [carry])


def _loop(m: Machine, app: Transformation, first: Value, arguments: Callable[[Value], list[Value]]) -> Value:
    """A loop whose body returns the carry and nothing else."""
    body = app.bound.get("body_fun", Unknown("body"))
    iterated = _iterate(m, app, body, first, arguments, lambda r: r)
    _check_carry(m, app, "init_val", iterated.once)
    return boundary.from_tracers(iterated.carry, outer_level(m, app.at.args))


# --- branches -----------------------------------------------------------------------------------------------


def _run_branches(m: Machine, app: Transformation, calls: list[tuple[Value, list[Value]]]) -> Value:
    """Run the branches one after the other: functions with their operands."""
    results: list[Value] = []
    written = []
    for function, operands in calls:
        mark = len(m.journal.entries)
        results.append(stage(m, function, app.at.to(Arguments(list(operands))), enter(m, app.fact, app.name)))
        written.append(m.journal.rollback(mark))
    m.journal.merge(written)
    if any(differs(results[0], other) for other in results[1:]):
        emit_problem(
            m,
            app,
            f"The branches of `{app.short}` return different pytree structures, but XLA needs one; make them equal",
        )
    result = joining.join_all(results) if results else Unknown("branch")
    return boundary.from_tracers(result, outer_level(m, app.at.args))


def _operands(app: Transformation) -> list[Value]:
    """What the branches are called with: ``operands``, or the one ``operand``."""
    given = list(known_elements(app.bound["operands"]) or ()) if "operands" in app.bound else []
    return [*given, app.bound["operand"]] if "operand" in app.bound else given


@model("cond")
def _run_cond(m: Machine, app: Transformation) -> Value:
    if not app.bound.keys() <= {p.lstrip("*") for p in app.fact.params}:
        return Unknown("cond")  # a wrapper with parameters of its own
    args, operands = app.at.args, _operands(app)
    inner = [_inner(m, v) for v in operands]
    if args.star is not None:
        inner.append(Unknown("operands"))
    functions = [app.bound.get(p, Unknown("branch")) for p in app.fact.operands]
    if isinstance(app.bound.get("pred"), CALLABLES):
        emit_problem(
            m, app, "`cond` takes the predicate first, but this first argument is a function; check the argument order"
        )
        return Unknown("cond")
    with _in_picked_iterations(m, app):
        return _run_cond_branches(m, app, functions, inner)


@contextlib.contextmanager
def _in_picked_iterations(m: Machine, app: Transformation) -> Iterator[None]:
    """The branches of ``cond(i == k, …)`` run in some iterations of a loop alone, as those of ``if i == k`` do.

    Limitations: the other branch, which runs in all iterations but those, counts as picked, too.
    """
    predicate = _predicate(app.node)
    loop = m.path.loops[-1] if m.path.loops and predicate is not None else None
    if loop is None or predicate is None or not predicate_picks_iteration(m, app.at.frame, predicate):
        yield
        return
    loop.picked += 1
    try:
        yield
    finally:
        loop.picked -= 1


def _predicate(call: Any) -> ir.Expr | None:
    """The predicate as a call of ``cond`` is written: its first argument, or the one called ``pred``."""
    arguments = call.args if isinstance(call, ir.Call) else []
    named = [a.value for a in arguments if a.keyword == "pred"]
    first = arguments[0] if arguments and not arguments[0].star and not arguments[0].keyword else None
    return named[0] if named else first.value if first is not None else None


def _run_cond_branches(m: Machine, app: Transformation, functions: list[Value], inner: list[Value]) -> Value:
    """The branches of a ``cond``, after its predicate."""
    args, operands = app.at.args, _operands(app)
    if _is_old_form(functions, operands):
        each = [(functions[1], functions[0]), (operands[1], operands[0])]
        return _run_branches(m, app, [(f, [arrived(v, boundary.to_tracers(v, ABSTRACT))]) for f, v in each])
    hidden = args.star is not None or args.double_star is not None or args.unknown_rest
    if not all(check_operand(m, app, p, None if hidden else len(inner)) for p in app.fact.operands):
        return Unknown("cond")
    return _run_on_each(m, app, functions, inner)


def _run_on_each(m: Machine, app: Transformation, functions: Iterable[Value], operands: list[Value]) -> Value:
    """Run branches that all get the same operands."""
    return _run_branches(m, app, [(function, [_inner(m, v) for v in operands]) for function in functions])


def _is_old_form(functions: list[Value], operands: list[Value]) -> bool:
    """``cond(pred, true_operand, true_fun, false_operand, false_fun)``."""
    if len(operands) != 2 or is_function(functions[0]):
        return False
    return is_function(functions[1]) and is_function(operands[1])


@model("switch")
def _run_switch(m: Machine, app: Transformation) -> Value:
    inner = [_inner(m, v) for v in _operands(app)]
    branches = app.bound.get("branches", Unknown("branches"))
    known = known_elements(branches)
    if known is None:
        element = joining.any_element(branches) if isinstance(branches, ListValue) else Unknown("branch")
        known = joining.members_of(element)
    return _run_on_each(m, app, known, inner)


@model("associative_scan")
def _run_associative_scan(m: Machine, app: Transformation) -> Value:
    elems = app.bound.get("elems", Unknown("elems"))
    function = app.bound.get("fn", Unknown("fn"))
    call(m, app.frame, app.node, function, Arguments([copy_with_new_identity(elems), copy_with_new_identity(elems)]))
    if isinstance(elems, Unknown):
        return Unknown("scan")
    return relevelled(elems, result_level(m, [elems], library=True))
