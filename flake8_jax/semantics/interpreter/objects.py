"""Objects of libraries: what a descriptor of the knowledge tables stands for, attributes of library modules and classes.

Vocabulary
----------
descriptor  a result in the words of the tables: ``array``, ``like(x)``, ``tuple(array, key)``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from flake8_jax.knowledge.model import ClassFact
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.boundary import relevelled
from flake8_jax.semantics.domain.trees import listed_leaves, tree_of
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    CONCRETE,
    FALSE,
    GRAD,
    MAYBE,
    NONE,
    TRUE,
    Array,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    ExternalMethod,
    HostArray,
    Instance,
    Level,
    ListValue,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.axes import SPEC
from flake8_jax.semantics.trackers.freshness import now
from flake8_jax.semantics.trackers.unrolling import track_variety


def _numbers() -> dict[str, Const]:
    """Numbers that libraries have a name for."""
    names = {
        float("nan"): ("nan", "NaN", "NAN"), math.inf: ("inf", "Inf", "PINF", "infty"), -math.inf: ("NINF",),
        math.pi: ("pi",), math.e: ("e",), math.tau: ("tau",),
    }  # fmt: skip
    found: dict[str, Const] = {}
    for number, spellings in names.items():
        value = Const(number)  # one object a number, so that the hash of NaN is one as well
        found |= {f"{module}.{name}": value for module in ("math", "numpy", "jax.numpy") for name in spellings}
    return found


NUMBERS = _numbers()
Bound = dict[str, Value]
"""The arguments of a library function by parameter."""
Parts = tuple[str, ...]
"""What stands in the parentheses of a descriptor."""


def external_attribute(m: Machine, owner: str, attr: str) -> Value:
    """``jax.numpy`` + ``sin``: the canonical library object, or the value of a known constant."""
    found = m.program.library_objects.get((owner, attr))
    if found is not None:
        return found
    if attr == "__name__" and owner in ("numpy", "jax.numpy"):  # ``xp.__name__``: which of the two is it?
        return Const(owner)
    name = m.program.knowledge.canonical(f"{owner}.{attr}")
    if name in NUMBERS:
        return NUMBERS[name]
    descriptor = m.program.knowledge.constant(name)
    if descriptor is not None and descriptor not in ("unknown", "dtype"):
        return value_of_descriptor(m, descriptor, MAYBE, {})
    found = m.program.library_objects[owner, attr] = External(name)
    return found


def library_member(m: Machine, cls: str, attr: str, self_value: Value) -> Value | None:
    """A field or method that a library class gives to its instances and subclasses."""
    seen: set[str] = set()
    todo = [cls]
    while todo:
        name = m.program.knowledge.canonical(todo.pop(0))
        if name in seen:
            continue
        seen.add(name)
        fact = m.program.knowledge.class_(name)
        if fact is None:
            continue
        if attr in fact.methods:
            return ExternalMethod(name, attr, self_value, now(m))
        if attr in fact.fields:
            level = self_value.level if isinstance(self_value, ExternalInstance) else MAYBE
            return value_of_descriptor(m, fact.fields[attr], level, {})
        todo += fact.base
    return None


@functools.lru_cache(maxsize=2048)
def parse_descriptor(text: str) -> tuple[str, tuple[Any, ...]]:
    """``tuple(array, like(x))`` → ``("tuple", (("array", ()), ("like", ("x",))))``."""
    text = text.strip()
    if not text.endswith(")"):
        return text, ()
    head, _, inner = text[:-1].partition("(")
    if head in ("like", "same", "tree_like", "arrays_like", "instance"):
        return head, (inner.strip(),)
    parts: list[str] = []
    depth, start = 0, 0
    for i, c in enumerate(inner):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(inner[start:i])
            start = i + 1
    parts.append(inner[start:])
    return head, tuple(p.strip() for p in parts if p.strip())


def value_of_descriptor(m: Machine, text: str, level: Level, bound: dict[str, Value]) -> Value:
    """The value that a result descriptor describes, its arrays at ``level``."""
    head, parts = parse_descriptor(text)
    make = _DESCRIBED.get(head)
    return make(m, parts, level, bound) if make is not None else Unknown("library")


def _described_collective(m: Machine, parts: Parts, level: Level, bound: Bound) -> Value:
    """A sum over all elements of a vmap is the same in every element: no tracer, if nothing else traces it."""
    return _collective(bound.get(parts[0]), MAYBE if level == ABSTRACT and not m.path.mode.ambient else level)


def _described_discrete(dtype: str) -> Callable[[Machine, Parts, Level, Bound], Value]:
    """An array without a tangent: under ``grad`` alone it is concrete."""
    return lambda m, parts, level, bound: Array(CONCRETE if level == GRAD else level, dtype)


def _described_keys(ndim: int) -> Callable[[Machine, Parts, Level, Bound], Value]:
    return lambda m, parts, level, bound: Array(level if level != GRAD else CONCRETE, "key", ndim)


def _described_static(m: Machine, parts: Parts, level: Level, bound: Bound) -> Value:
    return Const(float(parts[0])) if parts else Static("")


def _described_same(m: Machine, parts: Parts, level: Level, bound: Bound) -> Value:
    found = bound.get(parts[0])
    if isinstance(found, (DictValue, ListValue)):
        return joining.copied(found, m.path.mode.trace)  # ``stop_gradient`` rebuilds the containers of a tree
    return found if found is not None else Unknown("same")


def _described_tree_like(m: Machine, parts: Parts, level: Level, bound: Bound) -> Value:
    found = bound.get(parts[0])
    return relevelled(found, level) if found is not None else Tree(level)


def _described_arrays_like(m: Machine, parts: Parts, level: Level, bound: Bound) -> Value:
    found = bound.get(parts[0])
    return joining.over_arrays(found, lambda v: relevelled(v, level)) if found is not None else Unknown("arrays")


def _described_replaced(m: Machine, parts: Parts, level: Level, bound: Bound) -> Value:
    """The first part with the other arguments for fields; further parts name arguments that are none. It is another object,
    also where all of its known fields are the same."""
    found = bound.get(parts[0])
    changes = {name: value for name, value in bound.items() if name not in parts}
    if found is None:
        return Unknown("replace")
    is_copy = changes or (len(parts) > 1 and isinstance(found, (Instance, ExternalInstance)))
    return replaced(m, found, Arguments([], changes)) if is_copy else found


def _described_instance(m: Machine, parts: Parts, level: Level, bound: Bound) -> Value:
    """An object of a library class; of the project's class, where a class method makes it that the project inherits."""
    cls = bound.get("self")
    if not isinstance(cls, ClassValue):
        return make_instance(m, parts[0], level, given=bound)
    made = Instance(cls, exact=True, made_in=m.path.mode.trace)
    fact = m.program.knowledge.class_(parts[0])
    fields = fact.fields if fact is not None else {}
    own = {f.name for f in cls.fields}
    made.slots.update({name: value for name, value in bound.items() if name in own or name in fields})
    for name, descriptor in fields.items():
        if name not in made.slots:
            made.slots[name] = (
                Unknown(name) if "instance(" in descriptor else value_of_descriptor(m, descriptor, level, {})
            )
    return made


def _described_list(m: Machine, parts: Parts, level: Level, bound: Bound) -> Value:
    return ListValue(None, value_of_descriptor(m, parts[0], level, bound) if parts else Unknown("element"))


def _described_tuple(m: Machine, parts: Parts, level: Level, bound: Bound) -> Value:
    if parts and parts[-1] == "...":
        return ListValue(None, value_of_descriptor(m, parts[0], level, bound), is_tuple=True)
    return TupleValue(tuple(value_of_descriptor(m, p, level, bound) for p in parts))


def _described_unless(m: Machine, parts: Parts, level: Level, bound: Bound) -> Value:
    """The last part describes it where none of the other arguments is given."""
    if any(p in bound for p in parts[:-1]):
        return Unknown("unless")
    return value_of_descriptor(m, parts[-1], level, bound)


def _described_one_or_list(m: Machine, parts: Parts, level: Level, bound: Bound) -> Value:
    return _one_or_list(m, parts[0], level, bound)


_KINDS_OF = {
    "integer": {"int"}, "signedinteger": {"int"}, "unsignedinteger": {"int"}, "floating": {"float"}, "bool_": {"bool"},
    "complexfloating": {"complex"}, "inexact": {"float", "complex"}, "number": {"int", "float", "complex"},
    "prng_key": {"key"},
}  # fmt: skip
"""Which kinds of arrays may be of an abstract dtype, by its name in NumPy and JAX."""
_NARROWER = frozenset({"signedinteger", "unsignedinteger"})


def _described_dtype_test(m: Machine, parts: Parts, level: Level, bound: Bound) -> Value:
    """``issubdtype(x, jnp.integer)``: whether an array of a known kind is of an abstract dtype. Else it is not known."""
    asked, of = (*bound.values(), None, None)[:2]
    name = of.name.rpartition(".")[2] if isinstance(of, External) else ""
    kinds, kind = _KINDS_OF.get(name), asked.dtype if isinstance(asked, Array) else ""
    if not kinds or not kind or (kind in kinds and name in _NARROWER):
        return Unknown("dtype test", host_test=True)
    return TRUE if kind in kinds else FALSE


_DESCRIBED: dict[str, Callable[[Machine, Parts, Level, Bound], Value]] = {
    "array": lambda m, parts, level, bound: Array(level),
    "arrays_like": _described_arrays_like,
    "bool": _described_discrete("bool"),
    "collective": _described_collective,
    "complex": lambda m, parts, level, bound: Array(level, "complex"),
    "dtype": lambda m, parts, level, bound: Static("dtype"),
    "dtype_test": _described_dtype_test,
    "float": lambda m, parts, level, bound: Array(level, "float"),
    "host": lambda m, parts, level, bound: HostArray(),
    "instance": _described_instance,
    "int": _described_discrete("int"),
    "key": _described_keys(0),
    "keys": _described_keys(1),
    "leaves": lambda m, parts, level, bound: listed_leaves(bound.get(parts[0])),
    "like": lambda m, parts, level, bound: _like(bound.get(parts[0]), level),
    "list": _described_list,
    "none": lambda m, parts, level, bound: NONE,
    "one_or_list": _described_one_or_list,
    "reflection": lambda m, parts, level, bound: Unknown("reflection", host_test=True),
    "replaced": _described_replaced,
    "same": _described_same,
    "static": _described_static,
    "tree": lambda m, parts, level, bound: Tree(level),
    "tree_like": _described_tree_like,
    "tree_of": lambda m, parts, level, bound: tree_of(bound.get(parts[0])),
    "tuple": _described_tuple,
    "unless": _described_unless,
}
"""What a descriptor describes, by its head; a head that is not here describes an unknown value."""


def _one_or_list(m: Machine, text: str, level: Level, bound: dict[str, Value]) -> Value:
    """One result for one argument, else a list with one for each."""
    given = next(iter(bound.values()), None)
    count = len(given.elts) if isinstance(given, TupleValue) else len(bound)
    if count == 1:
        return value_of_descriptor(m, text, level, bound)
    made = tuple(value_of_descriptor(m, text, level, bound) for _ in range(count))
    return ListValue(made, made_in=m.path.mode.trace) if made else Unknown("one or several")


def _collective(value: Value | None, level: Level) -> Value:
    """``psum`` and similar functions: like the argument, but a number gives another number (``psum(1, axis)``: the size)."""
    if isinstance(value, UnionValue):
        return joining.union_of([_collective(v, level) for v in value.members])
    if isinstance(value, (Const, Static)):
        kind = value.kind if isinstance(value, Static) else joining.const_kind(value.value)
        return value if isinstance(value, Const) and value.value is None else Static(kind)
    if value is None or isinstance(value, Unknown):
        return Unknown("collective")
    return relevelled(value, level)


def _like(value: Value | None, level: Level) -> Value:
    if isinstance(value, Array):
        if level == GRAD and value.dtype in ("int", "bool"):
            level = CONCRETE
        return Array(level, value.dtype, None)
    if isinstance(value, Const):
        return Array(level, joining.const_kind(value.value) if type(value.value) in joining.NUMBERS else "")
    if isinstance(value, HostArray):
        return Array(level, value.dtype)
    if isinstance(value, Static):
        is_number = value.kind in ("int", "bool", "float", "complex")
        return Array(level, value.kind if is_number else "", 0 if is_number else None)
    return Array(level)


def make_instance(
    m: Machine, cls: str, level: Level, args: Arguments | None = None, given: dict[str, Value] | None = None
) -> Value:
    """An instance of a library class, from constructor arguments where there are any. given: the arguments of another
    function that makes it; those named as a field become that field."""
    fact = m.program.knowledge.class_(cls)
    if m.path.loops and m.path.mode.compiled and fact is not None and "__call__" in fact.methods:
        track_variety(m)
    slots = _given_slots(fact, args, given)
    if cls == SPEC and args is not None and args.star is None:
        slots["entries"] = TupleValue(tuple(args.values))
    if fact is not None and fact.namedtuple and fact.order:
        values = [slots.get(n) or _field(m, cls, n, fact.fields.get(n, "unknown"), level) for n in fact.order]
        return TupleValue(tuple(values), External(cls), tuple(fact.order))
    if fact is not None and fact.pytree:
        for name, descriptor in fact.fields.items():
            if name not in slots:
                nested = "instance(" in descriptor
                slots[name] = Unknown(name) if nested else value_of_descriptor(m, descriptor, level, {})
    made = ExternalInstance(cls, slots, level, made_in=m.path.mode.trace, static_names=_static_names(fact))
    made.exact = args is not None or given is not None
    return made


def _field(m: Machine, cls: str, name: str, descriptor: str, level: Level) -> Value:
    """A field of a NamedTuple of a library. If nothing is known of it, its label says which one it is."""
    unknown = descriptor in ("function", "unknown")
    return Unknown(f"{cls}.{name}") if unknown else value_of_descriptor(m, descriptor, level, {})


def _static_names(fact: ClassFact | None) -> frozenset[str]:
    """The attributes of a library object that are static wherever it goes."""
    return (
        frozenset(name for name, said in fact.fields.items() if said == "static") if fact is not None else frozenset()
    )


def _given_slots(fact: ClassFact | None, args: Arguments | None, given: Bound | None) -> dict[str, Value]:
    """The fields of a library object that arguments say."""
    slots: dict[str, Value] = {}
    if given and fact is not None:
        slots.update({k: v for k, v in given.items() if k in fact.order or k in fact.fields})
    if args is not None:
        order = fact.order if fact is not None else []
        if args.star is not None or args.double_star is not None or args.unknown_rest:
            slots.update({name: Unknown(name) for name in order})
        slots.update(zip(order, args.values, strict=False))
        slots.update(args.kwargs)
    return slots


def replaced(m: Machine, value: Value, args: Arguments) -> Value:
    """``value.replace(**changes)``, ``dataclasses.replace``, ``_replace``; ``args`` are the changes."""
    changes = args.kwargs
    # ``replace(**changes)`` with unknown names may change every field.
    opaque = args.double_star is not None or args.unknown_rest
    if isinstance(value, TupleValue) and value.names:
        elements = tuple(
            changes[n] if n in changes else Unknown(n) if opaque else v
            for n, v in zip(value.names, value.elts, strict=True)
        )
        return TupleValue(elements, value.cls, value.names)
    if isinstance(value, (Instance, ExternalInstance)):
        made: Instance | ExternalInstance
        if isinstance(value, Instance):
            made = Instance(value.cls, exact=value.exact, level=value.level, made_in=m.path.mode.trace)
            made.complete = value.complete
        else:
            made = ExternalInstance(value.cls, None, value.level, m.path.mode.trace, value.static_names)
            made.exact = value.exact
        made.slots.update({n: Unknown(str(n)) for n in value.slots} if opaque else value.slots)
        made.slots.update(changes)
        return made
    if isinstance(value, UnionValue):
        return joining.union_of([replaced(m, v, args) for v in value.members])
    return Unknown("replace")
