"""Python's builtins and the methods of builtin values, on abstract values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.dtypes import dtype_class
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.sizes import size_of_method
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    CONCRETE,
    FALSE,
    GRAD,
    NONE,
    TRUE,
    Array,
    AtValue,
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    FunctionValue,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    PartialValue,
    PropertyValue,
    SliceValue,
    Static,
    StaticMethodValue,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    freshen,
    holds_tracer,
    is_host_value,
    is_traced_array,
    known_elements,
)
from flake8_jax.semantics.events.events import Formatting, MethodCall
from flake8_jax.semantics.interpreter.assignment import tell_hash
from flake8_jax.semantics.interpreter.classes import replaced
from flake8_jax.semantics.interpreter.containers import at_update, dict_method, list_method, string_method
from flake8_jax.semantics.interpreter.iteration import iterated, tell_iteration
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.interpreter.operators import as_array, dispatched_from, result_level, test_truth, truth_of
from flake8_jax.semantics.interpreter.types import has_attribute, instance_test
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import CALL
from flake8_jax.semantics.models.emitting import tell_call
from flake8_jax.semantics.trackers.allocations import tell_change, undo_changes
from flake8_jax.semantics.trackers.buffers import read_by_method
from flake8_jax.semantics.trackers.captures import Captures, embed
from flake8_jax.semantics.trackers.freshness import note_kept
from flake8_jax.semantics.trackers.globals import note_contents
from flake8_jax.semantics.trackers.reads import Reads
from flake8_jax.semantics.trackers.recipes import note_method, pass_tangent, tell_wide_dtype
from flake8_jax.semantics.trackers.steps import TrainingSteps, keep
from flake8_jax.semantics.trackers.unrolling import least_trips, note_variety, trips_of
from flake8_jax.semantics.trackers.variation import Variations, vary_builtin, vary_method

MAX_UNROLLED = 16


def call_builtin(m: Machine, func: BuiltinValue, at: Call) -> Value:
    """Call a builtin, or a method of a builtin value."""
    if func.bound is not None:
        return _method(m, at.frame, at.node, func.name.lstrip("."), func.bound, at.args, used=at.used)
    tell_call(m, at.frame, at.node, "builtins." + func.name, at.args, None, used=at.used)
    handler = _HANDLERS.get(func.name)
    if handler is None:
        return Unknown(func.name)
    result = handler(m, at.frame, at.node, at.args)
    return (
        vary_builtin(m, func.name, at.args.values, result) if m.trackers[Variations].known or m.path.loops else result
    )


# --- builtins -----------------------------------------------------------------------------------------


def _cast(kind: str) -> Callable[[Machine, Frame, Any, Arguments], Value]:
    def handler(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
        value = args.values[0] if args.values else Const(0)
        if isinstance(value, Const) and len(args.values) == 1:
            return _cast_constant(kind, value.value)
        if isinstance(value, Unknown):
            return Static(kind)
        return Static(kind)

    return handler


def _cast_constant(kind: str, value: Any) -> Value:
    try:
        if kind == "int" and isinstance(value, (int, float, str, bool)):
            return Const(int(value))
        if kind == "float" and isinstance(value, (int, float, str, bool)):
            return Const(float(value))
        if kind == "bool":
            return Const(bool(value))
    except (ValueError, OverflowError):
        return Unknown("cast")
    return Static(kind)


def _bool(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    truth = truth_of(args.values[0]) if args.values else False
    if truth is not None:
        return Const(truth)
    value = args.values[0]
    return Unknown("bool", host_test=True) if isinstance(value, Unknown) and value.host_test else Static("bool")


def _str(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    value = args.values[0] if args.values else Const("")
    if isinstance(value, Const) and isinstance(value.value, str):
        return value
    if isinstance(value, Instance):
        from flake8_jax.semantics.interpreter.expressions import shown

        is_repr = isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id != "str"
        return shown(m, frame, node, value, "__repr__" if is_repr else "__str__")
    if m.path.loops and m.path.mode.compiled and type(value) is Static:
        note_variety(m)
    return Static("str", (value,) if isinstance(value, (Array, Tree)) else ())


def _len(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return Static("int")
    value = args.values[0]
    known = known_elements(value)
    if known is not None:
        return Const(len(known))
    if isinstance(value, Const) and isinstance(value.value, str):
        return Const(len(value.value))
    if isinstance(value, Array) and value.length is not None:
        return Const(value.length)
    if isinstance(value, Instance):
        from flake8_jax.semantics.interpreter.operations import call_method

        return call_method(m, frame, node, value, "__len__") or Static("int")
    return Static("int")


def _range(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    constants = [v.value if isinstance(v, Const) and isinstance(v.value, int) else None for v in args.values]
    if constants and None not in constants and len(constants) <= 3 and (len(constants) < 3 or constants[2] != 0):
        numbers = range(*constants)  # type: ignore[arg-type]
        if len(numbers) == 0:
            return TupleValue(())
        if len(numbers) <= 4:
            return ListValue(tuple(Const(i) for i in numbers), is_tuple=True)
        return GeneratorValue(Static("int"), fresh=True, some=True, numbers=numbers, count=len(numbers))
    return GeneratorValue(Static("int"), fresh=True)


def _isinstance(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) != 2:
        return Static("bool")
    answer = instance_test(m, args.values[0], args.values[1])
    if answer is None:
        value = args.values[0]
        if isinstance(value, (Unknown, Tree, Static, HostArray, UnionValue, Array, Instance)):
            return Unknown("isinstance", host_test=True)
        return Static("bool")
    return TRUE if answer else FALSE


def _hasattr(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) == 2 and isinstance(args.values[1], Const):
        answer = has_attribute(m, args.values[0], str(args.values[1].value))
        if answer is not None:
            return TRUE if answer else FALSE
    return Unknown("hasattr", host_test=True)


def _callable(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    value = args.values[0] if args.values else NONE
    if isinstance(value, (FunctionValue, BoundMethod, TransformedValue, PartialValue, ClassValue, BuiltinValue)):
        return TRUE
    if isinstance(value, (Array, Const, Static, TupleValue, ListValue, DictValue, HostArray)):
        return FALSE if not (isinstance(value, Static) and value.kind == "") else Unknown("callable", host_test=True)
    return Unknown("callable", host_test=True)


def _getattr(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    from flake8_jax.semantics.interpreter.operations import load_attribute

    if len(args.values) >= 2 and isinstance(args.values[1], Const) and isinstance(args.values[1].value, str):
        found = load_attribute(m, frame, node, args.values[0], args.values[1].value)
        if len(args.values) == 3 and isinstance(found, Unknown):
            return Unknown("getattr", host_test=True)
        return found
    return Unknown("getattr")


def _setattr(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    from flake8_jax.semantics.interpreter.attributes import tell_attribute

    if len(args.values) == 3 and isinstance(args.values[0], Instance):
        if isinstance(args.values[1], Const) and isinstance(args.values[1].value, str):
            if m.path.mode.staged:
                tell_attribute(m, frame, node, args.values[0], args.values[1].value, args.values[2])
            m.journal.write(args.values[0].slots, args.values[1].value, args.values[2])
    if len(args.values) == 3:
        note_kept(m, args.values[2])
    return NONE


def _zip(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    known = [known_elements(v) for v in args.values]
    if args.values and all(k is not None for k in known) and not args.star:
        rows = list(zip(*[k for k in known if k is not None], strict=False))
        if len(rows) <= MAX_UNROLLED:
            return ListValue(tuple(TupleValue(tuple(r)) for r in rows), is_tuple=True)
    elements: list[Value] = []
    lengths = [len(k) if k is not None else getattr(v, "length", None) for k, v in zip(known, args.values, strict=True)]
    shortest = min((n for n in lengths if n is not None), default=None)
    for i, value in enumerate(args.values):
        at = args.nodes[i] if i < len(args.nodes) else None
        at = at if at is not None else node
        tell_iteration(m, frame, at, value, "zip", shortest)
        supply = iterated(m, frame, at, value, "quiet", None)
        if supply is None:
            return TupleValue(())
        elements.append(supply())
    if args.star is not None:
        return GeneratorValue(Unknown("zip"))
    first = args.values[0] if args.values else None
    counts = isinstance(first, GeneratorValue) and first.fresh and isinstance(elements[0], Static)
    return GeneratorValue(TupleValue(tuple(elements)), fresh=counts, count=least_trips(args.values))


def _enumerate(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return GeneratorValue(Unknown("enumerate"))
    known = known_elements(args.values[0])
    if known is not None and len(known) <= MAX_UNROLLED and len(args.values) == 1 and not args.kwargs:
        return ListValue(tuple(TupleValue((Const(i), v)) for i, v in enumerate(known)), is_tuple=True)
    at = args.nodes[0] if args.nodes else None
    supply = iterated(m, frame, at if at is not None else node, args.values[0], "enumerate", None)
    if supply is None:
        return TupleValue(())
    return GeneratorValue(TupleValue((Static("int"), supply())), fresh=True, count=trips_of(args.values[0]))


def _map(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) < 2:
        return GeneratorValue(Unknown("map"))
    function, sequences = args.values[0], args.values[1:]
    known = [known_elements(v) for v in sequences]
    if all(k is not None for k in known):
        rows = list(zip(*[k for k in known if k is not None], strict=False))
        if len(rows) <= MAX_UNROLLED:
            return ListValue(tuple(call(m, frame, node, function, Arguments(list(r))) for r in rows))
    elements: list[Value] = []
    for i, value in enumerate(sequences):
        at = args.nodes[i + 1] if i + 1 < len(args.nodes) else None
        supply = iterated(m, frame, at if at is not None else node, value, "map", None)
        if supply is None:
            return TupleValue(())
        elements.append(supply())
    return GeneratorValue(call(m, frame, node, function, Arguments(elements)))


def _filter(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) == 2:
        supply = iterated(m, frame, node, args.values[1], "map", None)
        if supply is not None:
            element = supply()
            result = (
                element
                if isinstance(args.values[0], Const)
                else call(m, frame, node, args.values[0], Arguments([element]))
            )
            test_truth(m, frame, result, "filter", node, node)
            return GeneratorValue(element)
    return GeneratorValue(Unknown("filter"))


def _to_list(m: Machine, frame: Frame, node: Any, args: Arguments, *, is_tuple: bool) -> Value:
    if not args.values:
        return TupleValue(()) if is_tuple else ListValue((), born=m.path.mode.trace)
    known = known_elements(args.values[0])
    if isinstance(args.values[0], DictValue) and args.values[0].is_closed():
        known = tuple(Const(k) for k, _ in args.values[0].items())
    if known is not None:
        return TupleValue(known) if is_tuple else ListValue(known, born=m.path.mode.trace)
    if isinstance(args.values[0], Static) and args.values[0].kind == "shape":
        return Static("shape")
    supply = iterated(
        m, frame, args.nodes[0] if args.nodes and args.nodes[0] is not None else node, args.values[0],
        "index" if node is m.path.index else "list", None,
    )  # fmt: skip
    if supply is None:
        return TupleValue(()) if is_tuple else ListValue((), born=m.path.mode.trace)
    return ListValue(None, supply(), is_tuple=is_tuple, born=m.path.mode.trace)


def _list(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return _to_list(m, frame, node, args, is_tuple=False)


def _tuple(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return _to_list(m, frame, node, args, is_tuple=True)


def _dict(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    items: dict[Any, Value] = {}
    rest: Value | None = None
    is_open = args.double_star is not None
    if args.values:
        source = args.values[0]
        if isinstance(source, DictValue):
            items.update(source.items())
            is_open = is_open or source.slots["open"]
            rest = source.slots.get("*")
        elif isinstance(source, ListValue) and source.known() is not None:
            for pair in source.known() or ():
                if isinstance(pair, TupleValue) and len(pair.elts) == 2 and isinstance(pair.elts[0], Const):
                    items[pair.elts[0].value] = pair.elts[1]
                else:
                    is_open, rest = True, Unknown("item")
        else:
            is_open = True
            supply = iterated(m, frame, node, source, "quiet", None)
            element = supply() if supply is not None else None
            rest = element.elts[1] if isinstance(element, TupleValue) and len(element.elts) == 2 else Unknown("item")
    items.update(args.kwargs)
    return DictValue(items, rest, is_open=is_open, born=m.path.mode.trace)


def _tell_order(m: Machine, frame: Frame, node: Any, name: str, args: Arguments) -> None:
    """What ``sorted(x, key=f)``, ``max(…, key=f)`` and ``x.sort(…)`` compare: the elements, or their keys."""
    key = args.kwargs.get("key", NONE)
    compared = args.values[0] if len(args.values) == 1 else TupleValue(tuple(args.values))
    if not isinstance(key, Const):
        known = known_elements(compared)
        if known is not None and len(known) <= MAX_UNROLLED:
            compared = TupleValue(tuple(call(m, frame, node, key, Arguments([v])) for v in known))
        else:
            supply = iterated(m, frame, node, compared, "quiet", None)
            if supply is None:
                return
            compared = ListValue(None, call(m, frame, node, key, Arguments([supply()])))
    elif isinstance(node, ir.Call) and isinstance(node.func, ir.Name):
        return  # told when the builtin was called
    tell_call(m, frame, node, "builtins." + name, Arguments([compared]), None, used=True)


def _extremum(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if "key" in args.kwargs:
        name = node.func.id if isinstance(node, ir.Call) and isinstance(node.func, ir.Name) else "max"
        _tell_order(m, frame, node, name if name in ("max", "min") else "max", args)
    values = list(args.values)
    if len(values) == 1:
        known = known_elements(values[0])
        if known is None:
            supply = iterated(m, frame, node, values[0], "quiet", None)
            return supply() if supply is not None else Unknown("max")
        values = list(known)
    if values and all(isinstance(v, Const) and type(v.value) in (int, float) for v in values):
        name = node.func.id if isinstance(node, ir.Call) and isinstance(node.func, ir.Name) else "max"
        numbers = [v.value for v in values if isinstance(v, Const)]
        return Const(min(numbers) if name == "min" else max(numbers))
    return joining.join_all(values) if values else Unknown("max")


def _sum(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    from flake8_jax.semantics.interpreter.operators import binary

    if not args.values:
        return Unknown("sum")
    supply = iterated(m, frame, node, args.values[0], "quiet", None)
    start = args.values[1] if len(args.values) > 1 else args.kwargs.get("start", Const(0))
    if supply is None:
        return start
    element = supply()
    if isinstance(element, Unknown):
        return Unknown("sum")
    return binary(m, frame, node, Static("int") if isinstance(start, Const) else start, "+", element)


def _same_kind(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return Unknown("builtin")
    value = args.values[0]
    if isinstance(value, (Array, Tree)):
        return Array(result_level(m, args.values), getattr(value, "dtype", ""), getattr(value, "ndim", None))
    return (
        value if isinstance(value, (Static, HostArray)) else Static("") if is_host_value(value) else Unknown("builtin")
    )


def _divmod(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    one = _same_kind(m, frame, node, args)
    return TupleValue((one, freshen(one)))


def _sorted(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return Unknown("sorted")
    _tell_order(m, frame, node, "sorted", args)
    if isinstance(args.values[0], (Array, Tree)) and args.values[0].level == ABSTRACT:
        return ListValue(
            None, boundary.element_of_axis(args.values[0]), born=m.path.mode.trace
        )  # comparing raises already
    listed = _to_list(m, frame, node, Arguments(args.values[:1]), is_tuple=False)
    known = known_elements(listed)
    if known is None or len(known) < 2:
        return listed
    constants = [v.value for v in known if isinstance(v, Const)]
    types = {type(c) for c in constants}
    if len(constants) == len(known) and not args.kwargs and types in ({int}, {float}, {str}):
        return ListValue(tuple(Const(c) for c in sorted(constants)), born=m.path.mode.trace)
    joined = joining.join_all(known)  # in which order, nobody knows
    return ListValue(tuple(freshen(joined) for _ in known), born=m.path.mode.trace)


def _reversed(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    known = known_elements(args.values[0]) if args.values else None
    if known is not None:
        return ListValue(tuple(reversed(known)), is_tuple=True)
    return (
        args.values[0]
        if args.values and isinstance(args.values[0], (GeneratorValue, ListValue))
        else _to_list(m, frame, node, args, is_tuple=True)
    )


def _next(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return Unknown("next")
    value = args.values[0]
    if isinstance(value, GeneratorValue):
        tell_change(m, frame, node, "next", value, None)
    if isinstance(value, Instance):
        from flake8_jax.semantics.interpreter.operations import call_method

        return call_method(m, frame, node, value, "__next__") or Unknown("next")
    supply = iterated(m, frame, node, value, "quiet", None)
    return supply() if supply is not None else Unknown("next")


def _iter(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    value = args.values[0] if args.values else Unknown("iter")
    if isinstance(value, (Array, Tree, Unknown)):
        supply = iterated(m, frame, node, value, "quiet", None)
        return GeneratorValue(supply() if supply is not None else Unknown("iter"), born=m.path.mode.trace)
    if isinstance(value, (ListValue, TupleValue, DictValue, HostArray)) and len(known_elements(value) or ()) != 1:
        supply = iterated(m, frame, node, value, "quiet", None)
        return GeneratorValue(supply(), born=m.path.mode.trace) if supply is not None else value
    return value


def _any_all(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return Static("bool")


def _type(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) == 1 and isinstance(args.values[0], Instance) and args.values[0].exact:
        return args.values[0].cls
    if len(args.values) == 1 and isinstance(args.values[0], TupleValue) and isinstance(args.values[0].cls, ClassValue):
        return args.values[0].cls
    return Unknown("type", host_test=True)


def _format(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) == 2 and isinstance(args.values[0], (Array, Tree)) and holds_tracer(args.values[0], GRAD):
        spec = args.values[1]
        text = spec.value if isinstance(spec, Const) else None
        if text != "" and m.bus.wants(Formatting):
            m.bus.emit(
                Formatting(m.path.context(frame.scope), node, args.values[0], "format-builtin", str(text or "?"))
            )
    return Static("str")


def _property(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return PropertyValue(args.values[0]) if args.values else Unknown("property")


def _static_method(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return StaticMethodValue(args.values[0], to_class=False) if args.values else Unknown("staticmethod")


def _class_method(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return StaticMethodValue(args.values[0], to_class=True) if args.values else Unknown("classmethod")


def _print(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    from flake8_jax.semantics.interpreter.expressions import shown

    for value in args.values:
        if isinstance(value, Instance):
            shown(m, frame, node, value)
    return NONE


def _same(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """A decorator that gives back what it decorates."""
    return args.values[0] if args.values else Unknown("decorator")


def _slice(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    parts: list[Value | None] = [None if isinstance(v, Const) and v.value is None else v for v in args.values]
    if len(parts) == 1:
        return SliceValue(None, parts[0], None)
    return (
        SliceValue(parts[0], parts[1], parts[2] if len(parts) == 3 else None)
        if len(parts) in (2, 3)
        else Unknown("slice")
    )


def _set(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return Static("set", born=m.path.mode.trace)


def _static(kind: str) -> Callable[[Machine, Frame, Any, Arguments], Value]:
    return lambda m, frame, node, args: Static(kind)


_HANDLERS: dict[str, Callable[[Machine, Frame, Any, Arguments], Value]] = {
    "int": _cast("int"), "float": _cast("float"), "complex": _cast("complex"), "bool": _bool, "str": _str, "repr": _str,
    "len": _len, "range": _range, "isinstance": _isinstance, "issubclass": _static("bool"), "hasattr": _hasattr,
    "callable": _callable, "getattr": _getattr, "setattr": _setattr, "zip": _zip, "enumerate": _enumerate, "map": _map,
    "filter": _filter, "list": _list, "tuple": _tuple, "dict": _dict, "set": _set, "frozenset": _static("set"),
    "max": _extremum, "min": _extremum, "sum": _sum, "abs": _same_kind, "round": _same_kind, "pow": _same_kind,
    "divmod": _divmod, "sorted": _sorted, "reversed": _reversed, "next": _next, "iter": _iter, "any": _any_all,
    "all": _any_all, "type": _type, "slice": _slice, "format": _format, "property": _property, "staticmethod": _static_method,
    "classmethod": _class_method, "print": _print, "id": _static("int"), "hash": _static("int"), "ord": _static("int"),
    "chr": _static("str"), "same": _same, "bytes": _static("str"), "ascii": _str, "hex": _static("str"), "bin": _static("str"),
}  # fmt: skip


# --- methods ------------------------------------------------------------------------------------------


def _method(m: Machine, frame: Frame, node: Any, name: str, base: Value, args: Arguments, *, used: bool) -> Value:
    """``base.name(args)`` for a value that is no instance of a project class."""
    if isinstance(base, (ListValue, DictValue)) or (isinstance(base, Static) and base.kind == "set"):
        tell_container_method(m, frame, node, name, base, args)
    if isinstance(base, ListValue):
        if name in ("index", "count") and args.values:
            _tell_list_search(m, frame, node, base, args.values[0])
        if name == "sort":
            _tell_order(m, frame, node, "sorted", Arguments([base], {"key": args.kwargs.get("key", NONE)}))
        return list_method(m, Call(frame, node, args), base, name)
    if isinstance(base, DictValue):
        if name in ("get", "pop", "setdefault") and args.values and args.nodes:
            tell_hash(m, frame, args.nodes[0] or node, args.values[0], "dict-lookup")
        return dict_method(m, Call(frame, node, args), base, name)
    if isinstance(base, AtValue):
        if name == "get":
            inputs = [v for v in (base.base, base.index) if v is not None]
            if m.trackers[Captures].constants:
                embed(m, inputs)
            return Array(result_level(m, inputs), getattr(base.base, "dtype", ""))
        if m.trackers[Captures].constants:
            embed(m, (base.base, *args.values))
        return at_update(m, base, tuple(args.values))
    if isinstance(base, (Array, Tree)):
        return array_method(m, frame, node, name, base, args, used=used)
    if isinstance(base, HostArray):
        if name in ("item", "tolist"):
            return Static("") if name == "item" else ListValue(None, Static(""))
        made = HostArray(base.dtype, size=size_of_method(base, name, args.values))
        vary_method(m, name, base, made)
        return made
    if isinstance(base, TupleValue):
        if name == "_replace":
            return replaced(m, base, args.kwargs)
        if name in ("index", "count"):
            if args.values:
                _tell_list_search(m, frame, node, base, args.values[0])
            return Static("int")
        if name == "_asdict":
            return DictValue(dict(zip(base.names, base.elts, strict=False)), born=m.path.mode.trace)
        return Unknown(name)
    if isinstance(base, Instance) and name == "replace":
        return replaced(m, base, args.kwargs)
    if isinstance(base, (Const, Static)):
        if name == "format" and m.bus.wants(Formatting):
            _format_method(m, frame, node, base, args)
        if isinstance(base, Static) and base.kind not in ("str", ""):
            return Static("")
        held = tuple(v for v in (*args.values, *args.kwargs.values()) if isinstance(v, (Array, Tree)))
        result = string_method(name)
        return Static("str", held) if name == "format" and isinstance(result, Static) else result
    if isinstance(base, TransformedValue):
        from flake8_jax.semantics.models.transforms import transformed_method

        return transformed_method(m, frame, node, base, name, args)
    return Unknown(name)


_PUTTING = frozenset({"append", "extend", "insert", "appendleft", "extendleft", "add", "update", "setdefault"})
_TAKING = frozenset({"pop", "popleft", "popitem", "remove", "discard", "clear"})


def tell_container_method(m: Machine, frame: Frame, node: Any, name: str, base: Value, args: Arguments) -> None:
    """Tell the rules that a list, dict or set is changed that is older than the running trace."""
    if name not in _PUTTING and name not in _TAKING:
        return
    put: Value | None = None
    if name in _PUTTING:
        values = [*(args.values[1:] if name in ("insert", "setdefault") else args.values), *args.kwargs.values()]
        put = values[0] if len(values) == 1 else TupleValue(tuple(values))
        note_kept(m, put)
    if put is not None and m.trackers[TrainingSteps].taken is not None:
        keep(m, put)
    if not m.path.mode.staged:
        if put is not None and name != "setdefault":
            note_contents(m, frame, node, base, put)
    elif put is not None:
        tell_change(m, frame, node, "method", base, put, method=name)
    else:
        undo_changes(m, base)


def _tell_list_search(m: Machine, frame: Frame, node: Any, base: Value, item: Value) -> None:
    """``[1, 2].index(x)`` compares, and asks for the truth of each comparison."""
    elements = known_elements(base) or ()
    if is_traced_array(item) and any(e is not item for e in elements):
        test_truth(m, frame, item, "in", node, node)
    elif not isinstance(item, (Array, Tree, Unknown)):
        traced = [e for e in elements if is_traced_array(e)]
        if traced:
            test_truth(m, frame, traced[0], "in", node, node)


def _format_method(m: Machine, frame: Frame, node: Any, base: Value, args: Arguments) -> None:
    """``"{:.2f}".format(x)``: which field has a spec, and what fills it."""
    import string

    if m.path.loops and m.path.mode.compiled and any(type(v) is Static for v in (*args.values, *args.kwargs.values())):
        note_variety(m)
    if not isinstance(base, Const) or not isinstance(base.value, str):
        return
    position = 0
    try:
        fields = list(string.Formatter().parse(base.value))
    except ValueError:
        return
    for _text, name, spec, conversion in fields:
        if name is None:
            continue
        value: Value | None = None
        if name == "":
            value = args.values[position] if position < len(args.values) else None
            position += 1
        elif name.isdigit():
            value = args.values[int(name)] if int(name) < len(args.values) else None
        elif name.isidentifier():
            value = args.kwargs.get(name)
        if spec and not conversion and isinstance(value, (Array, Tree)) and holds_tracer(value, GRAD):
            m.bus.emit(Formatting(m.path.context(frame.scope), node, value, "format-method", spec))


_HOST_RESULTS = {"item": "", "tolist": ""}


def array_method(
    m: Machine, frame: Frame, node: Any, name: str, base: Array | Tree, args: Arguments, *, used: bool
) -> Value:
    """A method of a JAX array (or of a pytree that must be one, for the method to exist)."""
    from flake8_jax.semantics.interpreter.objects import value_of_descriptor

    facts = m.program.knowledge.class_("jax.Array")
    fact = facts.methods.get(name) if facts is not None else None
    if m.trackers[Reads].matter:
        read_by_method(m, frame, node, base, name)
    if isinstance(base, Tree) and fact is not None and fact.data_dependent and m.program.defines_method(name):
        fact = None  # ``grid.compress(x)``: as likely that class as an array
    rules = m.bus.hearers(MethodCall)
    if rules and isinstance(node, ir.Call):
        # ``x.item()`` makes sense for a lone array only, unless a class of the project has a method of that name.
        alone = fact is not None and fact.sync is not None and not m.program.pytree_with(name)
        m.bus.emit(
            MethodCall(
                m.path.context(frame.scope),
                node,
                as_array(base) if alone else base,
                name,
                tuple(args.values),
                args.kwargs,
                tuple(args.nodes),
                args.keyword_nodes,
                used,
                fact,
            ),
            rules,
        )
    if isinstance(base, Tree) and name in ("items", "keys", "values", "get", "pop", "update", "copy"):
        if name == "items":
            return GeneratorValue(TupleValue((Static("str", guess=True), Tree(base.level))))
        if name == "keys":
            return ListValue(None, Static("str", guess=True), is_tuple=True)
        if name == "values":
            return ListValue(None, Tree(base.level), is_tuple=True)
        if name in ("get", "pop") and args.values:
            from flake8_jax.semantics.interpreter.containers import item_of as take

            found = take(m, base, args.values[0])
            return found if len(args.values) == 1 else Unknown("item")
        return Tree(base.level)
    if name in _HOST_RESULTS:
        return ListValue(None, Static("")) if name == "tolist" else Static("")
    if name == "block_until_ready":
        return base
    level = result_level(m, (base, *args.values, *args.kwargs.values()))
    if m.trackers[Captures].constants:
        embed(m, (base, *args.values))
    dtype = getattr(base, "dtype", "")
    size = size_of_method(base, name, args.values) if isinstance(base, Array) else 0
    if name == "astype":
        target = args.values[0] if args.values else args.kwargs.get("dtype", Unknown("dtype"))
        dtype = dtype_class(target)
        if level == GRAD and dtype in ("int", "bool"):
            level = CONCRETE
        dispatched, derived = dispatched_from(m, (base,)), getattr(base, "derived", "")
        cast = Array(level, dtype, getattr(base, "ndim", None), dispatched=dispatched, derived=derived, size=size)
        tell_wide_dtype(m, frame, node, target, cast)
        pass_tangent(m, cast, (base,))
        if m.trackers[Variations].known:
            vary_method(m, name, base, cast)
        return cast
    if fact is None:
        unknown = Array(level, dispatched=dispatched_from(m, (base,))) if isinstance(base, Array) else Unknown(name)
        pass_tangent(m, unknown, (base,))
        return unknown
    bound: dict[str, Value] = {"self": base}
    for parameter, value in zip([p for p in fact.params if not p.startswith("*")], args.values, strict=False):
        bound[parameter] = value
    bound.update(args.kwargs)
    result = value_of_descriptor(m, fact.returns, level, bound)
    if isinstance(result, Array):
        result.dispatched = result.dispatched or dispatched_from(m, (base, *args.values))
        result.derived = result.derived or getattr(base, "derived", "")
        result.size = size
    if isinstance(result, Array) and result.ndim is None:
        result.ndim = _method_rank(name, base, args)
    note_method(m, frame, node, name, result, base)
    if m.trackers[Variations].known:
        vary_method(m, name, base, result)
    return result


_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "any", "all", "std", "var", "argmax", "argmin", "ptp"})


def _method_rank(name: str, base: Array | Tree, args: Arguments) -> int | None:
    """The rank of a reduction over everything is 0; elementwise methods keep it."""
    if name in _REDUCTIONS and not args.values and "axis" not in args.kwargs and "keepdims" not in args.kwargs:
        return 0
    return None


CALL[BuiltinValue] = call_builtin
