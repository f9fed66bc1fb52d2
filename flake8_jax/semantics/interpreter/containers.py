"""Lists, dicts, tuples and strings: items, and the methods that read or change them.

Vocabulary
----------
known       every element is known, one by one.
rest        what stands for all elements, or for all values under unknown keys (slot ``*``).
closed      a dict all of whose keys are known.

Limitations: the number of elements that a loop appends, contents of sets, keys that are no constants.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    CONCRETE,
    GRAD,
    LIBRARY,
    MAYBE,
    MISSING,
    NONE,
    REF,
    UNKNOWN_TRACE,
    Array,
    AtValue,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    GeneratorValue,
    HostArray,
    ListValue,
    Opaque,
    Room,
    SliceValue,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    copy_with_new_identity,
    known_elements,
    part_of,
    shaped_of,
)
from flake8_jax.semantics.interpreter.iteration import iterated
from flake8_jax.semantics.interpreter.operators import result_level
from flake8_jax.semantics.interpreter.parts import store_part
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.captures import Captures, embed
from flake8_jax.semantics.trackers.eager_steps import track_rows
from flake8_jax.semantics.trackers.host_buffers import track_view
from flake8_jax.semantics.trackers.key_collections import members_taken
from flake8_jax.semantics.trackers.keys import pick_element
from flake8_jax.semantics.trackers.plain_containers import check_appended
from flake8_jax.semantics.trackers.recipes import pass_tangent
from flake8_jax.semantics.trackers.variation import track_appended, track_emptied, track_filled_up, track_shortened


def item_of(m: Machine, base: Value, index: Value) -> Value:
    """``base[index]`` for values that are no instances of project classes."""
    if isinstance(index, UnionValue) and not isinstance(base, (Array, Tree)):
        return joining.union_of([item_of(m, base, i) for i in index.members])
    take = _ITEMS.get(type(base))
    return take(m, base, index) if take is not None else Unknown("item")


def _tuple_item(m: Machine, base: TupleValue, index: Value) -> Value:
    return _sequence_item(base.elts, index, is_tuple=True)


def _list_item(m: Machine, base: ListValue, index: Value) -> Value:
    known = base.known()
    if known is not None:
        return _sequence_item(known, index, is_tuple=base.is_tuple, made_in=m.path.mode.trace)
    if isinstance(index, SliceValue):  # the elements are not known: two slices may have none in common
        return ListValue(None, joining.another(joining.any_element(base)), is_tuple=base.is_tuple)
    return _repeatable(m, base, index, joining.any_element(base))


def _item_of_array(m: Machine, base: Array, index: Value) -> Value:
    taken = _array_item(m, base, index)
    pass_tangent(m, taken, (base,))
    return taken


def _item_of_tree(m: Machine, base: Tree, index: Value) -> Value:
    taken = _tree_item(m, base, index)
    pass_tangent(m, taken, (base,))
    return taken


def _host_item(m: Machine, base: HostArray, index: Value) -> Value:
    if isinstance(index, (Array, Tree)):
        return Unknown("item")
    made = HostArray(base.dtype, declared=base.declared)
    if isinstance(index, SliceValue):
        made.length, made.ndim = _sliced_length(base.length, index), base.ndim
    if isinstance(index, SliceValue) or (
        isinstance(index, TupleValue) and any(isinstance(v, SliceValue) for v in index.elts)
    ):
        track_view(m, base, made)
    return made


def _static_item(m: Machine, base: Static, index: Value) -> Value:
    if base.kind == "shape":
        if base.first is not None and isinstance(index, Const) and index.value == 0 and type(index.value) is int:
            return Const(base.first)
        return Static("shape") if isinstance(index, SliceValue) else Static("int")
    return Static("str" if base.kind == "str" else "", guess=base.guess)


def _const_item(m: Machine, base: Const, index: Value) -> Value:
    return Static("str", guess=not isinstance(base.value, str))


def _unknown_item(m: Machine, base: Unknown, index: Value) -> Value:
    if isinstance(index, Const) and isinstance(index.value, (int, str)):
        return part_of(base, f"[{index.value!r}]", lambda: Unknown(base.label))
    item = Unknown("item", host_test=base.host_test)
    item.formula = base.formula
    return item


def _library_item(m: Machine, base: External, index: Value) -> Value:
    return Static("str") if base.name == "os.environ" else base


def _tree_item(m: Machine, base: Tree, index: Value) -> Value:
    if isinstance(index, Const) and isinstance(index.value, (int, str)):
        return part_of(base, f"[{index.value!r}]", lambda: Tree(base.level))
    if isinstance(index, (Array, TupleValue)):
        return Array(result_level(m, (base, index)), length=_listed_length(index))
    return Tree(base.level)


def _repeatable(m: Machine, base: ListValue, index: Value, element: Value) -> Value:
    """The same constant index gives the same element again; another index another one."""
    if isinstance(index, Const):
        slot = ("at", index.value)
        found = base.slots.get(slot)
        if found is None:
            found = joining.another(element)
            m.journal.write(base.slots, slot, found)
        members_taken(m, base, found)
        return found
    other = pick_element(m, joining.another(element))
    members_taken(m, base, other)
    return other


def _sequence_item(elements: tuple[Value, ...], index: Value, *, is_tuple: bool, made_in: int = UNKNOWN_TRACE) -> Value:
    if isinstance(index, Const) and isinstance(index.value, int):
        if -len(elements) <= index.value < len(elements):
            return elements[index.value]
        return Unknown("item")
    if isinstance(index, SliceValue):
        parts = [
            None if v is None else v.value if isinstance(v, Const) else MISSING
            for v in (index.lower, index.upper, index.step)
        ]
        if MISSING not in parts and parts[2] != 0:
            try:
                chosen = elements[slice(*parts)]
            except TypeError:
                return Unknown("item")
            return TupleValue(chosen) if is_tuple else ListValue(chosen, made_in=made_in)
        return ListValue(None, joining.join_all(elements) if elements else None, is_tuple=is_tuple, made_in=made_in)
    return copy_with_new_identity(joining.join_all(elements)) if elements else Unknown("item")


def _dict_item(m: Machine, base: DictValue, index: Value) -> Value:
    if isinstance(index, Const):
        found = base.slots.get(("k", index.value), MISSING)
        if found is not MISSING:
            return found  # type: ignore[no-any-return]
        rest = base.slots.get("*")
        if rest is None:
            return _missing_item(m, base, ("k", index.value))
        slot = ("at", index.value)
        known = base.slots.get(slot)
        if known is None:
            known = copy_with_new_identity(rest)
            m.journal.write(base.slots, slot, known)
        return known
    values = [v for _, v in base.items()]
    rest = base.slots.get("*")
    if rest is not None:
        values.append(rest)
    if "factory" in base.slots and not values:
        return _missing_item(m, base, "*")
    if not values or (base.slots["open"] and rest is None):
        return Unknown("item")
    return pick_element(m, copy_with_new_identity(joining.join_all(values)))


def _missing_item(m: Machine, base: DictValue, slot: Any) -> Value:
    """A key that a dict lacks: its ``defaultdict`` factory makes a list, a dict or a set."""
    factory = base.slots.get("factory")
    name = factory.name if isinstance(factory, BuiltinValue) else ""
    made: Value
    if name == "list":
        made = ListValue((), made_in=base.made_in)
    elif name == "dict":
        made = DictValue({}, made_in=base.made_in)
    elif name == "set":
        made = Static("set", made_in=base.made_in)
    else:
        return Unknown("item")
    m.journal.write(base.slots, slot, made)
    return made


def _index_is_integer(index: Value) -> bool:
    return (
        (isinstance(index, Const) and type(index.value) is int)
        or (isinstance(index, Static) and index.kind == "int")
        or (isinstance(index, Array) and index.ndim == 0 and index.dtype == "int")
    )


def _array_item(m: Machine, base: Array, index: Value) -> Value:
    if base.dtype == "key" and isinstance(index, Const) and type(index.value) is int:
        key = _one_key(m, base, index)
        members_taken(m, base, key)
        return key
    level = result_level(m, (base, index))
    if m.trackers[Captures].constants:
        embed(m, (base,))
    if level == GRAD and base.dtype in ("int", "bool"):
        level = CONCRETE
    rank, length = _taken_rank(base, index), _taken_length(base, index)
    item = Array(
        level,
        base.dtype,
        rank,
        length,
        dispatched=base.dispatched,
        resized=base.origin is not None and _leaves_out(index),
        declared=base.declared and level <= MAYBE,
    )
    item.recipe = shaped_of(base)
    if base.dtype == "key" and _index_is_integer(index):
        members_taken(m, base, item)
    return item


def _leaves_out(index: Value) -> bool:
    """A slice such as ``1:`` or ``:-1``, of an array that has rows."""
    if not isinstance(index, SliceValue) or (index.lower is not None and index.upper is not None):
        return False
    bound = index.lower or index.upper
    return isinstance(bound, Const) and type(bound.value) is int and (bound.value > 0) == (bound is index.lower)


def _one_key(m: Machine, keys: Array, index: Const) -> Value:
    """The key at a constant index of an array of keys: the same again for the same index."""
    if keys.parts is None:
        keys.parts = {}
    step = f"[{index.value}]"
    found = keys.parts.get(step)
    if found is None:
        key = Array(keys.level, "key", 0)
        boundary.keep_seed(keys, key)
        found = keys.parts[step] = key
        if isinstance(keys.origin, Array):
            key.origin = _array_item(m, keys.origin, index)
    return found


def _taken_rank(base: Array, index: Value) -> int | None:
    """The rank of what is taken out of an array."""
    if base.ndim is None:
        return None
    if _index_is_integer(index):
        return max(base.ndim - 1, 0)
    if isinstance(index, SliceValue):
        return base.ndim
    if not isinstance(index, TupleValue):
        return None
    integers = sum(_index_is_integer(v) for v in index.elts)
    slices = sum(isinstance(v, SliceValue) for v in index.elts)
    return max(base.ndim - integers, 0) if integers + slices == len(index.elts) else None


def _taken_length(base: Array, index: Value) -> int | None:
    """The length of what is taken out of an array: of one row, or as many rows as the index lists."""
    if _index_is_integer(index):
        return boundary.row_length(base)
    first = index.elts[0] if isinstance(index, TupleValue) and index.elts else index
    if isinstance(first, SliceValue):
        return _sliced_length(base.length, first)
    return _listed_length(index)


def _sliced_length(length: int | None, index: SliceValue) -> int | None:
    """How many rows a slice takes of an array of ``length`` rows."""
    parts = [
        None if v is None else v.value if isinstance(v, Const) else MISSING
        for v in (index.lower, index.upper, index.step)
    ]
    if length is None or length < 0 or not all(part is None or type(part) is int for part in parts) or parts[2] == 0:
        return None
    return len(range(*slice(*parts).indices(length)))


def _listed_length(index: Value) -> int | None:
    first = index.elts[0] if isinstance(index, TupleValue) and index.elts else index
    listed = first.elts if isinstance(first, TupleValue) else first.known() if isinstance(first, ListValue) else None
    if listed is None or not all(isinstance(v, Const) and type(v.value) is int for v in listed):
        return index.length if isinstance(index, Array) and index.ndim == 1 and index.dtype == "int" else None
    return len(listed)


def _item_of_object(m: Machine, base: ExternalInstance, index: Value) -> Value:
    """``ref[...]``, ``ref[i, :]``: an array. ``refs[0]`` may be an item of a tuple of them."""
    parts = index.elts if isinstance(index, TupleValue) else (index,)
    whole = isinstance(index, TupleValue) or (isinstance(index, Static) and index.kind == "ellipsis")
    if base.cls != REF or not whole:
        return Unknown("item")
    return Array(base.level if base.level == ABSTRACT else result_level(m, (*parts, Array(base.level)), library=True))


_ITEMS: dict[type, Callable[[Machine, Any, Value], Value]] = {
    TupleValue: _tuple_item,
    ListValue: _list_item,
    DictValue: _dict_item,
    Array: _item_of_array,
    Tree: _item_of_tree,
    HostArray: _host_item,
    Static: _static_item,
    Const: _const_item,
    Unknown: _unknown_item,
    GeneratorValue: lambda m, base, index: copy_with_new_identity(base.element),
    External: _library_item,
    ExternalInstance: _item_of_object,
    ClassValue: lambda m, base, index: base,
}
"""``base[index]`` by the type of the base; of one of another type nothing is known."""


def set_item(m: Machine, base: Value, index: Value, value: Value) -> None:
    """``base[index] = value``."""
    if isinstance(base, UnionValue):
        for member in base.members:
            set_item(m, member, index, value)
    elif isinstance(base, DictValue):
        if isinstance(index, Const) and len(base.slots) < 100:
            m.journal.write(base.slots, ("k", index.value), value)
        else:
            rest, room = base.slots.get("*"), Room(joining.MAX_JOINED)
            m.journal.write(base.slots, "*", value if rest is None else joining.join(rest, value, room=room))
            m.journal.write(base.slots, "open", True)
            for slot in [k for k in base.slots if type(k) is tuple]:
                if slot[0] == "at":
                    m.journal.write(base.slots, slot, MISSING)
                else:
                    m.journal.write(base.slots, slot, joining.join(base.slots[slot], value, room=room))
    elif isinstance(base, ListValue):
        n = base.slots["n"]
        if isinstance(index, Const) and n is not None and isinstance(index.value, int) and -n <= index.value < n:
            m.journal.write(base.slots, index.value % n, value)
        else:
            _summarise(m, base, value)
    elif isinstance(base, Opaque) and not (isinstance(base, Unknown) and base.label == LIBRARY):
        store_part(m, base, index, value)  # a table of pandas gives a column of its own back


def _summarise(m: Machine, base: ListValue, extra: Value) -> None:
    """Give up the known elements of a list: any of them, or ``extra``, may be anywhere."""
    known = base.known()
    if known is not None:
        joined = joining.join_all([*known, extra])
        m.journal.write(base.slots, "n", None)
    else:
        joined = joining.join(joining.any_element(base), extra) if base.slots.get("*") is not None else extra
    m.journal.write(base.slots, "*", joined)
    for slot in [k for k in base.slots if type(k) is tuple]:
        m.journal.write(base.slots, slot, MISSING)


def delete_item(m: Machine, base: Value, index: Value) -> None:
    """``del base[index]``."""
    if isinstance(base, DictValue) and isinstance(index, Const):
        if ("k", index.value) in base.slots:
            m.journal.write(base.slots, ("k", index.value), MISSING)
    elif isinstance(base, ListValue):
        track_shortened(m, base)
        if base.slots["n"]:
            _summarise(m, base, joining.any_element(base))


def extend_list(m: Machine, frame: Frame, base: ListValue, more: Value, node: Any) -> None:
    """``base += more`` or ``base.extend(more)``."""
    known = known_elements(more)
    n = base.slots["n"]
    if m.path.loops:
        track_appended(m, base)
        track_filled_up(m, base, node)
    if known is not None and n is not None and n + len(known) <= 32 and not m.path.loops[m.path.loop_base :]:
        for i, v in enumerate(known):
            m.journal.write(base.slots, n + i, v)
        m.journal.write(base.slots, "n", n + len(known))
        return
    track_rows(m, frame, node, more)
    make_element = iterated(m, frame, node, more, "no-events", None)
    if make_element is not None:
        _summarise(m, base, make_element())


def append(m: Machine, base: ListValue, value: Value) -> None:
    """``base.append(value)``."""
    n = base.slots["n"]
    if m.path.loops:
        track_appended(m, base)
    if n is not None and n < 32 and not m.path.loops[m.path.loop_base :]:
        m.journal.write(base.slots, n, value)
        m.journal.write(base.slots, "n", n + 1)
    else:
        _summarise(m, base, value)


def list_method(m: Machine, call: Call, base: ListValue, name: str) -> Value:
    """A method of a list."""
    method = _LIST_METHODS.get(name)
    return method(m, call, base) if method is not None else Unknown("list method")


def _list_append(m: Machine, call: Call, base: ListValue) -> Value:
    if not call.args.values:
        return Unknown("list method")
    check_appended(m, call, base)
    append(m, base, call.args.values[0])
    if m.path.loops:
        track_filled_up(m, base, call.node)
        if isinstance(call.node, ir.Call) and isinstance(call.node.func, ir.Attribute):
            track_emptied(m, call.frame, base, call.node.func.value)
    return NONE


def _list_extend(m: Machine, call: Call, base: ListValue) -> Value:
    if not call.args.values:
        return Unknown("list method")
    extend_list(m, call.frame, base, call.args.values[0], call.node)
    return NONE


def _list_insert(m: Machine, call: Call, base: ListValue) -> Value:
    if len(call.args.values) != 2:
        return Unknown("list method")
    _summarise(m, base, call.args.values[1])
    return NONE


def _list_pop(m: Machine, call: Call, base: ListValue) -> Value:
    track_shortened(m, base)
    known, at = base.known(), call.args.values[0] if call.args.values else Const(-1)
    if known and isinstance(at, Const) and at.value in (-1, 0) and not m.path.loops[m.path.loop_base :]:
        taken, left = (known[0], known[1:]) if at.value == 0 else (known[-1], known[:-1])
        for i, v in enumerate(left):
            m.journal.write(base.slots, i, v)
        m.journal.write(base.slots, "n", len(left))
        return taken
    element = copy_with_new_identity(joining.any_element(base))
    if known:
        _summarise(m, base, element)
    return element


def _list_popleft(m: Machine, call: Call, base: ListValue) -> Value:
    track_shortened(m, base)
    return Unknown("list method")


def _list_copy(m: Machine, call: Call, base: ListValue) -> Value:
    known = base.known()
    return ListValue(known, None if known is not None else joining.any_element(base), made_in=m.path.mode.trace)


def _list_search(m: Machine, call: Call, base: ListValue) -> Value:
    return Static("int")


def _list_shorten(m: Machine, call: Call, base: ListValue) -> Value:
    track_shortened(m, base)
    return _list_reorder(m, call, base)


def _list_reorder(m: Machine, call: Call, base: ListValue) -> Value:
    if base.slots["n"]:
        _summarise(m, base, joining.any_element(base))
    return NONE


_LIST_METHODS: dict[str, Callable[[Machine, Call, ListValue], Value]] = {
    "append": _list_append,
    "extend": _list_extend,
    "insert": _list_insert,
    "pop": _list_pop,
    "popleft": _list_popleft,
    "copy": _list_copy,
    **dict.fromkeys(("index", "count"), _list_search),
    **dict.fromkeys(("clear", "remove"), _list_shorten),
    **dict.fromkeys(("sort", "reverse"), _list_reorder),
}


def dict_method(m: Machine, call: Call, base: DictValue, name: str) -> Value:
    """A method of a dict."""
    method = _DICT_METHODS.get(name)
    return method(m, call.args, base) if method is not None else Unknown("dict method")


def _values_of(base: DictValue) -> list[Value]:
    rest = base.slots.get("*")
    return [v for _, v in base.items()] + ([rest] if rest is not None else [])


def _any_value(base: DictValue) -> Value:
    """What stands for every value of a dict not all of whose keys are known."""
    return joining.join_all(_values_of(base)) if base.slots.get("*") is not None else Unknown("value")


def _dict_items(m: Machine, args: Arguments, base: DictValue) -> Value:
    if base.is_closed():
        return ListValue(tuple(TupleValue((Const(k), v)) for k, v in base.items()), is_tuple=True)
    return GeneratorValue(TupleValue((Static("str", guess=True), _any_value(base))))


def _dict_keys(m: Machine, args: Arguments, base: DictValue) -> Value:
    if base.is_closed():
        return ListValue(tuple(Const(k) for k, _ in base.items()), is_tuple=True)
    return ListValue(None, Static("str", guess=True), is_tuple=True)


def _dict_values(m: Machine, args: Arguments, base: DictValue) -> Value:
    if base.is_closed():
        return ListValue(tuple(v for _, v in base.items()), is_tuple=True)
    return ListValue(None, _any_value(base), is_tuple=True)


class _Lookup(NamedTuple):
    """What ``get``, ``pop`` and ``setdefault`` look for. slot: of a constant key, else None. found: MISSING where the
    dict is not known to have it. absent: it surely has not."""

    slot: Any
    default: Value
    found: Any
    absent: bool


def _looked_up(args: Arguments, base: DictValue) -> _Lookup:
    default = args.values[1] if len(args.values) > 1 else NONE
    key = args.values[0] if args.values else None
    if not isinstance(key, Const):
        return _Lookup(None, default, MISSING, False)
    slot = ("k", key.value)
    return _Lookup(slot, default, base.slots.get(slot, MISSING), base.is_closed())


def _value_or(rest: Value | None, default: Value) -> Value:
    return Unknown("item") if rest is None else joining.join(copy_with_new_identity(rest), default)


def _dict_get(m: Machine, args: Arguments, base: DictValue) -> Value:
    wanted = _looked_up(args, base)
    if wanted.found is not MISSING:
        return wanted.found  # type: ignore[no-any-return]
    return wanted.default if wanted.absent else _value_or(base.slots.get("*"), wanted.default)


def _dict_pop(m: Machine, args: Arguments, base: DictValue) -> Value:
    wanted = _looked_up(args, base)
    taken = _dict_get(m, args, base)
    if wanted.found is not MISSING:
        m.journal.write(base.slots, wanted.slot, MISSING)
    return taken


def _dict_setdefault(m: Machine, args: Arguments, base: DictValue) -> Value:
    wanted, rest = _looked_up(args, base), base.slots.get("*")
    if wanted.found is not MISSING:
        return wanted.found  # type: ignore[no-any-return]
    if wanted.absent:
        m.journal.write(base.slots, wanted.slot, wanted.default)
        return wanted.default
    if args.values:
        set_item(m, base, args.values[0], wanted.default)
    return _value_or(rest, wanted.default)


def _dict_update(m: Machine, args: Arguments, base: DictValue) -> Value:
    for other in args.values:
        if isinstance(other, DictValue):
            for k, v in other.items():
                m.journal.write(base.slots, ("k", k), v)
            if not other.is_closed():
                set_item(m, base, Static("str"), other.slots.get("*") or Unknown("value"))
        else:
            set_item(m, base, Static("str"), Tree(other.level) if isinstance(other, Tree) else Unknown("value"))
    for k, v in args.kwargs.items():
        m.journal.write(base.slots, ("k", k), v)
    return NONE


def _dict_copy(m: Machine, args: Arguments, base: DictValue) -> Value:
    """``copy()``; of a ``FrozenDict`` also ``copy(add_or_replace)``."""
    items, rest, is_open = dict(base.items()), base.slots.get("*"), base.slots["open"]
    given = [*args.values[:1], *(v for name, v in args.kwargs.items() if name == "add_or_replace")]
    for other in given:
        if isinstance(other, DictValue) and other.is_closed():
            items.update(other.items())
        else:  # any of the items may have been replaced
            items, rest, is_open = {key: Unknown("item") for key in items}, Unknown("item"), True
    made = DictValue(items, rest, is_open=is_open, made_in=m.path.mode.trace)
    if base.slots.get("frozen"):
        made.slots["frozen"] = True
    return made


def _dict_clear(m: Machine, args: Arguments, base: DictValue) -> Value:
    for k, _ in list(base.items()):
        m.journal.write(base.slots, ("k", k), MISSING)
    return NONE


def _dict_popitem(m: Machine, args: Arguments, base: DictValue) -> Value:
    values = _values_of(base)
    return TupleValue((Static("str", guess=True), joining.join_all(values) if values else Unknown("value")))


_DICT_METHODS: dict[str, Callable[[Machine, Arguments, DictValue], Value]] = {
    "items": _dict_items,
    "keys": _dict_keys,
    "values": _dict_values,
    "get": _dict_get,
    "pop": _dict_pop,
    "setdefault": _dict_setdefault,
    "update": _dict_update,
    "copy": _dict_copy,
    "clear": _dict_clear,
    "popitem": _dict_popitem,
}


STRING_RESULTS = frozenset(
    {"format", "join", "lower", "upper", "strip", "lstrip", "rstrip", "replace", "title", "capitalize", "zfill", "center",
     "ljust", "rjust", "removeprefix", "removesuffix", "encode", "decode", "expandtabs", "swapcase", "casefold"}
)  # fmt: skip


def string_method(name: str) -> Value:
    """A method of a string: its kind of result."""
    if name in STRING_RESULTS:
        return Static("str")
    if name in ("split", "rsplit", "splitlines", "partition", "rpartition"):
        return ListValue(None, Static("str"))
    if name in ("find", "rfind", "index", "rindex", "count"):
        return Static("int")
    if name.startswith(("is", "startswith", "endswith")):
        return Static("bool")
    return Static("")


def at_update(m: Machine, base: AtValue, args: tuple[Value, ...]) -> Value:
    """``x.at[i].set(v)`` and its like: an array like ``x``."""
    array = base.base
    inputs = [v for v in (array, base.index, *args) if v is not None]
    if isinstance(array, Array):
        return Array(result_level(m, inputs), array.dtype, array.ndim, array.length)
    if isinstance(array, Tree):
        return Array(result_level(m, inputs))
    return Array(result_level(m, inputs) if not isinstance(array, Unknown) or m.path.mode.ambient else MAYBE)
