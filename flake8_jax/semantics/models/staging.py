"""Running a staged operand: its signature, the mode inside, the root on the call stack.

Vocabulary
----------
operand     the function that a transform, or a library by contract, stages.
mode        how code inside runs (see ``domain.stack``): staged, which trace, mapped over which axes …
outside     where the call of the transform stands; the level of its results there hangs on what went in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from flake8_jax.knowledge.model import TransformFact
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.signatures import describe, in_quotes, opened, parameter_names
from flake8_jax.semantics.domain.stack import Link, LinkKind, MappedAxis, Mode
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    CONCRETE,
    GRAD,
    MAYBE,
    NONE,
    BoundMethod,
    FunctionValue,
    Instance,
    Level,
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
from flake8_jax.semantics.trackers.allocations import settle_allocations
from flake8_jax.semantics.trackers.axes import bound_inside, closes
from flake8_jax.semantics.trackers.captures import COMPILING
from flake8_jax.semantics.trackers.host_seeds import pass_on
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.replicas import ANY
from flake8_jax.semantics.trackers.runs import track_probed

_REPEATING = frozenset({"scan", "map", "fori_loop", "while_loop", "associative_scan"})
"""Models of transforms that run an operand several times in one call."""


class Staging(msgspec.Struct, frozen=True, eq=False):
    """How a library runs an operand: in ``mode``. kind, serial: of the link on the call stack; a new serial where None."""

    name: str
    mode: Mode
    kind: LinkKind = "root"
    serial: int | None = None


class Contract(msgspec.Struct, frozen=True, eq=False):
    """A library says that it runs this function staged and ambient; which parameters are traced is not known.

    name: of the library's function or class; role: its parameter, or method, that the operand is. traced: so many leading
    arguments surely are (pytrees of) tracers. leading: what they are, where known.
    """

    name: str
    role: str
    operand: Value
    traced: int = 0
    leading: tuple[Value, ...] = ()


def enter(
    m: Machine, fact: TransformFact, name: str, axis: MappedAxis | None = None, options: dict[str, Value] | None = None
) -> Staging:
    """What is inside a staged operand. options: the transform's other arguments, for the axis names that it binds."""
    if fact.tracing == "none" and not fact.omnistaging:
        return Staging(name, m.path.mode)
    m.path.traces += 1
    around = m.path.mode
    mode = Mode(
        staged=True,
        ambient=around.ambient or fact.omnistaging,
        trace=m.path.traces,
        outermost=around.outermost or m.path.traces,
        presumed=around.presumed,
        mapped_axes=around.mapped_axes + ((axis,) if axis is not None else ()),
        shapes_only=around.shapes_only or fact.result == "shape",
        differentiated=around.differentiated or fact.tracing == "concrete",
        compiled=m.path.traces if fact.omnistaging else around.compiled,
        axes=bound_inside(around.axes, fact, name, options or {}),
        axes_closed=around.axes_closed or closes(name),
        jitted=around.jitted or (m.path.traces if name.rpartition(".")[2] in COMPILING else 0),
        optional=around.optional,
    )
    if axis is None and fact.model not in _REPEATING:
        pass_on(m, around.trace, mode.trace)
    return Staging(name, mode)


def stage(m: Machine, operand: Value, at: Call, how: Staging) -> Value:
    """Run an operand the way a transform does: with the root on the call stack."""
    return staged(m, operand, at, how, lambda: call(m, at.frame, at.node, operand, at.args))


def staged(m: Machine, operand: Value, at: Call, how: Staging, run: Callable[[], Value]) -> Value:
    """What ``run`` gives inside of the transform, with the root on the call stack."""
    path = m.path
    if how.mode.shapes_only:
        track_probed(m, operand)
    saved_mode, saved_base = path.mode, path.loop_base
    name, serial = describe(operand), how.serial if how.serial is not None else path.new_serial()
    text, compiles = f"`{how.name}` traces {in_quotes(name)}", how.mode.compiled > saved_mode.compiled
    path.stack.append(Link(at.frame.scope, at.node, how.kind, name, text, serial, None, compiles=compiles))
    path.mode = how.mode
    for value in (*at.args.values, *at.args.kwargs.values()):
        settle_allocations(value, how.mode.trace)
    path.loop_base = len(path.loops)
    result = run()
    path.loop_base = saved_base
    path.mode = saved_mode
    path.stack.pop()
    return result


def outer_level(m: Machine, args: Arguments, operand: Value | None = None) -> Level:
    """The level of a staged call's results, seen from outside: that of its arguments, or of what its operand (or a
    function among the arguments) closes over."""
    extra = [v for v in (args.star, args.double_star) if v is not None]
    values = [*args.values, *args.kwargs.values(), *extra]
    level = result_level(m, values, library=True)
    if level == ABSTRACT:
        return level
    inner = max(_closed_over(m, v) for v in (*values, *([operand] if operand is not None else []), NONE))
    return MAYBE if inner >= GRAD and inner > level else level  # it is not known whether the result hangs on it


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


def stage_unknown(m: Machine, frame: Frame, node: Any, contract: Contract) -> None:
    """Run what a library stages by contract, on arguments that are not known exactly."""
    m.path.traces += 1
    around, trace, operand = m.path.mode, m.path.traces, contract.operand
    mode = Mode(
        True, True, trace, around.presumed, around.mapped_axes, compiled=trace, axes=around.axes | {ANY}, jitted=around.jitted,
        optional=around.optional,
    )  # fmt: skip
    names = parameter_names(operand) or []
    values: list[Value] = [*contract.leading] or [Tree(ABSTRACT) for _ in names[: contract.traced]]
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        method = m.program.knowledge.method(contract.name, contract.role)
        function = opened(operand, transforms=False).function
        if method is not None and isinstance(function, FunctionValue):
            presumption.contract(function.fn, names[: sum(not p.startswith("*") for p in method.params)])
    at = Call(frame, node, Arguments(values, unknown_rest=True))
    stage(m, operand, at, Staging(contract.name, mode, "contract"))
