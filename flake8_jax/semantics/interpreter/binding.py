"""From the arguments of a call to the parameters of a function of the project.

Vocabulary
----------
bound       by parameter name; what is missing is its default, or unknown.
said        what a parameter's annotation says of its value.
refined     an opaque argument together with what was said.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.values import (
    UNKNOWN_TRACE,
    Array,
    Const,
    DictValue,
    ExternalInstance,
    FunctionValue,
    Instance,
    ListValue,
    Opaque,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    copy_with_new_identity,
    held_by,
    part_of,
)
from flake8_jax.semantics.interpreter.operations import value_of_annotation
from flake8_jax.semantics.machine.core import Machine


def bind(m: Machine, func: FunctionValue, args: Arguments) -> dict[str, Value]:
    """Arguments by parameter name. What is missing is its default, or unknown."""
    bound: dict[str, Value] = {}
    positional, taken, kwargs = args.values, 0, dict(args.kwargs)
    for p in func.fn.params:
        kind = p.kind
        if kind == "vararg":
            bound[p.name] = _extra_values(m, p, args, positional[taken:])
            taken = len(positional)
        elif kind == "kwarg":
            bound[p.name] = _extra_keywords(m, args, kwargs)
        else:
            if kind != "kwonly" and taken < len(positional):
                value = positional[taken]
                taken += 1
            elif kind != "posonly" and p.name in kwargs:
                value = kwargs.pop(p.name)
            else:
                value = _missing(m, func, p, args)
            bound[p.name] = _as_annotated(m, func, p, value)
    return bound


def _extra_values(m: Machine, p: ir.Parameter, args: Arguments, extras: list[Value]) -> Value:
    """What ``*args`` holds."""
    if args.star is None and not args.unknown_rest:
        return TupleValue(tuple(extras))
    element = joining.join_all([*extras, args.star if args.star is not None else Unknown(p.name)])
    return ListValue(None, element, is_tuple=True, made_in=m.path.mode.trace)


def _extra_keywords(m: Machine, args: Arguments, kwargs: dict[str, Value]) -> Value:
    """What ``**kwargs`` holds."""
    is_open = args.double_star is not None or args.unknown_rest
    rest = args.double_star if args.double_star is not None else Unknown("item") if args.unknown_rest else None
    return DictValue(kwargs, rest, is_open=is_open, made_in=m.path.mode.trace)


def _missing(m: Machine, func: FunctionValue, p: ir.Parameter, args: Arguments) -> Value:
    """What a parameter holds that no argument is written for: part of a ``*x`` or ``**x`` in the call, or its default.

    A library that stages a method by contract leaves out what is None by default, as far as is known: a caller that passes
    it may do so outside of a trace.
    """
    starred = args.star is not None and p.kind != "kwonly"
    if args.star is not None and starred and p.default is None:
        return copy_with_new_identity(args.star)
    if starred or args.double_star is not None or args.unknown_rest:
        by_contract = bool(m.path.stack) and m.path.stack[-1].kind == "contract"
        default = func.defaults.get(p.name)
        left_out = by_contract and isinstance(default, Const) and default.value is None
        return Unknown(p.name, host_test=left_out)
    return func.defaults.get(p.name) or Unknown(p.name)


def _as_annotated(m: Machine, func: FunctionValue, p: ir.Parameter, value: Value) -> Value:
    """An argument together with what the annotation of its parameter says, if it is opaque."""
    annotation = p.annotation
    if annotation is None and p is func.fn.params[0]:
        annotation = m.program.dispatched.get(id(func.fn))
    if annotation is None or not isinstance(value, (Unknown, Tree)):
        return value
    said = value_of_annotation(m, func.scope, func.closure, annotation)
    if said is None:
        return value
    trusted = m.path.mode.presumed and is_only_static(said)
    said = individual(m, said, value)
    return said if trusted else refined(value, said)


def is_only_static(value: Value) -> bool:
    """An annotation that leaves no room for arrays: ``int``, ``tuple[int, ...]`` …"""
    if isinstance(value, (TupleValue, UnionValue)):
        parts = value.elts if isinstance(value, TupleValue) else value.members
        return bool(parts) and all(is_only_static(v) for v in parts)
    if isinstance(value, ListValue):
        return is_only_static(joining.any_element(value))
    return isinstance(value, (Static, Const))


def individual(m: Machine, said: Value, value: Opaque, depth: int = 2) -> Value:
    """A generic instance stands for any of its class; as an argument it has leaves of its own, those of ``value``."""
    if isinstance(said, UnionValue):
        return UnionValue(tuple(individual(m, v, value, depth) for v in said.members))
    if not isinstance(said, Instance) or said is not said.cls.generic:
        return said
    # The settings of other objects are looked up here and there: they stay one and the same for all.
    decorated = bool(said.cls.node.decorators) and not said.cls.traits & {"dataclass", "pytree", "static_attributes"}
    leaves = (Array, Tree, Unknown, Instance) if decorated or "pytree" in said.cls.traits else (Array,)
    own = {name: part for name, part in said.slots.items() if isinstance(part, Value) and _has_leaf(part, leaves)}
    if decorated:  # it is not known what the decorator makes of the fields
        own |= {f.name: Unknown(f.name) for f in said.cls.fields if f.name not in said.slots}
    if not own:
        return said
    made = Instance(said.cls, exact=said.exact, level=said.level, made_in=UNKNOWN_TRACE)
    made.complete = said.complete
    made.slots.update(said.slots)
    for name, part in own.items():
        outside = part_of(value, "." + name, lambda: Unknown("part"))
        made.slots[name] = _own_part(m, part, outside, leaves, depth)
    return made


def _has_leaf(part: Value, leaves: tuple[type, ...]) -> bool:
    """The part is one of these, or a union or tuple of such (``Optional[jax.Array]``)."""
    if isinstance(part, (UnionValue, TupleValue)):
        return any(_has_leaf(v, leaves) for v in held_by(part))
    return isinstance(part, leaves)


def _own_part(m: Machine, part: Value, outside: Value, leaves: tuple[type, ...], depth: int) -> Value:
    """A part of a generic instance, as that of an object whose part is ``outside``."""
    if isinstance(part, UnionValue):
        return UnionValue(tuple(_own_part(m, v, outside, leaves, depth) for v in part.members), part.conditions)
    if not isinstance(part, leaves) and not isinstance(part, TupleValue):
        return part
    if isinstance(part, Instance):
        return individual(m, part, outside, depth - 1) if depth and isinstance(outside, Opaque) else part
    if isinstance(part, TupleValue):
        if not isinstance(outside, Opaque):
            return part
        inner = [part_of(outside, f"[{i}]", lambda: Unknown("part")) for i in range(len(part.elts))]
        elements = [_own_part(m, v, o, leaves, depth) for v, o in zip(part.elts, inner, strict=True)]
        return TupleValue(tuple(elements), part.cls, part.names)
    own = copy_with_new_identity(part)
    own.origin = outside  # type: ignore[attr-defined]
    return own


def refined(value: Unknown | Tree, said: Value) -> Value:
    """An opaque argument together with what its parameter's annotation says."""
    if isinstance(value, Unknown):
        if isinstance(said, (Array, Tree, Unknown)):
            made = copy_with_new_identity(said)
            made.origin = value  # type: ignore[attr-defined]
            return made
        return said
    if isinstance(said, UnionValue):
        present = [v for v in said.members if not (isinstance(v, Const) and v.value is None)]
        if len(present) != 1:
            return value
        said = present[0]
    if isinstance(said, Array):
        array = Array(value.level, said.dtype, said.ndim)
        array.origin = value
        return array
    if isinstance(said, Static) and said.kind in ("int", "float", "bool"):
        array = Array(value.level, said.kind, 0)
        array.origin = value
        return array
    if isinstance(said, (TupleValue, ListValue, DictValue, ExternalInstance)):
        return boundary.to_tracers(said, value.level)
    if isinstance(said, Instance) and "pytree" in said.cls.traits:
        return boundary.to_tracers(said, value.level)
    return value
