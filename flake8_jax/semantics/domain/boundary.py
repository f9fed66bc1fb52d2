"""What becomes of values that cross a staging boundary.

Vocabulary
----------
to_tracers     inwards: leaves turn into tracers.
from_tracers outwards: tracers of the inner trace turn into arrays of the outer one.
element     what one element of a mapped axis sees; *stack* puts the elements together again.
seed, rows  recipes: of a key that was made of a seed, of an array that was made of rows of known length.

A crossing makes new values. Of those outside it changes nothing but the parts that stand for an element, a key or a seed:
they are remembered there, so that a second crossing gives the same again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flake8_jax.semantics.domain.joining import NUMBERS, SHAPES, const_kind, map_leaves, over_arrays
from flake8_jax.semantics.domain.values import (
    MAYBE,
    SHAPED,
    Array,
    BoundMethod,
    Const,
    ExternalInstance,
    FunctionValue,
    HostArray,
    Instance,
    Level,
    Opaque,
    PartialValue,
    Recipe,
    Room,
    Static,
    TransformedValue,
    Tree,
    Unknown,
    Value,
    canonical_key,
    known_elements,
    part_of,
    shaped_of,
)

SEED = "seed"
"""The recipe of a key that was made of a seed, with a literal seed as operand, and of those made of it without other data,
which has no operand."""

ROWS = "rows"
"""The recipe of an array that was made of rows of a known length, which is its operand."""

ELEMENT = "[*]"
"""The step from a mapped value to what one element sees of it."""


def _described_array(value: ExternalInstance, level: Level) -> Value:
    """``SimpleNamespace(shape=…, dtype=…)`` stands for an array where only shapes are asked for; it is not a pytree."""
    if not value.slots.keys() >= {"shape", "dtype"}:
        return Unknown("not a pytree")
    sizes = known_elements(value.slots["shape"])
    return Array(level, ndim=None if sizes is None else len(sizes))


def to_tracers(value: Value, level: Level, *, mapped: bool = False, depth: int = 8, room: Room | None = None) -> Value:
    """What ``value`` is inside a function staged at ``level``. ``mapped``: vmap's view, with the leading axis gone.

    None, strings, functions and instances of classes that are not pytrees stay as they are.
    """
    leaf = _TRACED_LEAVES.get(type(value))
    if leaf is not None:
        return leaf(value, level, mapped)
    room = room if room is not None else Room()
    if depth == 0 or not room.enter(value):
        return Unknown("deep")
    if isinstance(value, ExternalInstance) and value.cls in SHAPES:
        return Array(level)
    if isinstance(value, ExternalInstance) and value.cls == "types.SimpleNamespace":
        return _described_array(value, level)

    def inner(v: Value) -> Value:
        return to_tracers(v, level, mapped=mapped, depth=depth - 1, room=room)

    if isinstance(value, Instance) and value.cls.traits >= {"pytree", "static_attributes"}:
        return filter_in(value, level, mapped=mapped, depth=depth, room=room)
    inside = map_leaves(value, inner)
    if isinstance(value, Instance) and inside is not value and value.cls.leaf_names is None:
        if value.cls.has_unknown_base:
            _forget_undeclared(value, inside)
    return inside


def _traced_tree(value: Opaque, level: Level, mapped: bool) -> Value:
    tree = Tree(max(level, value.level) if isinstance(value, Tree) else level)
    tree.origin = mapped_element(value) if mapped else value
    return tree


def _traced_const(value: Const, level: Level, mapped: bool) -> Value:
    return Array(level, const_kind(value.value), 0) if type(value.value) in NUMBERS else value


def _traced_static(value: Static, level: Level, mapped: bool) -> Value:
    if value.kind in ("int", "bool", "float", "complex"):
        return Array(level, value.kind, 0)
    return value if value.kind in ("str", "dtype", "set") else Tree(level)


def _traced_host_array(value: HostArray, level: Level, mapped: bool) -> Value:
    return Array(level, value.dtype, value.ndim - 1 if mapped and value.ndim else value.ndim)


def filter_in(value: Value, level: Level, *, mapped: bool = False, depth: int = 8, room: Room | None = None) -> Value:
    """equinox's and nnx' view: arrays become tracers, everything else stays static."""
    if isinstance(value, (Array, Tree)):
        return to_tracers(value, level, mapped=mapped)
    if isinstance(value, HostArray):
        return _traced_host_array(value, level, mapped)
    room = room if room is not None else Room()
    if depth == 0 or isinstance(value, (Unknown, Const, Static)) or not room.enter(value):
        return value
    return map_leaves(value, lambda v: filter_in(v, level, mapped=mapped, depth=depth - 1, room=room))


def _forget_undeclared(value: Instance, inside: Value) -> None:
    """Fields that an unknown base class declares: a host value among them may be static."""
    declared = {f.name for f in value.cls.fields}
    for name, outside in value.slots.items():
        if name not in declared and not isinstance(outside, (Array, Tree)):
            inside.slots[name] = outside if name in value.cls.static_names else Unknown(name)  # type: ignore[attr-defined]


def _inner_array(value: Array, level: Level, mapped: bool) -> Array:
    ndim = value.ndim
    if mapped and ndim is not None:
        ndim = max(ndim - 1, 0)
    made = Array(max(level, value.level), value.dtype, ndim, row_length(value) if mapped else value.length)
    if not mapped:
        made.origin = value
    elif value.dtype == "key":
        made.origin = mapped_element(value)
    made.recipe = _kept(value, mapped=mapped)
    return made


def _kept(value: Array, *, mapped: bool) -> Recipe | None:
    """What tells on the other side of a boundary how the value, or the elements of it, were made."""
    recipe = value.recipe
    while recipe is not None and recipe.name == SHAPED and len(recipe.operands) == 1:
        inner = recipe.operands[0]
        recipe = inner.recipe if isinstance(inner, Array) else None
    if recipe is None or recipe.name not in _KEPT:
        return None
    return shaped_of(value) if mapped else value.recipe


_TRACED_LEAVES: dict[type, Callable[[Any, Level, bool], Value]] = {
    Array: _inner_array,
    Unknown: _traced_tree,
    Tree: _traced_tree,
    Const: _traced_const,
    Static: _traced_static,
    HostArray: _traced_host_array,
}
"""What a leaf is inside a staged function, by the type of the leaf."""


def mapped_element(value: Array | Opaque) -> Value:
    """What every element of a vmap over ``value`` receives of it: a second vmap over it passes the same value again."""
    whole = canonical_key(value)
    if isinstance(whole, Array):
        return key_taken(whole, ELEMENT)
    assert isinstance(whole, Opaque)
    if whole.parts is None:
        whole.parts = {}
    return whole.parts.setdefault(ELEMENT, Unknown("element", whole, ELEMENT))


def row_length(value: Array) -> int | None:
    """How long the rows of an array are, where it was made of a literal's."""
    recipe = value.recipe
    if (recipe is None or recipe.name == SHAPED) and isinstance(value.origin, Array):
        recipe = value.origin.recipe
    if recipe is None or recipe.name != ROWS:
        return None
    length = recipe.operands[0]
    return length.value if isinstance(length, Const) else None


def keep_seed(parent: Value, child: Array) -> None:
    """A key made of another one alone comes from the same seed."""
    whole = canonical_key(parent)
    if isinstance(whole, Array) and whole.recipe is not None and whole.recipe.name == SEED:
        recipe = whole.recipe
        child.recipe = replace(recipe, operands=()) if recipe.operands else recipe


def key_taken(keys: Array, step: str) -> Value:
    """One key of an array of keys: the same again for the same step."""
    if keys.parts is None:
        keys.parts = {}
    found = keys.parts.get(step)
    if found is None:
        found = keys.parts[step] = Array(keys.level, "key", None if step == ELEMENT else 0)
        keep_seed(keys, found)
    return found


_MOVES = frozenset({"+", "-", "*", "^", "|"})


def moved_key(left: Value, op: str, right: Value) -> Value | None:
    """``key + 1``: a raw key is an array of numbers, and another one comes of it, which is the same for the same number."""
    key, number = (left, right) if isinstance(right, Const) or op == "-" else (right, left)
    if op not in _MOVES or not isinstance(number, Const) or type(number.value) is not int:
        return None
    if isinstance(key, Array) and key.dtype == "key" and key.ndim == 0:
        return key_taken(key, f"{op}{number.value}")
    return part_of(key, f"{op}{number.value}", Unknown) if isinstance(key, Unknown) else None


def key_behind(value: Value) -> Value:
    """A key as it is known: that something unknown plus a number is one shows where it is used."""
    formula = value.formula if isinstance(value, Unknown) else None
    moved = moved_key(formula.operands[0], formula.name, formula.operands[1]) if formula is not None else None
    return value if moved is None else moved


def from_tracers(value: Value, level: Level, depth: int = 8, *, dispatched: int = 0, room: Room | None = None) -> Value:
    """What a staged function's result is outside: arrays of ``level``; a value that came in unchanged is itself again."""
    if isinstance(value, Array):
        return _released_array(value, level, dispatched)
    if isinstance(value, (Tree, Unknown)):
        return _released_tree(value, level, dispatched)
    if isinstance(value, Const) and type(value.value) in NUMBERS:
        return Array(level, const_kind(value.value), 0, dispatched=dispatched)
    if isinstance(value, Static) and value.kind in ("int", "float", "bool"):
        return Array(level, value.kind, 0, dispatched=dispatched)
    if depth == 0 or isinstance(value, (FunctionValue, BoundMethod, PartialValue, TransformedValue)):
        return value
    if isinstance(value, Instance) and value.cls.traits >= {"pytree", "static_attributes"}:
        return over_arrays(value, lambda v: from_tracers(v, level, dispatched=dispatched))
    room = room if room is not None else Room()
    if not room.enter(value):
        return value
    return map_leaves(value, lambda v: from_tracers(v, level, depth - 1, dispatched=dispatched, room=room))


def _released_array(value: Array, level: Level, dispatched: int) -> Value:
    if value.origin is not None:
        return value.origin
    released = Array(
        level, value.dtype, value.ndim, value.length, dispatched=dispatched, size=value.size, resized=value.resized
    )
    released.shaped = value.shaped
    if value.recipe is not None and value.recipe.name in _KEPT:
        released.recipe = value.recipe
    return released


_KEPT = frozenset({"softmax", "sigmoid"})
"""Operations whose results show outside of the trace how they were made: a loss outside may take their logarithm."""


def _released_tree(value: Tree | Unknown, level: Level, dispatched: int) -> Value:
    """``from_tracers`` of a pytree, or of something unknown: a compiled function returns nothing but arrays."""
    if isinstance(value, Unknown):
        if not dispatched or value.origin is not None or value.parent is not None:
            return value
        released: Tree | Unknown = Unknown(
            value.label, host_test=value.host_test, doubt=value.doubt, untraced=value.untraced
        )
    elif value.origin is not None:
        return value.origin
    else:
        released = Tree(level)
    released.dispatched = dispatched
    return released


def element_of_axis(value: Value, depth: int = 8, room: Room | None = None) -> Value:
    """One slice along the leading axis of every leaf: what ``scan`` and ``map`` hand to their body."""
    if isinstance(value, Array):
        row = Array(value.level, value.dtype, value.ndim - 1 if value.ndim else None, row_length(value))
        if value.dtype == "key":
            keep_seed(value, row)
        else:
            row.recipe = _kept(value, mapped=True)
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
        stacked = Array(value.level, value.dtype, value.ndim + 1 if value.ndim is not None else None)
        stacked.recipe = _kept(value, mapped=False)
        return stacked
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


def relevelled(value: Value, level: Level, depth: int = 8, room: Room | None = None) -> Value:
    """A pytree of the same structure with new arrays of ``level`` for leaves."""
    if isinstance(value, Array):
        return Array(level, value.dtype, value.ndim, value.length, size=value.size)
    if isinstance(value, (Tree, Unknown)):
        return Tree(level)
    if isinstance(value, HostArray):
        return Array(level, size=value.size)
    if isinstance(value, (Const, Static)):
        return value if isinstance(value, Const) and value.value is None else Array(level)
    room = room if room is not None else Room()
    if depth == 0 or not room.enter(value):
        return Tree(level)
    return map_leaves(value, lambda v: relevelled(v, level, depth - 1, room))


def track_rows(result: Array, rows: tuple[Value, ...]) -> None:
    """An array is made of rows that are all of one known length."""
    lengths = {len(known_elements(r) or ()) if not isinstance(r, Array) else r.length for r in rows}
    length = lengths.pop() if len(lengths) == 1 else None
    if length:
        result.recipe = Recipe(ROWS, (Const(length),), None, None)


NOT_TRAINING = {"train": False, "training": False, "is_training": False, "deterministic": True, "inference": True}
"""Keyword arguments, with the value that tells a layer to drop nothing and draw nothing."""
