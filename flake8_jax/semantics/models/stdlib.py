"""The standard library's operators, iterators and containers on abstract values: ``operator``, ``itertools``,
``collections``, ``types``.

Vocabulary
----------
getter      what ``operator.itemgetter(k)``, ``attrgetter(name)`` or ``methodcaller(name)`` return: a partial
            application of a function without a public name; here it is named like its maker, ``()`` appended.
row         the elements of some sequences at one position.

Limitations: ``itertools.batched`` and ``compress``, ``collections.Counter`` and ``ChainMap``, iterators that are
half used up.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import (
    NONE,
    BuiltinValue,
    ClassField,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    GeneratorValue,
    ListValue,
    PartialValue,
    Static,
    TupleValue,
    Unknown,
    Value,
    copy_with_new_identity,
    known_elements,
)
from flake8_jax.semantics.interpreter.containers import item_of
from flake8_jax.semantics.interpreter.iteration import IterationMode, iterated
from flake8_jax.semantics.interpreter.operations import call, load_attribute
from flake8_jax.semantics.interpreter.operators import binary, compare, negated, test_truth, unary
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.tables import Handler, library

MAX_ROWS = 16
"""Sequences up to this length are followed element by element."""

_BINARY = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "matmul": "@", "pow": "**",
           "and_": "&", "or_": "|", "xor": "^", "iadd": "+", "imul": "*", "concat": "+"}  # fmt: skip
_COMPARE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "is_": "is", "is_not": "is not"}
_UNARY = {"neg": "-", "pos": "+", "invert": "~", "inv": "~"}


# --- operator -------------------------------------------------------------------------------------------


def _operation(op: str) -> Handler:
    def handler(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
        return binary(m, frame, node, args.values[0], op, args.values[1]) if len(args.values) == 2 else Unknown(op)

    return handler


def _comparison(op: str) -> Handler:
    def handler(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
        return compare(m, frame, node, args.values[0], op, args.values[1]) if len(args.values) == 2 else Unknown(op)

    return handler


def _sign(op: str) -> Handler:
    return lambda m, frame, node, args: unary(m, args.values[0], op) if args.values else Unknown(op)


@library("operator.not_")
def _not(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return Unknown("not")
    test_truth(m, frame, args.values[0], "not", node, node)
    return negated(args.values[0])


@library("operator.contains")
def _contains(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return compare(m, frame, node, args.values[1], "in", args.values[0]) if len(args.values) == 2 else Unknown("in")


@library("operator.getitem")
def _item(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return item_of(m, args.values[0], args.values[1]) if len(args.values) == 2 else Unknown("item")


def _getter(name: str) -> Handler:
    """``itemgetter(k, …)``: a function that waits for its object."""
    return lambda m, frame, node, args: PartialValue(External(name + "()"), tuple(args.values), args.kwargs)


def _got(m: Machine, args: Arguments, read: Callable[[Value, Value], Value]) -> Value:
    """What a getter with these keys, and the object as last argument, gives: one value, or a tuple of several."""
    *keys, base = args.values or [Unknown("getter")]
    found = tuple(read(base, key) for key in keys)
    return found[0] if len(found) == 1 else TupleValue(found) if found else Unknown("getter")


@library("operator.itemgetter()")
def _got_item(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return _got(m, args, lambda base, key: item_of(m, base, key))


@library("operator.attrgetter()")
def _got_attribute(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    def read(base: Value, key: Value) -> Value:
        if not isinstance(key, Const) or not isinstance(key.value, str):
            return Unknown("attribute")
        for name in key.value.split("."):
            base = load_attribute(m, frame, node, base, name)
        return base

    return _got(m, args, read)


@library("operator.methodcaller()")
def _called_method(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) < 2 or not isinstance(args.values[0], Const) or not isinstance(args.values[0].value, str):
        return Unknown("method")
    _name, *passed, base = args.values
    method = load_attribute(m, frame, node, base, args.values[0].value)
    return call(m, frame, node, method, Arguments(list(passed), args.kwargs))


# --- itertools ------------------------------------------------------------------------------------------


def _element(m: Machine, frame: Frame, node: Any, value: Value, how: IterationMode = "map") -> Value | None:
    """The element of one iteration; None if there is none."""
    make_element = iterated(m, frame, node, value, how, None)
    return make_element() if make_element is not None else None


def _short(value: Value) -> tuple[Value, ...] | None:
    """The elements of a short sequence, where they are known one by one."""
    known = known_elements(value)
    return known if known is not None and len(known) <= MAX_ROWS else None


def _sequence(elements: tuple[Value, ...]) -> Value:
    return ListValue(elements, is_tuple=True)


@library("itertools.accumulate")
def _accumulate(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return Unknown("accumulate")
    function = args.values[1] if len(args.values) > 1 else args.kwargs.get("func", External("operator.add"))
    initial = args.kwargs.get("initial", NONE)
    start = () if isinstance(initial, Const) and initial.value is None else (initial,)
    known = _short(args.values[0])
    if known is not None:
        totals: list[Value] = []
        for value in (*start, *known):
            totals.append(call(m, frame, node, function, Arguments([totals[-1], value])) if totals else value)
        return _sequence(tuple(totals))
    element = _element(m, frame, node, args.values[0])
    if element is None:
        return _sequence(start)
    first = start[0] if start else element
    return GeneratorValue(
        joining.join(first, call(m, frame, node, function, Arguments([first, copy_with_new_identity(element)])))
    )


@library("concurrent.futures.ThreadPoolExecutor.map")
def _map_in_threads(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return call(m, frame, node, BuiltinValue("map"), Arguments(args.values, {}, args.nodes, {}, args.star))


@library("itertools.starmap")
def _starmap(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) != 2:
        return Unknown("starmap")
    function, rows = args.values

    def one(row: Value) -> Value:
        parts = known_elements(row)
        arguments = Arguments(list(parts)) if parts is not None else Arguments([], star=Unknown("star"))
        return call(m, frame, node, function, arguments)

    known = _short(rows)
    if known is not None:
        return _sequence(tuple(one(row) for row in known))
    element = _element(m, frame, node, rows)
    return GeneratorValue(one(element)) if element is not None else _sequence(())


@library("itertools.pairwise")
def _pairwise(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return Unknown("pairwise")
    known = _short(args.values[0])
    if known is not None:
        return _sequence(tuple(TupleValue(pair) for pair in itertools.pairwise(known)))
    element = _element(m, frame, node, args.values[0])
    return (
        GeneratorValue(TupleValue((element, copy_with_new_identity(element)))) if element is not None else _sequence(())
    )


@library("itertools.islice", "itertools.cycle")
def _same_elements(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``islice(x, …)``, ``cycle(x)``: some of the elements, in order."""
    element = _element(m, frame, node, args.values[0]) if args.values else Unknown("iterator")
    return GeneratorValue(element) if element is not None else _sequence(())


@library("itertools.combinations", "itertools.permutations", "itertools.combinations_with_replacement")
def _selections(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``combinations(x, r)``, ``permutations(x, r)``: tuples of elements."""
    element = _element(m, frame, node, args.values[0]) if args.values else Unknown("iterator")
    if element is None:
        return _sequence(())
    size = args.values[1] if len(args.values) > 1 else args.kwargs.get("r", NONE)
    if isinstance(size, Const) and type(size.value) is int and 0 < size.value <= MAX_ROWS:
        return GeneratorValue(TupleValue(tuple(copy_with_new_identity(element) for _ in range(size.value))))
    return GeneratorValue(ListValue(None, element, is_tuple=True))


@library("itertools.zip_longest")
def _zip_longest(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    fill = args.kwargs.get("fillvalue", NONE)
    elements = [_element(m, frame, node, value) for value in args.values]
    return GeneratorValue(TupleValue(tuple(fill if e is None else joining.join(e, fill) for e in elements)))


@library("itertools.takewhile", "itertools.dropwhile", "itertools.filterfalse")
def _tested(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``takewhile(f, x)``, ``dropwhile``, ``filterfalse``: the elements, after a test of each."""
    if len(args.values) != 2:
        return Unknown("iterator")
    element = _element(m, frame, node, args.values[1])
    if element is None:
        return _sequence(())
    function = args.values[0]
    answer = element if isinstance(function, Const) else call(m, frame, node, function, Arguments([element]))
    test_truth(m, frame, answer, "filter", node, node)
    return GeneratorValue(element)


@library("itertools.chain.from_iterable")
def _flattened(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    outer = _element(m, frame, node, args.values[0], "no-events") if args.values else Unknown("chain")
    inner = _element(m, frame, node, outer, "no-events") if outer is not None else None
    return GeneratorValue(inner) if inner is not None else _sequence(())


@library("itertools.count")
def _count(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    whole = all(
        (isinstance(v, Const) and type(v.value) is int) or (isinstance(v, Static) and v.kind == "int")
        for v in args.values
    )
    return GeneratorValue(Static("int"), fresh=True) if whole and not args.kwargs else GeneratorValue(Unknown("count"))


@library("itertools.repeat")
def _repeat(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return GeneratorValue(args.values[0]) if args.values else Unknown("repeat")


# --- collections, types ---------------------------------------------------------------------------------


@library("collections.namedtuple", "typing.NamedTuple")
def _namedtuple(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``namedtuple("P", "x y")``, ``NamedTuple("P", [("x", int)])``: a class with those fields."""
    fields = args.values[1] if len(args.values) > 1 else args.kwargs.get("field_names", Unknown("fields"))
    names = _field_names(fields)
    if names is None or not isinstance(node, ir.Call):
        return Unknown("namedtuple")
    called = args.values[0] if args.values else args.kwargs.get("typename")
    label = called.value if isinstance(called, Const) else "namedtuple"
    definition = ir.ClassDef(node.start, node.end, str(label), str(label), [], [], [], node.start)
    made = ClassValue(definition, frame.scope, [], None)
    made.traits.add("namedtuple")
    defaults = known_elements(args.kwargs.get("defaults", TupleValue(()))) or ()
    padded = [None] * (len(names) - len(defaults)) + [*defaults]
    made.fields = [
        ClassField(name, None, default, False, frame.scope) for name, default in zip(names, padded, strict=False)
    ]
    if not m.path.stack:
        m.program.add_class(made)
    return made


def _field_names(fields: Value) -> list[str] | None:
    if isinstance(fields, Const) and isinstance(fields.value, str):
        return fields.value.replace(",", " ").split()
    names: list[str] = []
    for element in known_elements(fields) or (Unknown("fields"),):
        first = element.elts[0] if isinstance(element, TupleValue) and element.elts else element
        if not isinstance(first, Const) or not isinstance(first.value, str):
            return None
        names.append(first.value)
    return names


@library("collections.deque")
def _deque(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values:
        return ListValue((), made_in=m.path.mode.trace)
    known = _short(args.values[0])
    if known is not None and len(args.values) == 1 and "maxlen" not in args.kwargs:
        return ListValue(known, made_in=m.path.mode.trace)
    return ListValue(None, _element(m, frame, node, args.values[0]), made_in=m.path.mode.trace)


@library("collections.defaultdict")
def _default_dict(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    items = dict(args.kwargs.items())
    if len(args.values) > 1 and isinstance(args.values[1], DictValue):
        items = {**dict(args.values[1].items()), **items}
    made = DictValue(items, is_open=True, made_in=m.path.mode.trace)
    if args.values and not isinstance(args.values[0], (Const, Unknown)):
        made.slots["factory"] = args.values[0]
    return made


@library("types.SimpleNamespace")
def _simple_namespace(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if args.values or args.double_star is not None:
        return Unknown("namespace")
    return ExternalInstance("types.SimpleNamespace", dict(args.kwargs), made_in=m.path.mode.trace)


for _name, _op in _BINARY.items():
    library(f"operator.{_name}")(_operation(_op))
for _name, _op in _COMPARE.items():
    library(f"operator.{_name}")(_comparison(_op))
for _name, _op in _UNARY.items():
    library(f"operator.{_name}")(_sign(_op))
for _name in ("itemgetter", "attrgetter", "methodcaller"):
    library(f"operator.{_name}")(_getter(f"operator.{_name}"))
