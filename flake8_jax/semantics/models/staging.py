"""Running a staged operand: its signature, the mode inside, the root on the call stack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.knowledge.model import TransformFact
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.signatures import describe, parameter_names
from flake8_jax.semantics.domain.stack import Lane, Link, Mode
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    CONCRETE,
    GRAD,
    MAYBE,
    NONE,
    BoundMethod,
    FunctionValue,
    Instance,
    ListValue,
    PartialValue,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    known_elements,
    level_of,
)
from flake8_jax.semantics.interpreter.closures import captured_values
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.interpreter.operators import result_level
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.allocations import settle_births
from flake8_jax.semantics.trackers.axes import ANY, bound_inside, closes
from flake8_jax.semantics.trackers.captures import COMPILING
from flake8_jax.semantics.trackers.presumption import Presuming


def enter(
    m: Machine, fact: TransformFact, name: str, lane: Lane | None = None, options: dict[str, Value] | None = None
) -> Mode:
    """The mode inside a staged operand. options: the transform's other arguments, for the axis names that it binds."""
    if fact.tracing == "none" and not fact.omnistaging:
        return m.path.mode
    m.path.traces += 1
    lanes = m.path.mode.lanes + ((lane,) if lane is not None else ())
    return Mode(
        staged=True,
        ambient=m.path.mode.ambient or fact.omnistaging,
        trace=m.path.traces,
        presumed=m.path.mode.presumed,
        lanes=lanes,
        shapes_only=m.path.mode.shapes_only or fact.result == "shape",
        differentiated=m.path.mode.differentiated or fact.tracing == "concrete",
        compiled=m.path.traces if fact.omnistaging else m.path.mode.compiled,
        axes=bound_inside(m.path.mode.axes, fact, name, options or {}),
        axes_closed=m.path.mode.axes_closed or closes(name),
        jitted=m.path.mode.jitted or (m.path.traces if name.rpartition(".")[2] in COMPILING else 0),
    )


def stage(
    m: Machine, frame: Frame, node: Any, name: str, operand: Value, args: Arguments, mode: Mode, *,
    serial: int | None = None, kind: str = "root",
) -> Value:  # fmt: skip
    """Run an operand the way a transform does: in ``mode``, with the root on the call stack."""
    saved_mode, saved_base = m.path.mode, m.path.loop_base
    link = Link(
        scope=frame.scope, node=node, kind=kind, function=describe(operand), text=f"{name} stages {describe(operand)}",
        serial=serial if serial is not None else m.path.new_serial(), fn=None,
    )  # fmt: skip
    m.path.stack.append(link)
    m.path.mode = mode
    for value in (*args.values, *args.kwargs.values()):
        settle_births(value, mode.trace)
    m.path.loop_base = len(m.path.loops)
    target_node = _definition(operand) or node
    result = call(m, frame, target_node if False else node, operand, args)
    m.path.loop_base = saved_base
    m.path.mode = saved_mode
    m.path.stack.pop()
    return result


def _definition(operand: Value) -> Any:
    return None


def outer_level(m: Machine, args: Arguments, operand: Value | None = None) -> int:
    """The level of a staged call's results, seen from outside: that of its arguments, or of what its operand (or a
    function among the arguments) closes over."""
    extra = [v for v in (args.star, args.double_star) if v is not None]
    values = [*args.values, *args.kwargs.values(), *extra]
    level = result_level(m, values, library=True)
    if level == ABSTRACT:
        return level
    inner = max(_closed_over(m, v) for v in (*values, *([operand] if operand is not None else []), NONE))
    return MAYBE if inner >= GRAD and inner > level else level  # whether the result hangs on it, nobody knows


def _closed_over(m: Machine, value: Value, depth: int = 4) -> int:
    """The highest level of the arrays that calling a value may bring in."""
    level, seen, layer = CONCRETE, set[Value](), [value]
    for step in range(depth):
        # Functions share what they hold, so that a walk along every path would take many times as long.
        held = dict.fromkeys(part for holder in layer for part in _held(m, holder, given=step == 0))
        layer = [part for part in held if part not in seen]
        seen.update(layer)
        level = max([level, *[level_of(part) for part in layer if not isinstance(part, (FunctionValue, Unknown))]])
    return level


def _held(m: Machine, value: Value, *, given: bool) -> list[Value]:
    """What calling a value may bring in at once. given: the value itself is an argument, which may be a list of such values."""
    if isinstance(value, FunctionValue):
        return list(captured_values(m, value).values())
    if isinstance(value, PartialValue):
        return [value.func, *value.args, *value.kwargs.values()]
    if isinstance(value, BoundMethod):
        of_self = value.self_value.slots.values() if isinstance(value.self_value, Instance) else ()
        return [value.func, *[v for v in of_self if isinstance(v, Value)]]
    if isinstance(value, TransformedValue):
        return [value.operand]
    if isinstance(value, UnionValue):
        return list(value.members)
    if isinstance(value, (TupleValue, ListValue)) and given:
        return list(known_elements(value) or ())
    return []


Model = Callable[[Machine, Frame, Any, str, TransformFact, dict[str, Value], Arguments], Value]


def stage_unknown(
    m: Machine, frame: Frame, node: Any, name: str, operand: Value, what: str, traced_arguments: int = 0,
    *, leading: tuple[Value, ...] = (),
) -> None:  # fmt: skip
    """By contract a library runs this function staged and ambient; which parameters are traced is not known.

    traced_arguments: so many leading arguments surely are (pytrees of) tracers. leading: what they are, where known.
    """
    m.path.traces += 1
    around, trace = m.path.mode, m.path.traces
    mode = Mode(
        True, True, trace, around.presumed, around.lanes, compiled=trace, axes=around.axes | {ANY}, jitted=around.jitted,
    )  # fmt: skip
    names = parameter_names(operand) or []
    values: list[Value] = [*leading] or [Tree(ABSTRACT) for _ in names[:traced_arguments]]
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        method = m.program.knowledge.method(name, what)
        function = operand
        while isinstance(function, (BoundMethod, PartialValue)):
            function = function.func
        if method is not None and isinstance(function, FunctionValue):
            presumption.contract(function.fn, names[: sum(not p.startswith("*") for p in method.params)])
    stage(m, frame, node, name, operand, Arguments(values, unknown_rest=True), mode, kind="contract")
