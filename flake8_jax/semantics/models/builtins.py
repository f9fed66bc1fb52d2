"""Python's builtins on abstract values.

Vocabulary
----------
row         the elements of some sequences at one position.
make_element what gives the element of one iteration (see ``interpreter.iteration``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import LoopState
from flake8_jax.semantics.domain.tracer_tests import TRACED, class_of, is_answer, quantified
from flake8_jax.semantics.domain.trees import listed_leaves
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    FALSE,
    GRAD,
    NONE,
    TRUE,
    UNKNOWN_RANK,
    Array,
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
    StaticKind,
    StaticMethodValue,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    copy_with_new_identity,
    holds_tracer,
    is_host_value,
    known_elements,
)
from flake8_jax.semantics.events.events import Formatting, IterationKind
from flake8_jax.semantics.events.facts import iterates
from flake8_jax.semantics.interpreter.attributes import emit_attribute
from flake8_jax.semantics.interpreter.containers import set_item
from flake8_jax.semantics.interpreter.expressions import shown
from flake8_jax.semantics.interpreter.iteration import are_functions, emit_iteration, iterated
from flake8_jax.semantics.interpreter.operations import call, call_method, load_attribute
from flake8_jax.semantics.interpreter.operators import (
    binary,
    result_level,
    test_truth,
    truth_of,
)
from flake8_jax.semantics.interpreter.types import asks_for_tracers, has_attribute, instance_test
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import CALL
from flake8_jax.semantics.models.emitting import emit_call
from flake8_jax.semantics.models.tables import BUILTINS, METHODS, builtin, library
from flake8_jax.semantics.trackers.allocations import Change, emit_change, track_made_here
from flake8_jax.semantics.trackers.freshness import track_kept, track_staged_loop
from flake8_jax.semantics.trackers.keys import Keys
from flake8_jax.semantics.trackers.unrolling import least_trips, track_variety, trips_of
from flake8_jax.semantics.trackers.variation import Variations, forget, vary_builtin

MAX_UNROLLED = 16


def call_builtin(m: Machine, func: BuiltinValue, at: Call) -> Value:
    """Call a builtin, or a method of a builtin value."""
    if func.bound is not None:
        name, method = func.name.lstrip("."), METHODS.get(type(func.bound))
        return method(m, func.bound, name, at) if method is not None else Unknown(name)
    emit_call(m, "builtins." + func.name, at)
    handler = BUILTINS.get(func.name)
    if handler is None:
        return Unknown(func.name)
    result = handler(m, at.frame, at.node, at.args)
    if func.name in _ITERATORS:
        track_made_here(m, result)
    return (
        vary_builtin(m, func.name, at.args.values, result) if m.trackers[Variations].known or m.path.loops else result
    )


_ITERATORS = frozenset({"enumerate", "filter", "map", "reversed", "zip"})


# --- conversions and questions ----------------------------------------------------------------------------


def _cast(kind: StaticKind) -> Callable[[Machine, Frame, Any, Arguments], Value]:
    def handler(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
        value = args.values[0] if args.values else Const(0)
        if isinstance(value, Const) and len(args.values) == 1:
            return _cast_constant(kind, value.value)
        return Static(kind)

    return handler


def _cast_constant(kind: StaticKind, value: Any) -> Value:
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


@builtin("bool")
def _bool(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    truth = truth_of(args.values[0]) if args.values else False
    if truth is not None:
        return args.values[0] if args.values and is_answer(args.values[0]) else Const(truth)
    value = args.values[0]
    if isinstance(value, Unknown) and (value.host_test or value.doubt is not None):
        return Unknown("bool", host_test=value.host_test, doubt=value.doubt, untraced=value.untraced)
    return Static("bool")


@builtin("str", "repr", "ascii")
def _str(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    value = args.values[0] if args.values else Const("")
    if isinstance(value, Const) and isinstance(value.value, str):
        return value
    if isinstance(value, Instance):
        is_repr = isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id != "str"
        return shown(m, frame, node, value, "__repr__" if is_repr else "__str__")
    if m.path.loops and m.path.mode.compiled and type(value) is Static:
        track_variety(m)
    return Static("str", (value,) if isinstance(value, (Array, Tree)) else ())


@builtin("len")
def _len(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return Static("int")
    value = args.values[0]
    known = known_elements(value)
    if known is not None:
        return Const(len(known))
    if isinstance(value, Const) and isinstance(value.value, str):
        return Const(len(value.value))
    if isinstance(value, (Array, HostArray)) and value.length is not None:
        return Const(value.length)
    if isinstance(value, Instance):
        return call_method(m, frame, node, value, "__len__") or Static("int")
    if isinstance(value, ListValue) and "filtered" in value.slots:
        return Unknown("len", host_test=True)
    if isinstance(value, Static) and value.kind == "shape" and value.rank is not None:
        return Const(value.rank) if value.rank != UNKNOWN_RANK else Static("int", rank=UNKNOWN_RANK)
    return Static("int")


@builtin("range")
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


@builtin("isinstance")
def _isinstance(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) != 2:
        return Static("bool")
    answer = instance_test(m, args.values[0], args.values[1])
    if answer is None:
        value, asks = args.values[0], asks_for_tracers(args.values[1])
        if asks and isinstance(value, Tree) and value.level >= GRAD:
            return Unknown("isinstance", doubt=False, untraced=False)  # a lone tracer, unless it is a container
        if isinstance(value, (Unknown, Tree, Static, HostArray, UnionValue, Array, Instance)):
            return Unknown("isinstance", host_test=True, untraced=False if asks else None)
        return Static("bool")
    if answer and asks_for_tracers(args.values[1]):
        return TRACED
    return TRUE if answer else FALSE


@builtin("issubclass")
def _issubclass(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    cls = args.values[0] if len(args.values) == 2 else None
    if not isinstance(cls, Unknown) or cls.type_of is None:
        return Static("bool")
    return _isinstance(m, frame, node, Arguments([cls.type_of, args.values[1]]))


@builtin("hasattr")
def _hasattr(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) == 2 and isinstance(args.values[1], Const):
        answer = has_attribute(m, args.values[0], str(args.values[1].value))
        if answer is not None:
            return TRUE if answer else FALSE
    return Unknown("hasattr", host_test=True)


@builtin("callable")
def _callable(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    value = args.values[0] if args.values else NONE
    if isinstance(value, (FunctionValue, BoundMethod, TransformedValue, PartialValue, ClassValue, BuiltinValue)):
        return TRUE
    if isinstance(value, (Array, Const, Static, TupleValue, ListValue, DictValue, HostArray)):
        return FALSE if not (isinstance(value, Static) and value.kind == "") else Unknown("callable", host_test=True)
    return Unknown("callable", host_test=True)


@builtin("getattr")
def _getattr(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) >= 2 and isinstance(args.values[1], Const) and isinstance(args.values[1].value, str):
        found = load_attribute(m, frame, node, args.values[0], args.values[1].value)
        if len(args.values) == 3 and isinstance(found, Unknown):
            return Unknown("getattr", host_test=True)
        return found
    return Unknown("getattr")


@builtin("setattr")
def _setattr(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) == 3 and isinstance(args.values[0], Instance):
        if isinstance(args.values[1], Const) and isinstance(args.values[1].value, str):
            if m.path.mode.staged:
                change = Change(frame, node, "attribute", args.values[0], args.values[2], args.values[1].value)
                emit_attribute(m, change)
            m.journal.write(args.values[0].slots, args.values[1].value, args.values[2])
    if len(args.values) == 3:
        track_kept(m, args.values[2])
    return NONE


@builtin("zip")
def _zip(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    rows = _rows(m, args.values) if args.values and args.star is None else None
    if rows is not None:
        return ListValue(tuple(TupleValue(row) for row in rows), is_tuple=True)
    lengths = [_length(value) for value in args.values]
    shortest = min((n for n in lengths if n is not None), default=None)
    elements: list[Value] = []
    for i, value in enumerate(args.values):
        at = _written(args, i, node)
        emit_iteration(m, frame, at, value, "zip", shortest)
        make_element = iterated(m, frame, at, value, "no-events", None)
        if make_element is None:
            return TupleValue(())
        elements.append(make_element())
    if args.star is not None:
        return GeneratorValue(Unknown("zip"))
    first = args.values[0] if args.values else None
    counts = isinstance(first, GeneratorValue) and first.fresh and isinstance(elements[0], Static)
    return GeneratorValue(TupleValue(tuple(elements)), fresh=counts, count=least_trips(args.values))


def _is_few(m: Machine, elements: Sequence[Value]) -> bool:
    return len(elements) <= MAX_UNROLLED or are_functions(m, tuple(elements))


def _rows(m: Machine, sequences: list[Value]) -> list[tuple[Value, ...]] | None:
    """The rows of sequences whose elements are all known, if they are few."""
    known = [elements for elements in map(known_elements, sequences) if elements is not None]
    rows = list(zip(*known, strict=False)) if len(known) == len(sequences) else None
    return rows if rows is not None and _is_few(m, [TupleValue(row) for row in rows]) else None


def _length(value: Value) -> int | None:
    known = known_elements(value)
    return len(known) if known is not None else getattr(value, "length", None)


def _written(args: Arguments, position: int, node: Any) -> Any:
    """The IR of an argument; ``node``, that of the call, if there is none."""
    found = args.nodes[position] if position < len(args.nodes) else None
    return found if found is not None else node


@builtin("enumerate")
def _enumerate(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return GeneratorValue(Unknown("enumerate"))
    known = known_elements(args.values[0])
    if known is not None and _is_few(m, known) and len(args.values) == 1 and not args.kwargs:
        return ListValue(tuple(TupleValue((Const(i), v)) for i, v in enumerate(known)), is_tuple=True)
    make_element = iterated(m, frame, _written(args, 0, node), args.values[0], "enumerate", None)
    if make_element is None:
        return TupleValue(())
    return GeneratorValue(TupleValue((Static("int"), make_element())), fresh=True, count=trips_of(args.values[0]))


@builtin("map")
def _map(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) < 2:
        return GeneratorValue(Unknown("map"))
    function, sequences = args.values[0], args.values[1:]
    rows = _rows(m, sequences)
    if rows is not None:
        return ListValue(tuple(call(m, frame, node, function, Arguments(list(row))) for row in rows))
    elements: list[Value] = []
    for i, value in enumerate(sequences):
        make_element = iterated(m, frame, _written(args, i + 1, node), value, "map", None)
        if make_element is None:
            return TupleValue(())
        elements.append(make_element())
    return GeneratorValue(repeated(m, Call(frame, node, args), function, elements))


def repeated(m: Machine, at: Call, function: Value, elements: list[Value]) -> Value:
    """What a function gives that a call such as ``map(function, rows)`` makes again and again. elements: its arguments."""
    frame, node, loop = at.frame, at.node, LoopState("map", at.node, at.frame.scope)
    m.trackers.loop_enter(frame, loop)
    m.path.loops.append(loop)
    m.trackers.iteration(loop)
    track_staged_loop(m, node)
    mark, reports = len(m.journal.entries), len(m.bus.emissions)
    given = call(m, frame, node, function, Arguments([*elements]))
    if any(slots is m.trackers[Keys].uses for slots, _, _ in m.journal.entries[mark:]):
        # A key was used: a second call shows whether it is the same one again.
        del m.bus.emissions[reports:]
        m.trackers.iteration(loop)
        given = call(m, frame, node, function, Arguments([joining.another(element) for element in elements]))
    m.path.loops.pop()
    if m.trackers[Variations].known:
        m.bus.record_everywhere(iterates(loop))
        forget(m, loop)
    m.trackers.loop_leave(frame, loop, _written(at.args, 1, node), least_trips(at.args.values[1:]))
    return given


@builtin("filter")
def _filter(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) == 2:
        make_element = iterated(m, frame, node, args.values[1], "map", None)
        if make_element is not None:
            element = make_element()
            result = (
                element
                if isinstance(args.values[0], Const)
                else call(m, frame, node, args.values[0], Arguments([element]))
            )
            test_truth(m, frame, result, "filter", node, node)
            kept_untraced = isinstance(result, Unknown) and result.untraced is True and m.path.mode.staged
            drops_all = truth_of(result) is False
            return GeneratorValue(Unknown("no tracer") if kept_untraced or drops_all else element)
    return GeneratorValue(Unknown("filter"))


def _to_list(m: Machine, frame: Frame, node: Any, args: Arguments, *, is_tuple: bool) -> Value:
    if not args.values:
        return TupleValue(()) if is_tuple else ListValue((), made_in=m.path.mode.trace)
    known = known_elements(args.values[0])
    if isinstance(args.values[0], DictValue) and args.values[0].is_closed():
        known = tuple(Const(k) for k, _ in args.values[0].items())
    if known is not None:
        return TupleValue(known) if is_tuple else ListValue(known, made_in=m.path.mode.trace)
    if isinstance(args.values[0], Static) and args.values[0].kind == "shape":
        return Static("shape")
    how: IterationKind = "index" if node is m.path.index else "list"
    make_element = iterated(m, frame, _written(args, 0, node), args.values[0], how, None)
    if make_element is None:
        return TupleValue(()) if is_tuple else ListValue((), made_in=m.path.mode.trace)
    return ListValue(None, make_element(), is_tuple=is_tuple, made_in=m.path.mode.trace)


@builtin("list")
def _list(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return _to_list(m, frame, node, args, is_tuple=False)


@builtin("tuple")
def _tuple(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return _to_list(m, frame, node, args, is_tuple=True)


@builtin("dict")
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
            make_element = iterated(m, frame, node, source, "no-events", None)
            element = make_element() if make_element is not None else None
            rest = element.elts[1] if isinstance(element, TupleValue) and len(element.elts) == 2 else Unknown("item")
    items.update(args.kwargs)
    return DictValue(items, rest, is_open=is_open, made_in=m.path.mode.trace)


def emit_order(m: Machine, frame: Frame, node: Any, name: str, args: Arguments) -> None:
    """What ``sorted(x, key=f)``, ``max(…, key=f)`` and ``x.sort(…)`` compare: the elements, or their keys."""
    key = args.kwargs.get("key", NONE)
    compared = args.values[0] if len(args.values) == 1 else TupleValue(tuple(args.values))
    if not isinstance(key, Const):
        known = known_elements(compared)
        if known is not None and len(known) <= MAX_UNROLLED:
            compared = TupleValue(tuple(call(m, frame, node, key, Arguments([v])) for v in known))
        else:
            make_element = iterated(m, frame, node, compared, "no-events", None)
            if make_element is None:
                return
            compared = ListValue(None, call(m, frame, node, key, Arguments([make_element()])))
    elif isinstance(node, ir.Call) and isinstance(node.func, ir.Name):
        return  # reported when the builtin was called
    emit_call(m, "builtins." + name, Call(frame, node, Arguments([compared])))


@builtin("max", "min")
def _extremum(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    called = node.func.id if isinstance(node, ir.Call) and isinstance(node.func, ir.Name) else "max"
    if "key" in args.kwargs:
        emit_order(m, frame, node, called if called in ("max", "min") else "max", args)
    values = list(args.values)
    if len(values) == 1:
        known = known_elements(values[0])
        if known is None:
            make_element = iterated(m, frame, node, values[0], "no-events", None)
            return make_element() if make_element is not None else Unknown("max")
        values = list(known)
    numbers = [v.value for v in values if isinstance(v, Const) and type(v.value) in (int, float)]
    if values and len(numbers) == len(values):
        return Const(min(numbers) if called == "min" else max(numbers))
    return joining.join_all(values) if values else Unknown("max")


@builtin("sum")
def _sum(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return Unknown("sum")
    make_element = iterated(m, frame, node, args.values[0], "no-events", None)
    start = args.values[1] if len(args.values) > 1 else args.kwargs.get("start", Const(0))
    if make_element is None:
        return start
    element = make_element()
    if isinstance(element, Unknown) or is_answer(element):
        return Unknown("sum", host_test=is_answer(element))
    return binary(m, frame, node, Static("int") if isinstance(start, Const) else start, "+", element)


@builtin("abs", "round", "pow")
def _same_kind(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return Unknown("builtin")
    value = args.values[0]
    if isinstance(value, (Array, Tree)):
        return Array(result_level(m, args.values), getattr(value, "dtype", ""), getattr(value, "ndim", None))
    return (
        value if isinstance(value, (Static, HostArray)) else Static("") if is_host_value(value) else Unknown("builtin")
    )


@builtin("divmod")
def _divmod(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    one = _same_kind(m, frame, node, args)
    return TupleValue((one, copy_with_new_identity(one)))


@builtin("sorted")
def _sorted(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return Unknown("sorted")
    emit_order(m, frame, node, "sorted", args)
    if isinstance(args.values[0], (Array, Tree)) and args.values[0].level == ABSTRACT:
        return ListValue(
            None, boundary.element_of_axis(args.values[0]), made_in=m.path.mode.trace
        )  # comparing raises already
    listed = _to_list(m, frame, node, Arguments(args.values[:1]), is_tuple=False)
    known = known_elements(listed)
    if known is None or len(known) < 2:
        return listed
    constants = [v.value for v in known if isinstance(v, Const)]
    types = {type(c) for c in constants}
    if len(constants) == len(known) and not args.kwargs and types in ({int}, {float}, {str}):
        return ListValue(tuple(Const(c) for c in sorted(constants)), made_in=m.path.mode.trace)
    joined = joining.join_all(known)  # the order is not known
    return ListValue(tuple(copy_with_new_identity(joined) for _ in known), made_in=m.path.mode.trace)


@builtin("reversed")
def _reversed(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    known = known_elements(args.values[0]) if args.values else None
    if known is not None:
        return ListValue(tuple(reversed(known)), is_tuple=True)
    return (
        args.values[0]
        if args.values and isinstance(args.values[0], (GeneratorValue, ListValue))
        else _to_list(m, frame, node, args, is_tuple=True)
    )


@builtin("next")
def _next(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return Unknown("next")
    value = args.values[0]
    if isinstance(value, (GeneratorValue, ListValue)):  # one of a list's elements: what a library gives of a short one
        emit_change(m, Change(frame, node, "next", value, None))
    elif isinstance(value, Unknown) and isinstance(node, ir.Call):
        _emit_captured(m, frame, node)
    if isinstance(value, Instance):
        return call_method(m, frame, node, value, "__next__") or Unknown("next")
    make_element = iterated(m, frame, node, value, "no-events", None)
    return make_element() if make_element is not None else Unknown("next")


def _emit_captured(m: Machine, frame: Frame, node: ir.Call) -> None:
    """``next(batches)``: whatever the variable of an outer scope holds, it was made there."""
    argument = node.args[0].value if node.args else None
    if not isinstance(argument, ir.Name) or not m.path.mode.staged:
        return
    holder: Frame | None = frame
    while holder is not None and argument.id not in holder.slots:
        holder = holder.parent
    if holder is not None or argument.id in frame.scope.slots:
        made_in = holder.trace if holder is not None else 0
        emit_change(m, Change(frame, node, "next", None, None, argument.id, made_in=made_in))


@builtin("iter")
def _iter(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    value = args.values[0] if args.values else Unknown("iter")
    if isinstance(value, Instance) and len(args.values) == 1:
        return call_method(m, frame, node, value, "__iter__") or value
    if isinstance(value, (Array, Tree, Unknown)):
        make_element = iterated(m, frame, node, value, "no-events", None)
        return GeneratorValue(
            make_element() if make_element is not None else Unknown("iter"), made_in=m.path.mode.trace
        )
    if isinstance(value, (ListValue, TupleValue, DictValue, HostArray)) and len(known_elements(value) or ()) != 1:
        make_element = iterated(m, frame, node, value, "no-events", None)
        return GeneratorValue(make_element(), made_in=m.path.mode.trace) if make_element is not None else value
    return value


@builtin("any")
def _any(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return _quantified(args, settling=True)


@builtin("all")
def _all(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return _quantified(args, settling=False)


@library("jax.tree.all")
def _all_leaves(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    leaves = listed_leaves(args.values[0]) if args.values else Unknown("leaves")
    return _quantified(Arguments([leaves]), settling=False)


def _quantified(args: Arguments, *, settling: bool) -> Value:
    """``any`` and ``all``. settling: as in ``tracer_tests.quantified``."""
    value = args.values[0] if args.values else None
    known = known_elements(value) if value is not None else None
    if known is not None:
        truths = [truth_of(element) for element in known]
        if settling in truths:
            return Const(settling)
        unknown = [element for element, truth in zip(known, truths, strict=True) if truth is None]
        return quantified(unknown, settling=settling) if unknown else Const(not settling)
    if isinstance(value, Unknown):
        return quantified([value], settling=settling)
    if not isinstance(value, (GeneratorValue, ListValue)):
        return Static("bool")
    element = value.element if isinstance(value, GeneratorValue) else joining.any_element(value)
    truth = truth_of(element)
    if truth is None:
        return quantified([element], settling=settling)
    if truth is not settling:
        return Const(truth)
    is_some = isinstance(value, GeneratorValue) and value.some
    return Const(truth) if is_some else Unknown("quantified", doubt=not settling)  # unless there is no element


@builtin("type")
def _type(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) == 1 and isinstance(args.values[0], Instance) and args.values[0].exact:
        return args.values[0].cls
    if len(args.values) == 1 and isinstance(args.values[0], TupleValue) and isinstance(args.values[0].cls, ClassValue):
        return args.values[0].cls
    return class_of(args.values[0]) if len(args.values) == 1 else Unknown("type", host_test=True)


@builtin("format")
def _format(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) == 2 and isinstance(args.values[0], (Array, Tree)) and holds_tracer(args.values[0], GRAD):
        spec = args.values[1]
        text = spec.value if isinstance(spec, Const) else None
        if text != "" and m.bus.wants(Formatting):
            m.bus.emit(
                Formatting(m.path.context(frame.scope), node, args.values[0], "format-builtin", str(text or "?"))
            )
    return Static("str")


@builtin("property")
def _property(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return PropertyValue(args.values[0]) if args.values else Unknown("property")


@builtin("staticmethod")
def _static_method(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return StaticMethodValue(args.values[0], to_class=False) if args.values else Unknown("staticmethod")


@builtin("classmethod")
def _class_method(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return StaticMethodValue(args.values[0], to_class=True) if args.values else Unknown("classmethod")


@builtin("print")
def _print(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    for value in args.values:
        if isinstance(value, Instance):
            shown(m, frame, node, value)
    return NONE


@builtin("exec", "eval")
def _run_text(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """Code in a text may bind any name in the namespaces that it is given."""
    for namespace in args.values[1:]:
        set_item(m, namespace, Unknown("name"), Unknown("bound by text"))
    return Unknown("run")


@builtin("same")
def _same(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """A decorator that gives back what it decorates."""
    return args.values[0] if args.values else Unknown("decorator")


@builtin("slice")
def _slice(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    parts: list[Value | None] = [None if isinstance(v, Const) and v.value is None else v for v in args.values]
    if len(parts) == 1:
        return SliceValue(None, parts[0], None)
    return (
        SliceValue(parts[0], parts[1], parts[2] if len(parts) == 3 else None)
        if len(parts) in (2, 3)
        else Unknown("slice")
    )


@builtin("set")
def _set(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return Static("set", made_in=m.path.mode.trace)


def _static(kind: StaticKind) -> Callable[[Machine, Frame, Any, Arguments], Value]:
    return lambda m, frame, node, args: Static(kind)


for _kind in ("int", "float", "complex"):
    builtin(_kind)(_cast(_kind))
_STATIC: dict[StaticKind, tuple[str, ...]] = {
    "int": ("id", "hash", "ord"),
    "str": ("chr", "bytes", "hex", "bin"),
    "set": ("frozenset",),
}
for _given, _names in _STATIC.items():
    builtin(*_names)(_static(_given))
CALL[BuiltinValue] = call_builtin
