"""What crosses a staging boundary, inwards and outwards.

Vocabulary
----------
inward      what an argument is inside: its leaves turn into tracers (see ``domain.boundary``).
axis        what ``in_axes`` say of an argument, or of a part of it; None where it is not known.
auxiliary   what an operand returns beside the value that is differentiated (``has_aux``).
shared      a value that is equal for every element of a mapped axis.

Static arguments, ``in_axes`` None and undifferentiated arguments cross it unchanged. Limitations: ``out_axes``,
shardings, prefix pytrees of axes deeper than one layer of dicts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import msgspec

from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.boundary import relevelled
from flake8_jax.semantics.domain.signatures import (
    constants_of,
    default_values,
    layers,
    opened,
    parameter_names,
    static_parameters,
)
from flake8_jax.semantics.domain.values import (
    Array,
    Const,
    DictValue,
    ExternalInstance,
    FunctionValue,
    Instance,
    Level,
    ListValue,
    PartialValue,
    Static,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    canonical_key,
    copy_with_new_identity,
    holds_tracer,
    known_elements,
)
from flake8_jax.semantics.interpreter.binding import refined
from flake8_jax.semantics.interpreter.closures import captured_values
from flake8_jax.semantics.interpreter.operations import value_of_annotation
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.key_carries import hand_out
from flake8_jax.semantics.trackers.keys import shared_values
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.recipes import mark_tangents


def result_outside(
    m: Machine, tv: TransformedValue, args: Arguments, result: Value, level: Level, dispatched: int
) -> Value:
    """What the call of a transformed function gives, where its operand returned ``result``."""
    kind = tv.fact.result
    if kind == "same":
        return _same_outside(m, tv, result, level, dispatched)
    value, aux = _without_aux(tv, result, level)
    value = boundary.from_tracers(value, level, dispatched=dispatched)
    if kind in ("gradient", "value_and_gradient", "jacobian"):
        grads = _gradients(tv, args, level, is_jacobian=kind == "jacobian")
        if kind == "value_and_gradient":
            option = tv.options.get(tv.fact.has_aux or "has_aux")
            if type(value) is Unknown and isinstance(option, (Const, type(None))):
                value = Array(level, dispatched=dispatched)
            if type(value) is Array and value is not result and value.ndim is None:
                value.ndim = 0  # else there is no gradient
            first = value if aux is None else TupleValue((value, aux))
            return TupleValue((first, grads))
        return grads if aux is None else TupleValue((grads, aux))
    if kind == "first":
        pair = known_elements(result)
        return boundary.from_tracers(pair[0], level) if pair else Unknown("first")
    return Unknown(kind)


def _same_outside(m: Machine, tv: TransformedValue, result: Value, level: Level, dispatched: int) -> Value:
    """A result that comes out as the operand returned it, but for its tracers."""
    if tv.fact.maps_axes is not None and not tv.fact.maps_axes.endswith("specs"):
        return hand_out(m, result, _mapped_out(result, level, dispatched, filtered=tv.fact.filters), mapped=True)
    if tv.fact.filters:  # what is no array comes out as it went in, flags of a model among it
        outside = joining.over_arrays(result, lambda v: boundary.from_tracers(v, level, dispatched=dispatched))
    else:
        outside = boundary.from_tracers(result, level, dispatched=dispatched)
    return hand_out(m, result, outside)


def _without_aux(tv: TransformedValue, result: Value, level: Level) -> tuple[Value, Value | None]:
    """What is differentiated of a result, and what is passed on beside it."""
    option = tv.options.get(tv.fact.has_aux or "has_aux")
    if option is None or (isinstance(option, Const) and not option.value):
        return result, None
    pair = known_elements(result)
    if pair is None or len(pair) != 2:
        return Unknown("value"), boundary.from_tracers(Unknown("aux"), level)
    return pair[0], boundary.from_tracers(pair[1], level)


def _mapped_out(value: Value, level: Level, dispatched: int, *, filtered: bool) -> Value:
    """A vmapped result: every leaf gains an axis."""
    if filtered:
        return joining.over_arrays(
            value, lambda v: boundary.from_tracers(boundary.stack_axis(v), level, dispatched=dispatched)
        )
    stacked = boundary.stack_axis(value)
    return boundary.from_tracers(stacked, level, dispatched=dispatched)


def _gradients(tv: TransformedValue, args: Arguments, level: Level, *, is_jacobian: bool) -> Value:
    argnums = constants_of(tv.options.get(tv.fact.differentiates or "argnums"))
    option = tv.options.get(tv.fact.differentiates or "argnums")
    if argnums is None:
        return Unknown("gradients")
    several = option is not None and not isinstance(option, Const)
    positions = argnums or [0]
    found: list[Value] = []
    for p in positions:
        if isinstance(p, int) and -len(args.values) <= p < len(args.values):
            found.append(Tree(level) if is_jacobian else relevelled(args.values[p], level))
        else:
            found.append(Tree(level))
    return TupleValue(tuple(found)) if several else found[0]


Inward = Callable[[Value], Value]


def cross(m: Machine, tv: TransformedValue, args: Arguments, level: Level) -> Arguments:
    """The arguments as the operand sees them."""
    fact, inward = tv.fact, _inward(m, tv, level)
    values = _as_annotated(m, tv.operand, args.values) if fact.filters else list(args.values)
    star = inward(args.star) if args.star is not None else None
    double_star = inward(args.double_star) if args.double_star is not None else None
    if fact.differentiates is not None:
        return _with(args, _differentiated(m, tv, values, inward), dict(args.kwargs))
    if fact.maps_axes is not None:
        return _cross_mapped(m, tv, args, level)
    statics = static_parameters(tv) if fact.statics else (set(), set())
    if statics is None:
        values = [boundary.to_tracers(v, level) if isinstance(v, Array) else joining.copied(v) for v in values]
        return _with(args, values, dict(args.kwargs))
    crossed = _cross_beside_statics(args, values, inward, statics)
    crossed.star, crossed.double_star = star, double_star
    if star is not None or double_star is not None:
        hidden = _hidden_statics(tv, crossed, statics[1])
        if hidden and star is not None and isinstance(tv.operand, TransformedValue):
            crossed.star = Unknown("star")  # as keywords they would be mapped: it is not known which element is static
        else:
            crossed.kwargs |= hidden
    if args.unknown_rest and fact.statics and not fact.filters:
        crossed.kwargs |= _flags(tv, crossed, statics[1])
    return crossed


def _flags(tv: TransformedValue, args: Arguments, static: set[str]) -> dict[str, Value]:
    """Flags and names that an unknown caller may leave out keep their defaults: one that is passed becomes a tracer, whose
    truth no code can ask, or raises, so that nothing behind such a test runs with another value."""
    given = {*(parameter_names(tv.operand) or [])[: len(args.values)], *args.kwargs, *static}
    return {
        name: default
        for name, default in default_values(tv.operand).items()
        if name not in given and isinstance(default, Const) and isinstance(default.value, (bool, str))
    }


def _hidden_statics(tv: TransformedValue, args: Arguments, names: set[str]) -> dict[str, Value]:
    """Static arguments that are among ``*args`` or ``**kwargs``: those stay as they are."""
    signature = parameter_names(tv.operand) or []
    hidden = {name for name in signature[len(args.values) :] if name in names and name not in args.kwargs}
    return {name: Unknown("static argument") for name in hidden}


def _with(args: Arguments, values: list[Value], kwargs: dict[str, Value]) -> Arguments:
    """Arguments with the same IR."""
    return msgspec.structs.replace(args, values=values, kwargs=kwargs)


def _inward(m: Machine, tv: TransformedValue, level: Level) -> Inward:
    """How one argument crosses that is mapped, staged or differentiated as a whole."""
    presumption = m.trackers[Presuming].presumption

    def inward(value: Value) -> Value:
        if tv.fact.filters:
            return boundary.filter_in(value, level)
        if presumption is not None:
            presumption.mark_leaves(value)
        return boundary.to_tracers(value, level)

    return inward


def _differentiated(m: Machine, tv: TransformedValue, values: list[Value], inward: Inward) -> list[Value]:
    """``grad``: the arguments that it differentiates by become tracers, the others stay."""
    argnums = constants_of(tv.options.get(tv.fact.differentiates or ""))
    if argnums is None:
        return [v if not isinstance(v, (Array, Tree)) else copy_with_new_identity(v) for v in values]
    if tv.fact.rebuilds:
        values = [joining.copied(v) for v in values]
    for p in argnums or [0]:
        if isinstance(p, int) and -len(values) <= p < len(values):
            values[p] = inward(values[p])
            if not tv.fact.forward:
                mark_tangents(m, values[p])
    return values


def _cross_beside_statics(
    args: Arguments, values: list[Value], inward: Inward, statics: tuple[set[int], set[str]]
) -> Arguments:
    """``jit``: static arguments stay as they are."""
    positions, names = statics
    crossed = [_fixed(v) if i in positions else arrived(v, inward(v)) for i, v in enumerate(values)]
    kwargs = {k: _fixed(v) if k in names else arrived(v, inward(v)) for k, v in args.kwargs.items()}
    return _with(args, crossed, kwargs)


def _fixed(value: Value) -> Value:
    """A static argument. A tracer is refused before the function runs: whenever it runs, it is something else."""
    return Unknown("static argument") if holds_tracer(value) else value


def arrived(outside: Value, inside: Value) -> Value:
    """An object that is an argument is a pytree, registered in a way that the analysis did not see: a copy of it arrives."""
    if inside is outside and isinstance(outside, Instance):
        return joining.copied(outside)
    return inside


def _as_annotated(m: Machine, operand: Value, values: list[Value]) -> list[Value]:
    """Unknown arguments as their parameters' annotations describe them: a filter looks for the arrays in them."""
    function, skip, _named = opened(operand, transforms=False)
    if not isinstance(function, FunctionValue):
        return list(values)
    parameters = [p for p in function.fn.params if p.kind in ("positional", "posonly")][skip:]
    found = list(values)
    for i, (value, parameter) in enumerate(zip(values, parameters)):
        if isinstance(value, Unknown) and parameter.annotation is not None:
            said = value_of_annotation(m, function.scope, function.closure, parameter.annotation)
            if said is not None:
                found[i] = refined(value, said)
    return found


def _axes_of(value: Value | None, count: int) -> list[Value | None]:
    """One entry per positional argument: the axes given for it; None where it is not known."""
    if value is None:
        return [Const(0)] * count
    if isinstance(value, Const):
        return [value] * count
    known = known_elements(value)
    if known is not None:
        return [known[i] if i < len(known) else None for i in range(count)]
    return [None] * count


def _cross_mapped(m: Machine, tv: TransformedValue, args: Arguments, level: Level) -> Arguments:
    """vmap, pmap, shard_map: mapped arguments lose an axis, unmapped ones stay as they are."""
    fact = tv.fact
    option = tv.options.get(fact.maps_axes or "")
    is_specs = (fact.maps_axes or "").endswith("specs")
    statics = static_parameters(tv) if fact.statics else (set(), set())
    values: list[Value] = []
    for i, (value, axis) in enumerate(zip(args.values, _axes_of(option, len(args.values)), strict=True)):
        if statics is None:
            values.append(joining.copied(value))
        elif i in statics[0]:
            values.append(value)
        elif fact.filters and option is None:
            values.append(boundary.filter_in(value, level, mapped=True))
        elif is_specs:
            values.append(_cross_spec(value, axis, option, level))
        else:
            values.append(_cross_argument(m, tv, value, axis, level))
    kwargs = dict(args.kwargs)
    if not is_specs:
        inward = boundary.filter_in if fact.filters else boundary.to_tracers
        kwargs = {k: inward(v, level, mapped=True) for k, v in kwargs.items()}
    crossed = _with(args, values, kwargs)
    if args.star is not None:
        crossed.star = Unknown("mapped") if option is not None else boundary.to_tracers(args.star, level, mapped=True)
    return crossed


def _cross_argument(m: Machine, tv: TransformedValue, value: Value, axis: Value | None, level: Level) -> Value:
    """An argument of ``vmap`` or ``pmap``, which is mapped over this axis."""
    presumption = m.trackers[Presuming].presumption
    if presumption is not None and isinstance(axis, Const) and axis.value is not None:
        presumption.mark_leaves(value)
    return _cross_axis(value, axis, level, tv.fact.omnistaging)


def _cross_axis(value: Value, axis: Value | None, level: Level, omnistaging: bool, depth: int = 8) -> Value:
    """A value that is mapped over this axis, or its parts over those that ``in_axes`` has for them."""
    if depth == 0:
        return Unknown("mapped")
    if axis is None or isinstance(axis, (Unknown, Static, UnionValue)):
        # Computed axes: it is not known whether this argument is mapped.
        return Unknown("computed in_axes") if not isinstance(value, (FunctionValue, Const, Instance)) else value
    if isinstance(axis, Const):
        if axis.value is None:
            return boundary.to_tracers(value, level) if omnistaging else value
        return boundary.to_tracers(value, level, mapped=True)
    part = functools.partial(_cross_axis, level=level, omnistaging=omnistaging, depth=depth - 1)
    if isinstance(axis, (TupleValue, ListValue)) and isinstance(value, (TupleValue, ListValue)):
        return _cross_sequence(value, axis, part)
    if isinstance(axis, DictValue) and isinstance(value, DictValue):
        axes = dict(axis.items())
        rest = Unknown("mapped") if value.slots["open"] else None
        return DictValue({k: part(v, axes.get(k)) for k, v in value.items()}, rest, is_open=value.slots["open"])
    return Unknown("mapped")


def _cross_sequence(value: TupleValue | ListValue, axis: Value, part: Callable[[Value, Value | None], Value]) -> Value:
    """Each element is mapped over an axis of its own."""
    axes, elements = known_elements(axis), known_elements(value)
    if axes is None or elements is None or len(axes) != len(elements):
        return Unknown("mapped")
    parts = tuple(part(v, a) for v, a in zip(elements, axes, strict=True))
    return TupleValue(parts, value.cls, value.names) if isinstance(value, TupleValue) else ListValue(parts)


def _cross_spec(value: Value, spec: Value | None, option: Value | None, level: Level) -> Value:
    """shard_map: ``P(...)`` makes a tracer of anything; None leaves a Python value alone."""
    if isinstance(spec, Const) and spec.value is None:
        return value if not isinstance(value, Array) else boundary.to_tracers(value, level)
    if isinstance(spec, ExternalInstance) or (option is not None and isinstance(option, ExternalInstance)):
        return boundary.to_tracers(value, level)
    if isinstance(value, (Array, Tree)):
        return boundary.to_tracers(value, level)
    return Unknown("sharded")


def shared_by_all_elements(m: Machine, tv: TransformedValue, args: Arguments, crossed: Arguments) -> dict[Value, bool]:
    """Values that are equal for every element of this vmap: passed with ``in_axes`` None, or captured."""
    option = tv.options.get(tv.fact.maps_axes or "")
    axes = _axes_of(option, len(args.values))
    passed: list[Value] = []
    if not args.unknown_rest:  # else no code is known to pass them
        for value, axis in zip(args.values, axes, strict=True):
            passed += _unmapped(value, axis)
    for outer in m.path.mode.mapped_axes:
        mapped_outside = [v for v in passed if canonical_key(v) not in outer.shared]
        passed = [v for v in passed if v not in mapped_outside] or passed
    found = shared_values(passed, captured=False)
    operand = tv.operand
    for operand in layers(tv.operand):
        if isinstance(operand, PartialValue):
            found.update(shared_values([*operand.args, *operand.kwargs.values()], captured=False))
    if isinstance(operand, FunctionValue):
        for key, captured in shared_values(list(captured_values(m, operand).values()), captured=True).items():
            found.setdefault(key, captured)
    return found


def _unmapped(value: Value, axis: Value | None, depth: int = 8) -> list[Value]:
    if isinstance(axis, Const) and axis.value is None:
        return [value]
    if depth == 0:
        return []
    if isinstance(axis, (TupleValue, ListValue)):
        inner_axes, inner = known_elements(axis), known_elements(value)
        if inner_axes is not None and inner is not None:
            return [u for v, a in zip(inner, inner_axes, strict=False) for u in _unmapped(v, a, depth - 1)]
    if isinstance(axis, DictValue) and isinstance(value, DictValue):
        axes = dict(axis.items())
        return [u for k, v in value.items() if k in axes for u in _unmapped(v, axes[k], depth - 1)]
    return []
