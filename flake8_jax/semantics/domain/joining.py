"""Joining of abstract values: what holds on either of two paths.

Vocabulary
----------
join        the least of what holds on either of two paths.
map         apply a function to every leaf of a container of known structure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flake8_jax.semantics.domain.sizes import lesser_size
from flake8_jax.semantics.domain.values import (
    CONCRETE,
    GRAD,
    MAX_UNION,
    MAYBE,
    MISSING,
    NO_BIRTH,
    Array,
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    FunctionValue,
    HostArray,
    Instance,
    ListValue,
    Room,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


_KIND_OF_CONST = {bool: "bool", int: "int", float: "float", complex: "complex", str: "str", bytes: "str"}
SHAPES = frozenset({"jax.ShapeDtypeStruct", "jax.core.ShapedArray"})
"""What stands for an array where only shapes are asked for."""
NUMBERS = (bool, int, float, complex)
MAX_JOINED = 5000


def const_kind(value: object) -> str:
    """The ``Static.kind`` (or dtype class) of a Python constant."""
    return _KIND_OF_CONST.get(type(value), "")


def same_const(a: object, b: object) -> bool:
    """Equal and of one type; NaN equals itself here."""
    return type(a) is type(b) and (a == b or a is b or repr(a) == repr(b))


def join_levels(a: int, b: int) -> int:
    """A level that holds on both paths."""
    if a == b:
        return a
    if MAYBE in (a, b) or CONCRETE in (a, b):
        return MAYBE
    return GRAD


def joint_birth(a: int, b: int) -> int:
    """The birth of what is one object on one path and another on the other: no earlier than either."""
    return a if a == b else max(a, b) if min(a, b) >= 0 else NO_BIRTH


def join(a: Value, b: Value, depth: int = 6, room: Room | None = None) -> Value:
    """What is known of a value that is ``a`` on one path and ``b`` on the other."""
    if a is b:
        return a
    if a is MISSING:
        return b
    if b is MISSING:
        return a
    if depth == 0:
        return Unknown("join")
    ta, tb = type(a), type(b)
    if ta in _CONTAINERS and tb in _CONTAINERS:
        room = room if room is not None else Room(MAX_JOINED)
        if not room.enter(a) or not room.enter(b):
            return Unknown("join")
    if ta is Unknown or tb is Unknown:
        return Unknown("join", host_test=getattr(a, "host_test", False) or getattr(b, "host_test", False))
    if ta is UnionValue or tb is UnionValue:
        return union_of([*members_of(a), *members_of(b)], depth, room)
    if ta is tb:
        joined = _join_same_type(a, b, depth, room)
        if joined is not None:
            return joined
    elif {ta, tb} == {Const, Static} or {ta, tb} == {Static, HostArray}:
        const, static = (a, b) if tb is Static else (b, a)
        if isinstance(const, Const) and const.value is not None and isinstance(static, Static):
            kind = const_kind(const.value)
            return Static(kind if kind == static.kind else "", guess=static.guess)
    elif {ta, tb} == {Array, Tree}:
        level = join_levels(a.level, b.level)  # type: ignore[attr-defined]
        return Tree(level)
    return UnionValue((a, b))


def _join_same_type(a: Any, b: Any, depth: int, room: Room | None) -> Value | None:
    kind = type(a)
    if kind is Const:
        if same_const(a.value, b.value):
            return a  # type: ignore[no-any-return]
        if a.value is None or b.value is None:
            return UnionValue((a, b))
        if type(a.value) is bool and type(b.value) is bool:
            return Static("bool")
        ka, kb = const_kind(a.value), const_kind(b.value)
        return Static(ka if ka == kb else "")
    if kind is Static:
        return Static(a.kind if a.kind == b.kind else "", guess=a.guess or b.guess)
    if kind is Array:
        return Array(
            join_levels(a.level, b.level),
            a.dtype if a.dtype == b.dtype else "",
            a.ndim if a.ndim == b.ndim else None,
            a.length if a.length == b.length else None,
            dispatched=a.dispatched if a.dispatched == b.dispatched else 0,
            size=lesser_size(a.size, b.size) if a.size and b.size else 0,
        )
    if kind is Tree:
        return Tree(join_levels(a.level, b.level))
    if kind is HostArray:
        ndim = a.ndim if a.ndim == b.ndim else None
        host = HostArray(a.dtype if a.dtype == b.dtype else "", ndim, lesser_size(a.size, b.size))
        if a.readings and b.readings:
            host.readings = tuple(dict.fromkeys((*a.readings, *b.readings)))
        return host
    if kind is TupleValue:
        if len(a.elts) == len(b.elts) and a.cls is b.cls:
            elements = tuple(join(x, y, depth - 1, room) for x, y in zip(a.elts, b.elts, strict=True))
            return TupleValue(elements, a.cls, a.names)
        return None
    if kind is External:
        # ``jnp`` where JAX is there and ``np`` where it is not: of a run without JAX there is nothing to say.
        if a.name in (b.name, f"jax.{b.name}"):
            return a  # type: ignore[no-any-return]
        return b if b.name == f"jax.{a.name}" else None
    if kind is ListValue and a.is_tuple == b.is_tuple:
        element = join(any_element(a, depth - 1, room), any_element(b, depth - 1, room), depth - 1, room)
        return ListValue(None, element, is_tuple=a.is_tuple, born=joint_birth(a.born, b.born))
    if kind is DictValue:
        return _join_dicts(a, b, depth, room)
    if kind is FunctionValue and a.fn is b.fn and a.closure is b.closure:
        return a  # type: ignore[no-any-return]
    if kind is Instance and a.cls is b.cls:
        made = Instance(
            a.cls,
            exact=a.exact and b.exact,
            level=a.level if a.level == b.level else None,
            born=joint_birth(a.born, b.born),
        )
        made.complete = a.complete and b.complete
        for name in {**a.slots, **b.slots}:
            made.slots[name] = join(a.slots.get(name, MISSING), b.slots.get(name, MISSING), depth - 1, room)
        return made
    if kind is ExternalInstance and a.cls == b.cls:
        merged = {
            name: join(a.slots.get(name, MISSING), b.slots.get(name, MISSING), depth - 1, room)
            for name in {**a.slots, **b.slots}
        }
        return ExternalInstance(a.cls, merged, join_levels(a.level, b.level), joint_birth(a.born, b.born))
    if kind is BoundMethod and a.func is b.func and a.self_value is b.self_value:
        return a  # type: ignore[no-any-return]
    return None


def _join_dicts(a: DictValue, b: DictValue, depth: int, room: Room | None) -> DictValue:
    items_a, items_b = dict(a.items()), dict(b.items())
    items = {k: join(items_a.get(k, MISSING), items_b.get(k, MISSING), depth - 1, room) for k in {**items_a, **items_b}}
    rest_a, rest_b = a.slots.get("*", MISSING), b.slots.get("*", MISSING)
    rest = None if rest_a is MISSING and rest_b is MISSING else join(rest_a, rest_b, depth - 1, room)
    is_open = a.slots["open"] or b.slots["open"] or items_a.keys() != items_b.keys()
    return DictValue(items, rest, is_open=is_open, born=joint_birth(a.born, b.born))


def members_of(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value: its union members, or itself."""
    return value.members if isinstance(value, UnionValue) else (value,)


def union_of(values: Iterable[Value], depth: int = 6, room: Room | None = None) -> Value:
    """The union of some values, with like members joined; Unknown when there are too many."""
    kept: list[Value] = []
    for value in values:
        for member in members_of(value):
            if isinstance(member, Unknown):
                return Unknown("union", host_test=member.host_test)
            for i, other in enumerate(kept):
                if member is other:
                    break
                if type(member) is type(other) and not isinstance(member, (FunctionValue, BoundMethod, ClassValue)):
                    joined = join(other, member, depth - 1, room)
                    if not isinstance(joined, UnionValue):
                        kept[i] = joined
                        break
            else:
                kept.append(member)
    if not kept:
        return Unknown("empty")
    if len(kept) == 1:
        return kept[0]
    return UnionValue(tuple(kept)) if len(kept) <= MAX_UNION else Unknown("union")


def join_all(values: Iterable[Value], depth: int = 6, room: Room | None = None) -> Value:
    """The join of any number of values; Unknown for none."""
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value, depth, room)
    return result if result is not None else Unknown("nothing")


def any_element(value: ListValue, depth: int = 6, room: Room | None = None) -> Value:
    """What an element taken at an unknown index may be."""
    known = value.known()
    if known is None:
        rest = value.slots.get("*")
        return rest if rest is not None else Unknown("element")
    return join_all(known, depth, room) if known else Unknown("element of an empty list")


_CONTAINERS = frozenset({TupleValue, ListValue, DictValue, Instance, ExternalInstance, UnionValue})


# --- staging boundaries ---------------------------------------------------------------------------


def over_arrays(value: Value, f: Callable[[Value], Value], depth: int = 8, room: Room | None = None) -> Value:
    """The value with ``f`` applied to the arrays in it; what equinox and nnx filter out stays as it is."""
    if isinstance(value, (Array, Tree, HostArray)):
        return f(value)
    room = room if room is not None else Room()
    if depth == 0 or isinstance(value, (Unknown, Const, Static)) or not room.enter(value):
        return value
    return map_leaves(value, lambda v: over_arrays(v, f, depth - 1, room))


def map_leaves(value: Value, f: Callable[[Value], Value], born: int = NO_BIRTH) -> Value:
    """Rebuild one layer of a pytree with ``f`` applied to its children; anything that is no container is kept.

    born: the birth of what is rebuilt.
    """
    if isinstance(value, TupleValue):
        return TupleValue(tuple(f(v) for v in value.elts), value.cls, value.names)
    if isinstance(value, ListValue):
        known = value.known()
        if known is not None:
            return ListValue(tuple(f(v) for v in known), is_tuple=value.is_tuple, born=born)
        return ListValue(None, f(any_element(value)), is_tuple=value.is_tuple, born=born)
    if isinstance(value, DictValue):
        rest = value.slots.get("*")
        return DictValue(
            {k: f(v) for k, v in value.items()},
            f(rest) if rest is not None else None,
            is_open=value.slots["open"],
            born=born,
        )
    if isinstance(value, Instance):
        if "pytree" not in value.cls.traits:
            return value
        made = Instance(value.cls, exact=value.exact, level=value.level, born=born)
        made.complete = value.complete
        for name, v in value.slots.items():
            made.slots[name] = v if name in value.cls.static_names else f(v)
        return made
    if isinstance(value, ExternalInstance):
        return ExternalInstance(value.cls, {k: f(v) for k, v in value.slots.items()}, value.level, born)
    if isinstance(value, UnionValue):
        mapped = tuple(f(v) for v in value.members)
        is_key = any(isinstance(v, Array) and v.dtype == "key" for v in mapped)
        if is_key and all(isinstance(v, (Array, Tree)) for v in mapped):
            return UnionValue(mapped, value.conditions)  # one of two keys: each keeps its own uses
        return union_of(mapped)
    return value


def copied(value: Value, born: int = NO_BIRTH, depth: int = 4, room: Room | None = None) -> Value:
    """A copy of a container or an object and, ``depth`` levels down, of those in it."""
    room = room if room is not None else Room()
    if not isinstance(value, (ListValue, DictValue, Instance, ExternalInstance)) or not room.enter(value):
        return value
    made: Value
    if isinstance(value, Instance):
        made = Instance(value.cls, exact=value.exact, level=value.level, born=born)
        made.complete = value.complete
        made.slots.update(value.slots)
    else:
        made = map_leaves(value, lambda v: v, born)
    if depth:
        for slot, part in list(made.slots.items()):  # type: ignore[attr-defined]
            if isinstance(part, Value):
                made.slots[slot] = copied(part, born, depth - 1, room)  # type: ignore[attr-defined]
    return made


# --- fingerprints ----------------------------------------------------------------------------------
