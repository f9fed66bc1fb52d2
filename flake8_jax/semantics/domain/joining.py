"""Joining of abstract values: what holds on either of two paths.

Vocabulary
----------
join        the least of what holds on either of two paths.
map         apply a function to every leaf of a container of known structure.

Joining makes new values and changes neither operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.sizes import lesser_size
from flake8_jax.semantics.domain.tracer_tests import is_answer, untraced_of_either
from flake8_jax.semantics.domain.values import (
    CONCRETE,
    GRAD,
    MAX_UNION,
    MAYBE,
    MISSING,
    UNKNOWN_RANK,
    UNKNOWN_TRACE,
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
    Level,
    ListValue,
    PropertyValue,
    Room,
    Static,
    StaticKind,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    copy_with_new_identity,
    held_by,
    is_registered,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


_KIND_OF_CONST: dict[type, StaticKind] = {
    bool: "bool",
    int: "int",
    float: "float",
    complex: "complex",
    str: "str",
    bytes: "str",
}
SHAPES = frozenset({"jax.ShapeDtypeStruct", "jax.core.ShapedArray"})
"""What stands for an array where only shapes are asked for."""
NUMBERS = (bool, int, float, complex)
MAX_JOINED = 5000


def const_kind(value: object) -> StaticKind:
    """The ``Static.kind`` (or dtype class) of a Python constant."""
    return _KIND_OF_CONST.get(type(value), "")


def same_const(a: object, b: object) -> bool:
    """Equal and of one type; NaN equals itself here."""
    return type(a) is type(b) and (a == b or a is b or repr(a) == repr(b))


def join_levels(a: Level, b: Level) -> Level:
    """A level that holds on both paths."""
    if a == b:
        return a
    if MAYBE in (a, b) or CONCRETE in (a, b):
        return MAYBE
    return GRAD


def joint_allocation(a: int, b: int) -> int:
    """The allocation trace of what is one object on one path and another on the other: no earlier than either."""
    return a if a == b else max(a, b) if min(a, b) >= 0 else UNKNOWN_TRACE


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
        return _join_unknown(a, b)
    if ta is UnionValue or tb is UnionValue:
        return union_of([*members_of(a), *members_of(b)], depth, room)
    if ta is tb:
        joiner = _JOINERS.get(ta)
        joined = joiner(a, b, depth, room) if joiner is not None else None
    else:
        joined = _join_unlike(a, b)
    return joined if joined is not None else UnionValue((a, b))


def are_unlike(values: Iterable[Any]) -> bool:
    """One of them is an array, and another a container of them."""
    kinds = {type(value) for value in values}
    return Array in kinds and not kinds.isdisjoint({DictValue, ListValue, TupleValue})


def are_unequal_flags(values: Sequence[Any]) -> bool:
    """Each of them is a bool or a string, and not all are the same."""
    known = [value.value for value in values if isinstance(value, Const) and type(value.value) in (bool, str)]
    return len(known) == len(values) and len(set(known)) > 1


def _join_unknown(a: Value, b: Value) -> Unknown:
    """The join of two values, one of which is unknown."""
    host = getattr(a, "host_test", False) or getattr(b, "host_test", False)
    doubts = {value.doubt for value in (a, b) if isinstance(value, Unknown)} - {None}
    doubt = doubts.pop() if len(doubts) == 1 else None
    return Unknown("join", host_test=host, doubt=doubt, untraced=untraced_of_either(a, b))


def _join_unlike(a: Value, b: Value) -> Value | None:
    """The join of a known constant and a host value, or of a pytree and an array; None where it is one or the other."""
    if isinstance(a, Array) and isinstance(b, Tree):
        return Tree(join_levels(a.level, b.level))
    if isinstance(a, Tree) and isinstance(b, Array):
        return Tree(join_levels(a.level, b.level))
    const, static = (a, b) if isinstance(b, Static) else (b, a)
    if isinstance(const, Const) and const.value is not None and isinstance(static, Static):
        kind = const_kind(const.value)
        return Static(kind if kind == static.kind else "", guess=static.guess)
    return None


def _join_consts(a: Const, b: Const, depth: int, room: Room | None) -> Value:
    if same_const(a.value, b.value):
        return a
    if a.value is None or b.value is None:
        return UnionValue((a, b))
    if type(a.value) is bool and type(b.value) is bool:
        asked = is_answer(a) or is_answer(b)
        return Unknown("join", host_test=True, untraced=untraced_of_either(a, b)) if asked else Static("bool")
    kind = const_kind(a.value)
    return Static(kind if kind == const_kind(b.value) else "")


def _join_statics(a: Static, b: Static, depth: int, room: Room | None) -> Value:
    rank = a.rank if a.rank == b.rank else UNKNOWN_RANK if None not in (a.rank, b.rank) else None
    joined = Static(a.kind if a.kind == b.kind else "", guess=a.guess or b.guess, rank=rank)
    joined.first = a.first if a.first == b.first else None
    return joined


def _join_arrays(a: Array, b: Array, depth: int, room: Room | None) -> Value:
    return Array(
        join_levels(a.level, b.level),
        a.dtype if a.dtype == b.dtype else "",
        a.ndim if a.ndim == b.ndim else None,
        a.length if a.length == b.length else None,
        dispatched=a.dispatched if a.dispatched == b.dispatched else 0,
        size=lesser_size(a.size, b.size) if a.size and b.size else 0,
        resized=a.resized and b.resized,
        declared=a.declared or b.declared,
    )


def _join_trees(a: Tree, b: Tree, depth: int, room: Room | None) -> Value:
    joined = Tree(join_levels(a.level, b.level))
    joined.dispatched = dispatched_in(a) if dispatched_in(a) == dispatched_in(b) else 0
    return joined


def _join_host_arrays(a: HostArray, b: HostArray, depth: int, room: Room | None) -> Value:
    ndim = a.ndim if a.ndim == b.ndim else None
    host = HostArray(a.dtype if a.dtype == b.dtype else "", ndim, lesser_size(a.size, b.size))
    host.length = a.length if a.length == b.length else None
    if a.readings and b.readings:
        host.readings = tuple(dict.fromkeys((*a.readings, *b.readings)))
    return host


def _join_tuples(a: TupleValue, b: TupleValue, depth: int, room: Room | None) -> Value | None:
    if len(a.elts) != len(b.elts) or a.cls is not b.cls:
        return None
    elements = tuple(join(x, y, depth - 1, room) for x, y in zip(a.elts, b.elts, strict=True))
    return TupleValue(elements, a.cls, a.names)


def host_member(values: Sequence[Any]) -> int | None:
    """Which of two values is the one of NumPy or SciPy, where the other is what JAX calls the same; None if neither is."""
    if len(values) != 2 or not all(isinstance(v, External) for v in values):
        return None
    first, second = (v.name for v in values)
    return 0 if second == f"jax.{first}" else 1 if first == f"jax.{second}" else None


def _join_externals(a: External, b: External, depth: int, room: Room | None) -> Value | None:
    """``jnp`` where JAX is there and ``np`` where it is not: of a run without JAX there is nothing to say."""
    if a.name in (b.name, f"jax.{b.name}"):
        return a
    return b if b.name == f"jax.{a.name}" else None


def _join_lists(a: ListValue, b: ListValue, depth: int, room: Room | None) -> Value | None:
    if a.is_tuple != b.is_tuple:
        return None
    element = join(any_element(a, depth - 1, room), any_element(b, depth - 1, room), depth - 1, room)
    joint = ListValue(None, element, is_tuple=a.is_tuple, made_in=joint_allocation(a.made_in, b.made_in))
    return _declared_as(b, _declared_as(a, joint))


_Container = TypeVar("_Container", ListValue, DictValue)


def _declared_as(value: _Container, made: _Container) -> _Container:
    """If only an annotation says what the value is, the same holds of what is made of it."""
    if value.slots.get("declared"):
        made.slots["declared"] = True
    return made


def _join_functions(a: FunctionValue, b: FunctionValue, depth: int, room: Room | None) -> Value | None:
    return a if _is_same_function(a, b) else None


def _join_methods(a: BoundMethod, b: BoundMethod, depth: int, room: Room | None) -> Value | None:
    return a if a.func is b.func and a.self_value is b.self_value else None


def _join_transformed(a: TransformedValue, b: TransformedValue, depth: int, room: Room | None) -> Value | None:
    """One place has applied a transform to one piece of code twice, as a loop does: the first result stands for both."""
    if a.site.scope is not b.site.scope or a.site.start != b.site.start or a.name != b.name or a.rules or b.rules:
        return None
    if a.options.keys() != b.options.keys() or not all(
        _is_equal(a.options[name], b.options[name]) for name in a.options
    ):
        return None
    if not isinstance(a.operand, (FunctionValue, BoundMethod, TransformedValue)) or type(a.operand) is not type(
        b.operand
    ):
        return None
    if join(a.operand, b.operand, depth - 1, room) is not a.operand:
        return None
    return a if a.made <= b.made else b


def _is_equal(a: Value, b: Value) -> bool:
    return a is b or (
        isinstance(a, Const) and isinstance(b, Const) and (type(a.value), a.value) == (type(b.value), b.value)
    )


def _join_instances(a: Instance, b: Instance, depth: int, room: Room | None) -> Value | None:
    if a.cls is not b.cls:
        return None
    level = a.level if a.level == b.level else None
    made = Instance(a.cls, exact=a.exact and b.exact, level=level, made_in=joint_allocation(a.made_in, b.made_in))
    made.complete = a.complete and b.complete
    made.slots.update(_join_slots(a.slots, b.slots, depth, room))
    return made


def _join_external_instances(a: ExternalInstance, b: ExternalInstance, depth: int, room: Room | None) -> Value | None:
    if a.cls != b.cls:
        return None
    slots = _join_slots(a.slots, b.slots, depth, room)
    static = a.static_names | b.static_names
    made_in = joint_allocation(a.made_in, b.made_in)
    made = ExternalInstance(a.cls, slots, join_levels(a.level, b.level), made_in, static)
    made.exact = a.exact and b.exact
    return made


def _join_slots(a: dict[Any, Any], b: dict[Any, Any], depth: int, room: Room | None) -> dict[Any, Any]:
    return {name: join(a.get(name, MISSING), b.get(name, MISSING), depth - 1, room) for name in {**a, **b}}


def _join_dicts(a: DictValue, b: DictValue, depth: int, room: Room | None) -> DictValue:
    items_a, items_b = dict(a.items()), dict(b.items())
    items = _join_slots(items_a, items_b, depth, room)
    rest_a, rest_b = a.slots.get("*", MISSING), b.slots.get("*", MISSING)
    rest = None if rest_a is MISSING and rest_b is MISSING else join(rest_a, rest_b, depth - 1, room)
    is_open = a.slots["open"] or b.slots["open"] or items_a.keys() != items_b.keys()
    return DictValue(items, rest, is_open=is_open, made_in=joint_allocation(a.made_in, b.made_in))


_JOINERS: dict[type, Callable[[Any, Any, int, Room | None], Value | None]] = {
    Const: _join_consts,
    Static: _join_statics,
    Array: _join_arrays,
    Tree: _join_trees,
    HostArray: _join_host_arrays,
    TupleValue: _join_tuples,
    External: _join_externals,
    ListValue: _join_lists,
    DictValue: _join_dicts,
    FunctionValue: _join_functions,
    BoundMethod: _join_methods,
    TransformedValue: _join_transformed,
    Instance: _join_instances,
    ExternalInstance: _join_external_instances,
}
"""The join of two values of one type; None where no one value of that type is both."""


def members_of(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value: its union members, or itself."""
    return value.members if isinstance(value, UnionValue) else (value,)


def union_of(values: Iterable[Value], depth: int = 6, room: Room | None = None) -> Value:
    """The union of some values, with like members joined; Unknown when there are too many."""
    kept: list[Value] = []
    for value in values:
        for member in members_of(value):
            if isinstance(member, Unknown):
                return Unknown("union", host_test=member.host_test, doubt=member.doubt)
            for i, other in enumerate(kept):
                if member is other or _is_same_function(member, other):
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


def _is_same_function(a: Value, b: Value) -> bool:
    """One ``def`` or ``lambda`` that ran twice in one frame, as in a loop."""
    return isinstance(a, FunctionValue) and isinstance(b, FunctionValue) and a.fn is b.fn and a.closure is b.closure


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


# --- containers, layer by layer -------------------------------------------------------------------


def over_arrays(value: Value, f: Callable[[Value], Value], depth: int = 8, room: Room | None = None) -> Value:
    """The value with ``f`` applied to the arrays in it; what equinox and nnx filter out stays as it is."""
    if isinstance(value, (Array, Tree, HostArray)):
        return f(value)
    room = room if room is not None else Room()
    if depth == 0 or isinstance(value, (Unknown, Const, Static)) or not room.enter(value):
        return value
    return map_leaves(value, lambda v: over_arrays(v, f, depth - 1, room))


def map_leaves(value: Value, f: Callable[[Value], Value], made_in: int = UNKNOWN_TRACE) -> Value:
    """Rebuild one layer of a pytree with ``f`` applied to its children; anything that is no container is kept.

    made_in: the allocation trace of what is rebuilt.
    """
    rebuild = _REBUILDERS.get(type(value))
    return rebuild(value, f, made_in) if rebuild is not None else value


def _rebuild_tuple(value: TupleValue, f: Callable[[Value], Value], made_in: int) -> Value:
    if is_registered(value):
        return TupleValue(tuple(_rebuilt_fields(value, f)), value.cls, value.names)
    return TupleValue(tuple(f(v) for v in value.elts), value.cls, value.names)


def _rebuilt_fields(value: TupleValue, f: Callable[[Value], Value]) -> Iterator[Value]:
    """The fields of a NamedTuple whose registration says which of them are children."""
    cls = value.cls
    assert isinstance(cls, ClassValue)
    for name, element in zip(value.names, value.elts):
        if name in cls.static_names:
            yield element
        elif cls.leaf_names is None or name in cls.leaf_names:
            yield f(element)
        else:
            yield Unknown(name)


def _rebuild_list(value: ListValue, f: Callable[[Value], Value], made_in: int) -> Value:
    known = value.known()
    if known is not None:
        return ListValue(tuple(f(v) for v in known), is_tuple=value.is_tuple, made_in=made_in)
    return _declared_as(value, ListValue(None, f(any_element(value)), is_tuple=value.is_tuple, made_in=made_in))


def _rebuild_dict(value: DictValue, f: Callable[[Value], Value], made_in: int) -> Value:
    rest = value.slots.get("*")
    items = {k: f(v) for k, v in value.items()}
    made = DictValue(items, f(rest) if rest is not None else None, is_open=value.slots["open"], made_in=made_in)
    return _declared_as(value, made)


def _rebuild_instance(value: Instance, f: Callable[[Value], Value], made_in: int) -> Value:
    if "pytree" not in value.cls.traits:
        return value
    made = Instance(value.cls, exact=value.exact, level=value.level, made_in=made_in)
    made.complete = value.complete
    leaves = value.cls.leaf_names
    for name, v in value.slots.items():
        if _is_remembered(value.cls, name):
            continue
        if name in value.cls.static_names:
            made.slots[name] = v
        elif leaves is None or name in leaves:
            made.slots[name] = f(v)
        else:
            made.slots[name] = Unknown(name)  # it is not known what an unflatten function makes of it
    return made


def _is_remembered(cls: ClassValue, name: str) -> bool:
    """A cached property keeps its value on the object, and is no field: a copy of the object computes it again."""
    found = find_in_class(cls, name)
    return found is not None and isinstance(found[1], PropertyValue) and found[1].cached


def _rebuild_external_instance(value: ExternalInstance, f: Callable[[Value], Value], made_in: int) -> Value:
    static = value.static_names
    slots = {k: v if k in static else f(v) for k, v in value.slots.items()}
    made = ExternalInstance(value.cls, slots, value.level, made_in, static)
    made.exact = value.exact
    return made


def _rebuild_union(value: UnionValue, f: Callable[[Value], Value], made_in: int) -> Value:
    mapped = tuple(f(v) for v in value.members)
    is_key = any(isinstance(v, Array) and v.dtype == "key" for v in mapped)
    if is_key and all(isinstance(v, (Array, Tree)) for v in mapped):
        return UnionValue(mapped, value.conditions)  # one of two keys: each keeps its own uses
    return union_of(mapped)


_REBUILDERS: dict[type, Callable[[Any, Callable[[Value], Value], int], Value]] = {
    TupleValue: _rebuild_tuple,
    ListValue: _rebuild_list,
    DictValue: _rebuild_dict,
    Instance: _rebuild_instance,
    ExternalInstance: _rebuild_external_instance,
    UnionValue: _rebuild_union,
}


def copied(value: Value, made_in: int = UNKNOWN_TRACE, depth: int = 4, room: Room | None = None) -> Value:
    """A copy of a container or an object and, ``depth`` levels down, of those in it."""
    room = room if room is not None else Room()
    if not isinstance(value, (ListValue, DictValue, Instance, ExternalInstance)) or not room.enter(value):
        return value
    made: Value
    if isinstance(value, Instance):
        made = Instance(value.cls, exact=value.exact, level=value.level, made_in=made_in)
        made.complete = value.complete
        made.slots.update(value.slots)
    else:
        made = map_leaves(value, lambda v: v, made_in)
    if depth:
        for slot, part in list(made.slots.items()):  # type: ignore[attr-defined]
            if isinstance(part, Value):
                made.slots[slot] = copied(part, made_in, depth - 1, room)  # type: ignore[attr-defined]
    return made


MAX_WRAPPING = 3
"""So deep in dictionaries and objects keys are looked for that differ from element to element."""


def another(value: Value, depth: int = MAX_WRAPPING) -> Value:
    """Another element of a collection that one value stands for: a dictionary or an object around a key holds another
    key."""
    if isinstance(value, TupleValue) and depth:
        return TupleValue(tuple([another(v, depth - 1) for v in value.elts]), value.cls, value.names)
    if isinstance(value, (DictValue, Instance)) and depth and _wraps_key(value):
        if isinstance(value, DictValue):
            return map_leaves(value, lambda part: another(part, depth - 1), value.made_in)
        made = Instance(value.cls, exact=value.exact, level=value.level, made_in=value.made_in)
        made.complete = value.complete
        for name, v in value.slots.items():
            made.slots[name] = another(v, depth - 1) if isinstance(v, Value) else v
        return made
    return copy_with_new_identity(value)


def _wraps_key(value: Value, depth: int = 2) -> bool:
    if isinstance(value, Array):
        return value.dtype == "key"
    return (
        depth > 0
        and isinstance(value, (DictValue, Instance, TupleValue))
        and any(_wraps_key(part, depth - 1) for part in held_by(value))
    )
