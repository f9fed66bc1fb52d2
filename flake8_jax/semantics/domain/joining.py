"""Joining, staging and fingerprinting of abstract values: the pure part of the interpreter.

Vocabulary
----------
join        the least of what holds on either of two paths.
tracify     what a value becomes when it crosses a staging boundary inwards: leaves turn into tracers.
release     what it becomes on the way out again.
fingerprint a hashable description of values, equal only if a function run on them cannot tell them apart;
            identities (aliases) are numbered in order of first visit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flake8_jax.semantics.domain.sizes import grade, lesser_size
from flake8_jax.semantics.domain.values import (
    CONCRETE,
    GRAD,
    MAX_UNION,
    MAYBE,
    MISSING,
    NO_BIRTH,
    Array,
    AtValue,
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    FunctionValue,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    Opaque,
    PartialValue,
    Room,
    Static,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flake8_jax.semantics.trackers.variation import Variation

_KIND_OF_CONST = {bool: "bool", int: "int", float: "float", complex: "complex", str: "str", bytes: "str"}
SHAPES = frozenset({"jax.ShapeDtypeStruct", "jax.core.ShapedArray"})
"""What stands for an array where only shapes are asked for."""
NUMBERS = (bool, int, float, complex)
MAX_NODES = 100
MAX_JOINED = 5000
VARYING = frozenset({Static, Array, HostArray, Unknown, Tree, ListValue})
"""What may differ from one iteration of a loop to the next (see ``variation``)."""
SEED = "seed"
"""The recipe of a key that was made of a seed, and of those made of it without other data."""
ROWS = "rows"
"""The recipe of an array that was made of rows of a known length, which is its operand."""
LANE = "[*]"
"""The step from a mapped value to what one lane sees of it."""


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


def equivalent(a: Value, b: Value, depth: int = 6) -> bool:
    """Whether a loop that brought ``b`` where ``a`` stood has reached its fixpoint there."""
    if a is b:
        return True
    if type(a) is not type(b) or depth == 0:
        return False
    return bool(fingerprint_one(a) == fingerprint_one(b))


_CONTAINERS = frozenset({TupleValue, ListValue, DictValue, Instance, ExternalInstance, UnionValue})


# --- staging boundaries ---------------------------------------------------------------------------


def tracify(value: Value, level: int, *, lane: bool = False, depth: int = 8, room: Room | None = None) -> Value:
    """What ``value`` is inside a function staged at ``level``. ``lane``: vmap's view, with the leading axis gone.

    None, strings, functions and instances of classes that are no pytrees stay as they are.
    """
    kind = type(value)
    if kind is Array:
        return _inner_array(value, level, lane)  # type: ignore[arg-type]
    if kind is Unknown or kind is Tree:
        tree = Tree(max(level, value.level) if isinstance(value, Tree) else level)
        tree.origin = lane_of(value) if lane else value  # type: ignore[arg-type]
        return tree
    if kind is Const:
        const = value.value  # type: ignore[attr-defined]
        if type(const) in NUMBERS:
            return Array(level, const_kind(const), 0)
        return value
    if kind is Static:
        dtype = value.kind if value.kind in ("int", "bool", "float", "complex") else ""  # type: ignore[attr-defined]
        if dtype:
            return Array(level, dtype, 0)
        return value if value.kind in ("str", "dtype", "set") else Tree(level)  # type: ignore[attr-defined]
    if kind is HostArray:
        ndim = value.ndim  # type: ignore[attr-defined]
        return Array(level, value.dtype, ndim - 1 if lane and ndim else ndim)  # type: ignore[attr-defined]
    room = room if room is not None else Room()
    if depth == 0 or not room.enter(value):
        return Unknown("deep")
    if kind is ExternalInstance and value.cls in SHAPES:  # type: ignore[attr-defined]
        return Array(level)

    def inner(v: Value) -> Value:
        return tracify(v, level, lane=lane, depth=depth - 1, room=room)

    if isinstance(value, Instance) and value.cls.traits >= {"pytree", "static_attributes"}:
        return filter_in(value, level, lane=lane, depth=depth, room=room)
    inside = map_leaves(value, inner)
    if isinstance(value, Instance) and inside is not value:
        if value.cls.leaf_names is not None:
            _keep_leaves(value, inside, value.cls.leaf_names)
        elif value.cls.has_unknown_base:
            _forget_undeclared(value, inside)
    return inside


def filter_in(value: Value, level: int, *, lane: bool = False, depth: int = 8, room: Room | None = None) -> Value:
    """equinox's and nnx' view: arrays become tracers, everything else stays static."""
    if isinstance(value, (Array, Tree)):
        return tracify(value, level, lane=lane)
    if isinstance(value, HostArray):
        return Array(level, value.dtype, value.ndim - 1 if lane and value.ndim else value.ndim)
    room = room if room is not None else Room()
    if depth == 0 or isinstance(value, (Unknown, Const, Static)) or not room.enter(value):
        return value
    return map_leaves(value, lambda v: filter_in(v, level, lane=lane, depth=depth - 1, room=room))


def _keep_leaves(value: Instance, inside: Value, leaves: frozenset[str]) -> None:
    """A flatten function says what the leaves are; what an unflatten function makes of the rest, nobody knows."""
    for name in value.slots:
        if name not in leaves and name not in value.cls.static_names:
            inside.slots[name] = Unknown(name)  # type: ignore[attr-defined]


def _forget_undeclared(value: Instance, inside: Value) -> None:
    """Fields that a base class declares which nobody knows: a host value among them may be static."""
    declared = {f.name for f in value.cls.fields}
    for name, outside in value.slots.items():
        if name not in declared and not isinstance(outside, (Array, Tree)):
            inside.slots[name] = outside if name in value.cls.static_names else Unknown(name)  # type: ignore[attr-defined]


def _inner_array(value: Array, level: int, lane: bool) -> Array:
    ndim = value.ndim
    if lane and ndim is not None:
        ndim = max(ndim - 1, 0)
    made = Array(max(level, value.level), value.dtype, ndim, row_length(value) if lane else value.length)
    if not lane:
        made.origin = value
    elif value.dtype == "key":
        made.origin = lane_of(value)
    return made


def lane_of(value: Array | Opaque) -> Value:
    """What every lane of a vmap over ``value`` receives of it: a second vmap over it hands out the same again."""
    whole = canonical_key(value)
    if isinstance(whole, Array):
        return key_taken(whole, LANE)
    assert isinstance(whole, Opaque)
    if whole.parts is None:
        whole.parts = {}
    return whole.parts.setdefault(LANE, Unknown("lane", whole, LANE))


def row_length(value: Array) -> int | None:
    """How long the rows of an array are, where it was made of a literal's."""
    recipe = value.recipe
    if recipe is None and isinstance(value.origin, Array):
        recipe = value.origin.recipe
    if recipe is None or recipe.name != ROWS:
        return None
    length = recipe.operands[0]
    return length.value if isinstance(length, Const) else None


def keep_seed(parent: Value, child: Array) -> None:
    """A key made of another one alone comes from the same seed."""
    whole = canonical_key(parent)
    if isinstance(whole, Array) and whole.recipe is not None and whole.recipe.name == SEED:
        child.recipe = whole.recipe


def key_taken(keys: Array, step: str) -> Value:
    """One key of an array of keys: the same again for the same step."""
    if keys.parts is None:
        keys.parts = {}
    found = keys.parts.get(step)
    if found is None:
        found = keys.parts[step] = Array(keys.level, "key", None if step == LANE else 0)
        keep_seed(keys, found)
    return found


def release(value: Value, level: int, depth: int = 8, *, dispatched: int = 0, room: Room | None = None) -> Value:
    """What a staged function's result is outside: arrays of ``level``; a value that came in unchanged is itself again."""
    if isinstance(value, Array):
        if value.origin is not None:
            return value.origin
        return Array(level, value.dtype, value.ndim, value.length, dispatched=dispatched, size=value.size)
    if isinstance(value, Tree):
        return value.origin if value.origin is not None else Tree(level)
    if isinstance(value, Const) and type(value.value) in NUMBERS:
        return Array(level, const_kind(value.value), 0, dispatched=dispatched)
    if isinstance(value, Static) and value.kind in ("int", "float", "bool"):
        return Array(level, value.kind, 0, dispatched=dispatched)
    if depth == 0 or isinstance(value, (FunctionValue, BoundMethod, PartialValue, TransformedValue)):
        return value
    if isinstance(value, Instance) and value.cls.traits >= {"pytree", "static_attributes"}:
        return over_arrays(value, lambda v: release(v, level, dispatched=dispatched))
    room = room if room is not None else Room()
    if not room.enter(value):
        return value
    return map_leaves(value, lambda v: release(v, level, depth - 1, dispatched=dispatched, room=room))


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


def element_of_axis(value: Value, depth: int = 8, room: Room | None = None) -> Value:
    """One slice along the leading axis of every leaf: what ``scan`` and ``map`` hand to their body."""
    if isinstance(value, Array):
        row = Array(value.level, value.dtype, value.ndim - 1 if value.ndim else None, row_length(value))
        if value.dtype == "key":
            keep_seed(value, row)
        return row
    if isinstance(value, HostArray):
        return Array(MAYBE, value.dtype, value.ndim - 1 if value.ndim else None)
    if isinstance(value, Tree):
        return Tree(value.level)
    room = room if room is not None else Room()
    if isinstance(value, Unknown) or depth == 0 or not room.enter(value):
        return Unknown("axis element")
    return map_leaves(value, lambda v: element_of_axis(v, depth - 1, room))


def stack_axis(value: Value, depth: int = 8, room: Room | None = None) -> Value:
    """The reverse: every leaf gains a leading axis."""
    if isinstance(value, Array):
        return Array(value.level, value.dtype, value.ndim + 1 if value.ndim is not None else None)
    if isinstance(value, Tree):
        return Tree(value.level)
    if isinstance(value, Const) and type(value.value) in NUMBERS:
        return Array(MAYBE, const_kind(value.value), 1)
    if isinstance(value, Static):
        return Array(MAYBE, "", None)
    room = room if room is not None else Room()
    if isinstance(value, Unknown) or depth == 0 or not room.enter(value):
        return Unknown("stacked")
    if isinstance(value, Instance) and value.cls.traits >= {"pytree", "static_attributes"}:
        return over_arrays(value, stack_axis)
    return map_leaves(value, lambda v: stack_axis(v, depth - 1, room))


_STAND_FOR_OTHERS = frozenset({Array, Tree, Unknown})


def canonical_key(value: Value) -> Value:
    """The outermost value that this one stands for: the identity under which a key's uses are counted."""
    while type(value) in _STAND_FOR_OTHERS and value.origin is not None:  # type: ignore[attr-defined]
        value = value.origin  # type: ignore[attr-defined]
    return value


# --- fingerprints ----------------------------------------------------------------------------------


_WITHOUT_IDENTITY = frozenset({Const, Static, External, HostArray, BuiltinValue, type(MISSING)})


class Fingerprint:
    """Numbers the objects that it visits; ``objects`` are those with an identity, in the order of first visit.
    cut: there were more than the budget allowed. trace: the innermost one, which some of the objects are older than."""

    __slots__ = ("budget", "cut", "loops", "numbers", "objects", "presumed", "trace", "uses", "variations")

    def __init__(
        self,
        uses: dict[Value, tuple[Any, ...]] | None = None,
        budget: int = MAX_NODES,
        loops: frozenset[int] = frozenset(),
        trace: int = 0,
    ) -> None:
        self.numbers: dict[int, int] = {}
        self.objects: list[Any] = []
        self.uses = uses if uses is not None else {}
        self.budget = budget
        self.loops = loops
        self.trace = trace
        self.presumed = False
        self.cut = False
        self.variations: dict[Value, Variation] = {}

    def of(self, value: Any) -> Any:
        kind = type(value)
        if self.variations and kind in VARYING and id(value) not in self.numbers:
            variation = self.variations.get(value)
            if variation is not None:
                return ("varies", variation.mark, self._described(kind, value))
        return self._described(kind, value)

    def _described(self, kind: type, value: Any) -> Any:
        if kind in _WITHOUT_IDENTITY:
            return self._plain(kind, value)
        numbers, objects = self.numbers, self.objects
        identity = id(value)
        number = numbers.get(identity)
        if number is not None:
            return ("ref", number)
        numbers[identity] = len(objects)
        objects.append(value)
        self.budget -= 1
        if self.budget < 0:
            self.cut = True
            return ("id", identity)
        if not self.uses:
            if kind is Array:
                awaited = (1 + (value.dispatched in self.loops)) if value.dispatched else 0
                awaited += 4 * grade(value.size) if value.size else 0
                return ("a", value.level, value.dtype, value.ndim, value.length, awaited)
            if kind is Unknown:
                if self.presumed and value.parts and value.origin is not None:
                    return ("?", *[(step, self.of(part)) for step, part in value.parts.items()])
                return ("?", value.host_test)
            if kind is Tree:
                return ("t", value.level)
        return self._structure(kind, value)

    def _plain(self, kind: type, value: Any) -> Any:
        """Of a value that has no identity of its own."""
        if kind is Const:
            const = value.value
            if const is None or const is True or const is False:
                return const
            if const == -1:
                const = "-1"  # Python hashes -1 and -2 alike
            return ("c", type(const).__name__, const if const == const else "nan")
        if kind is Static:
            return ("s", value.kind, value.guess, value.born < self.trace)
        if kind is External:
            return ("e", value.name)
        if kind is HostArray:
            return ("h", value.dtype, value.ndim, grade(value.size), min(len(value.readings), 2))
        if kind is BuiltinValue:
            return ("b", value.name, None if value.bound is None else self.of(value.bound))
        return "missing"

    def _structure(self, kind: type, value: Any) -> Any:
        if kind is Array:
            awaited = (1 + (value.dispatched in self.loops)) if value.dispatched else 0
            awaited += 4 * grade(value.size) if value.size else 0
            return ("a", value.level, value.dtype, value.ndim, value.length, awaited, *self._key_state(value))
        if kind is Tree:
            return ("t", value.level, *self._key_state(value))
        if kind is Unknown:
            return ("?", value.host_test, *self._key_state(value))
        if kind is TupleValue:
            return ("T", id(value.cls), *[self.of(v) for v in value.elts])
        if kind is ListValue or kind is DictValue or kind is ExternalInstance or kind is Instance:
            head: tuple[Any, ...]
            if kind is Instance:
                head = ("i", id(value.cls), value.exact, value.level, value.born < self.trace)
            elif kind is ExternalInstance:
                head = ("x", value.cls, value.level, value.born < self.trace)
            else:
                head = (kind.__name__, value.born < self.trace, getattr(value, "is_tuple", False))
            slots = value.slots.items()
            if (kind is Instance or kind is ExternalInstance) and len(slots) > 1:
                slots = sorted(slots)  # in which order attributes were set or first read makes no difference
            return (*head, *[(k, self.of(v) if isinstance(v, Value) else v) for k, v in slots])
        if kind is FunctionValue:
            return ("f", id(value.fn), id(value.closure))
        if kind is BoundMethod:
            return ("m", self.of(value.func), self.of(value.self_value))
        if kind is PartialValue:
            return ("p", self.of(value.func), *[self.of(v) for v in value.args], *self._named(value.kwargs))
        if kind is TransformedValue:
            return ("j", value.name, value.site.start, self.of(value.operand), *self._named(value.options))
        if kind is UnionValue:
            return ("u", *[self.of(v) for v in value.members])
        if kind is GeneratorValue:
            head = ("g", value.fresh, value.some, value.count, value.numbers)
            return (*head, value.born < self.trace, self.of(value.element))
        if kind is AtValue:
            return ("at", self.of(value.base), None if value.index is None else self.of(value.index))
        return ("id", id(value))

    def _named(self, values: dict[str, Value]) -> list[Any]:
        return [(k, self.of(v)) for k, v in values.items()]

    def _key_state(self, value: Any) -> tuple[Any, ...]:
        """How the key that this may be, and the parts already taken of it, have been used so far."""
        if not self.uses:
            return ()
        whole: Any = canonical_key(value)
        used = self.uses.get(whole)
        state: tuple[Any, ...] = tuple([u.summary for u in used]) if used else ()
        if value.parts or (isinstance(whole, (Array, Opaque)) and whole.parts):
            # Uses are counted outside of staging boundaries, where the parts are too.
            used_parts = [(step, self.of(part)) for step, part in self._parts(value).items() if self._is_used(part)]
            if used_parts:
                state += ("parts", *used_parts)
        return state

    def _parts(self, value: Array | Opaque) -> dict[str, Value]:
        """The parts taken of a value, here and outside of the staging boundaries around."""
        whole = canonical_key(value)
        outside = whole.parts if isinstance(whole, (Array, Opaque)) else None
        return {**(outside or {}), **(value.parts or {})}

    def _is_used(self, value: Any, depth: int = 3) -> bool:
        """The key that this may be was used, or a part of it."""
        if not isinstance(value, (Array, Tree, Unknown)):
            return False
        if canonical_key(value) in self.uses:
            return True
        return depth > 0 and any(self._is_used(p, depth - 1) for p in self._parts(value).values())


def fingerprint_one(value: Value) -> Any:
    """The fingerprint of a single value, its key state left out."""
    return Fingerprint().of(value)
