"""Lists, dicts, tuples and strings: items, and the methods that read or change them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import (
    CONCRETE,
    GRAD,
    MAYBE,
    MISSING,
    NO_BIRTH,
    NONE,
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
    SliceValue,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    freshen,
    part_of,
)
from flake8_jax.semantics.interpreter.operators import result_level
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.captures import Captures, embed
from flake8_jax.semantics.trackers.recipes import pass_tangent
from flake8_jax.semantics.trackers.variation import note_appended, note_shortened


def item_of(m: Machine, base: Value, index: Value) -> Value:
    """``base[index]`` for values that are no instances of project classes."""
    if isinstance(index, UnionValue) and not isinstance(base, (Array, Tree)):
        return joining.union_of([item_of(m, base, i) for i in index.members])
    kind = type(base)
    if kind is TupleValue:
        return _sequence_item(base, base.elts, index, is_tuple=True)  # type: ignore[attr-defined]
    if kind is ListValue:
        known = base.known()  # type: ignore[attr-defined]
        if known is not None:
            return _sequence_item(base, known, index, is_tuple=base.is_tuple, born=m.path.mode.trace)  # type: ignore[attr-defined]
        if isinstance(index, SliceValue):
            return ListValue(None, joining.any_element(base), is_tuple=base.is_tuple)  # type: ignore[arg-type,attr-defined]
        return _repeatable(m, base, index, joining.any_element(base))  # type: ignore[arg-type]
    if kind is DictValue:
        return _dict_item(m, base, index)  # type: ignore[arg-type]
    if kind is Array or kind is Tree:
        taken = _array_item(m, base, index) if kind is Array else _tree_item(m, base, index)  # type: ignore[arg-type]
        pass_tangent(m, taken, (base,))
        return taken
    if kind is HostArray:
        if isinstance(index, (Array, Tree)):
            return Unknown("item")
        return HostArray(base.dtype)  # type: ignore[attr-defined]
    if kind is Static:
        if base.kind == "shape":  # type: ignore[attr-defined]
            return Static("shape") if isinstance(index, SliceValue) else Static("int")
        return Static("str" if base.kind == "str" else "", guess=base.guess)  # type: ignore[attr-defined]
    if kind is Const:
        return Static("str", guess=not isinstance(base.value, str))  # type: ignore[attr-defined]
    if kind is Unknown:
        if isinstance(index, Const) and isinstance(index.value, (int, str)):
            label = base.label  # type: ignore[attr-defined]
            return part_of(base, f"[{index.value!r}]", lambda: Unknown(label))  # type: ignore[arg-type]
        return Unknown("item", host_test=base.host_test)  # type: ignore[attr-defined]
    if kind is GeneratorValue:
        return freshen(base.element)  # type: ignore[attr-defined]
    if isinstance(base, External) and base.name == "os.environ":
        return Static("str")
    if isinstance(base, (ClassValue, External)):
        return base
    if isinstance(base, ExternalInstance):
        return Unknown("item")
    return Unknown("item")


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
            found = freshen(element)
            m.journal.write(base.slots, slot, found)
        return found
    return freshen(element)


def _sequence_item(
    base: Value, elements: tuple[Value, ...], index: Value, *, is_tuple: bool, born: int = NO_BIRTH
) -> Value:
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
            return TupleValue(chosen) if is_tuple else ListValue(chosen, born=born)
        return ListValue(None, joining.join_all(elements) if elements else None, is_tuple=is_tuple, born=born)
    return freshen(joining.join_all(elements)) if elements else Unknown("item")


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
            known = freshen(rest)
            m.journal.write(base.slots, slot, known)
        return known
    values = [v for _, v in base.items()]
    rest = base.slots.get("*")
    if rest is not None:
        values.append(rest)
    if "factory" in base.slots and not values:
        return _missing_item(m, base, "*")
    return (
        freshen(joining.join_all(values)) if values and not (base.slots["open"] and rest is None) else Unknown("item")
    )


def _missing_item(m: Machine, base: DictValue, slot: Any) -> Value:
    """A key that a dict lacks: its ``defaultdict`` factory makes a list, a dict or a set."""
    factory = base.slots.get("factory")
    name = factory.name if isinstance(factory, BuiltinValue) else ""
    made: Value
    if name == "list":
        made = ListValue((), born=base.born)
    elif name == "dict":
        made = DictValue({}, born=base.born)
    elif name == "set":
        made = Static("set", born=base.born)
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
        if base.parts is None:
            base.parts = {}
        step = f"[{index.value}]"
        found = base.parts.get(step)
        if found is None:
            found = Array(base.level, "key", 0)
            boundary.keep_seed(base, found)
            base.parts[step] = found
            if isinstance(base.origin, Array):
                found.origin = _array_item(m, base.origin, index)
        return found
    level = result_level(m, (base, index))
    if m.trackers[Captures].constants:
        embed(m, (base,))
    if level == GRAD and base.dtype in ("int", "bool"):
        level = CONCRETE
    ndim: int | None = None
    if base.ndim is not None:
        if _index_is_integer(index):
            ndim = max(base.ndim - 1, 0)
        elif isinstance(index, SliceValue):
            ndim = base.ndim
        elif isinstance(index, TupleValue):
            integers = sum(_index_is_integer(v) for v in index.elts)
            if integers + sum(isinstance(v, SliceValue) for v in index.elts) == len(index.elts):
                ndim = max(base.ndim - integers, 0)
    return Array(level, base.dtype, ndim, _taken_length(base, index), dispatched=base.dispatched)


def _taken_length(base: Array, index: Value) -> int | None:
    """The length of what is taken out of an array: of one row, or as many rows as the index lists."""
    if _index_is_integer(index):
        return boundary.row_length(base)
    return _listed_length(index)


def _listed_length(index: Value) -> int | None:
    first = index.elts[0] if isinstance(index, TupleValue) and index.elts else index
    listed = first.elts if isinstance(first, TupleValue) else first.known() if isinstance(first, ListValue) else None
    if listed is None or not all(isinstance(v, Const) and type(v.value) is int for v in listed):
        return index.length if isinstance(index, Array) and index.ndim == 1 and index.dtype == "int" else None
    return len(listed)


def set_item(m: Machine, base: Value, index: Value, value: Value) -> None:
    """``base[index] = value``."""
    if isinstance(base, UnionValue):
        for member in base.members:
            set_item(m, member, index, value)
    elif isinstance(base, DictValue):
        if isinstance(index, Const) and len(base.slots) < 100:
            m.journal.write(base.slots, ("k", index.value), value)
        else:
            rest = base.slots.get("*")
            m.journal.write(base.slots, "*", value if rest is None else joining.join(rest, value))
            m.journal.write(base.slots, "open", True)
            for slot in [k for k in base.slots if type(k) is tuple]:
                if slot[0] == "at":
                    m.journal.write(base.slots, slot, MISSING)
                else:
                    m.journal.write(base.slots, slot, joining.join(base.slots[slot], value))
    elif isinstance(base, ListValue):
        n = base.slots["n"]
        if isinstance(index, Const) and n is not None and isinstance(index.value, int) and -n <= index.value < n:
            m.journal.write(base.slots, index.value % n, value)
        else:
            _summarise(m, base, value)


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
        note_shortened(m, base)
        if base.slots["n"]:
            _summarise(m, base, joining.any_element(base))


def extend_list(m: Machine, frame: Frame, base: ListValue, more: Value, node: Any) -> None:
    """``base += more`` or ``base.extend(more)``."""
    from flake8_jax.semantics.domain.values import known_elements
    from flake8_jax.semantics.interpreter.iteration import iterated

    known = known_elements(more)
    n = base.slots["n"]
    if m.path.loops:
        note_appended(m, base)
    if known is not None and n is not None and n + len(known) <= 32 and not m.path.loops[m.path.loop_base :]:
        for i, v in enumerate(known):
            m.journal.write(base.slots, n + i, v)
        m.journal.write(base.slots, "n", n + len(known))
        return
    supply = iterated(m, frame, node, more, "quiet", None)
    if supply is not None:
        _summarise(m, base, supply())


def append(m: Machine, base: ListValue, value: Value) -> None:
    """``base.append(value)``."""
    n = base.slots["n"]
    if m.path.loops:
        note_appended(m, base)
    if n is not None and n < 32 and not m.path.loops[m.path.loop_base :]:
        m.journal.write(base.slots, n, value)
        m.journal.write(base.slots, "n", n + 1)
    else:
        _summarise(m, base, value)


Method = Callable[[Machine, Frame, Any, Value, tuple[Value, ...], dict[str, Value]], Value]


def list_method(m: Machine, frame: Frame, node: Any, base: ListValue, name: str, args: tuple[Value, ...]) -> Value:
    """A method of a list."""
    if name == "append" and args:
        append(m, base, args[0])
        return NONE
    if name == "extend" and args:
        extend_list(m, frame, base, args[0], node)
        return NONE
    if name in ("pop", "clear", "remove", "popleft"):
        note_shortened(m, base)
    if name == "insert" and len(args) == 2:
        _summarise(m, base, args[1])
        return NONE
    if name == "pop":
        known = base.known()
        if (
            known
            and (not args or (isinstance(args[0], Const) and args[0].value in (-1, 0)))
            and not m.path.loops[m.path.loop_base :]
        ):
            first = bool(args) and isinstance(args[0], Const) and args[0].value == 0
            taken = known[0] if first else known[-1]
            left = known[1:] if first else known[:-1]
            for i, v in enumerate(left):
                m.journal.write(base.slots, i, v)
            m.journal.write(base.slots, "n", len(left))
            return taken
        element = freshen(joining.any_element(base))
        if known:
            _summarise(m, base, element)
        return element
    if name in ("copy",):
        known = base.known()
        return (
            ListValue(known, born=m.path.mode.trace)
            if known is not None
            else ListValue(None, joining.any_element(base), born=m.path.mode.trace)
        )
    if name in ("index", "count"):
        return Static("int")
    if name in ("clear", "remove", "sort", "reverse"):
        if base.slots["n"]:
            _summarise(m, base, joining.any_element(base))
        return NONE
    return Unknown("list method")


def dict_method(
    m: Machine, frame: Frame, node: Any, base: DictValue, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """A method of a dict."""
    items = list(base.items())
    rest = base.slots.get("*")
    values = [v for _, v in items] + ([rest] if rest is not None else [])
    closed = not base.slots["open"] and rest is None
    if name == "items":
        pairs = tuple(TupleValue((Const(k), v)) for k, v in items)
        if closed:
            return ListValue(pairs, is_tuple=True)
        element = TupleValue(
            (Static("str", guess=True), joining.join_all(values) if values and rest is not None else Unknown("value"))
        )
        return GeneratorValue(element)
    if name == "keys":
        return (
            ListValue(tuple(Const(k) for k, _ in items), is_tuple=True)
            if closed
            else ListValue(None, Static("str", guess=True), is_tuple=True)
        )
    if name == "values":
        if closed:
            return ListValue(tuple(v for _, v in items), is_tuple=True)
        return ListValue(None, joining.join_all(values) if rest is not None else Unknown("value"), is_tuple=True)
    if name in ("get", "pop", "setdefault"):
        default = args[1] if len(args) > 1 else NONE
        if args and isinstance(args[0], Const):
            found = base.slots.get(("k", args[0].value), MISSING)
            if found is not MISSING:
                if name == "pop":
                    m.journal.write(base.slots, ("k", args[0].value), MISSING)
                return found  # type: ignore[no-any-return]
            if closed:
                if name == "setdefault":
                    m.journal.write(base.slots, ("k", args[0].value), default)
                return default
        if name == "setdefault" and args:
            set_item(m, base, args[0], default)
        if rest is None:
            return Unknown("item")
        return joining.join(freshen(rest), default)
    if name == "update":
        for other in args:
            if isinstance(other, DictValue):
                for k, v in other.items():
                    m.journal.write(base.slots, ("k", k), v)
                if other.slots["open"] or "*" in other.slots:
                    set_item(m, base, Static("str"), other.slots.get("*") or Unknown("value"))
            else:
                set_item(m, base, Static("str"), Tree(other.level) if isinstance(other, Tree) else Unknown("value"))
        for k, v in kwargs.items():
            m.journal.write(base.slots, ("k", k), v)
        return NONE
    if name == "copy":
        return DictValue(dict(items), rest, is_open=base.slots["open"], born=m.path.mode.trace)
    if name == "clear":
        for k, _ in items:
            m.journal.write(base.slots, ("k", k), MISSING)
        return NONE
    if name == "popitem":
        return TupleValue((Static("str", guess=True), joining.join_all(values) if values else Unknown("value")))
    return Unknown("dict method")


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
