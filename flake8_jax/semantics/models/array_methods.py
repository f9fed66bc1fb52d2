"""The methods of JAX arrays, and of pytrees that must be arrays for the method to exist.

Vocabulary
----------
host result  what ``item`` and ``tolist`` give: the device is done with the array by then.
mapping      a pytree of unknown structure that is used like a dict.
"""

from __future__ import annotations

from collections.abc import Callable

from flake8_jax.core import ir
from flake8_jax.knowledge.model import FunctionFact
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.dtypes import asked_dtype, dtype_class
from flake8_jax.semantics.domain.sizes import size_of_method
from flake8_jax.semantics.domain.values import (
    CONCRETE,
    GRAD,
    Array,
    GeneratorValue,
    HostArray,
    Level,
    ListValue,
    Static,
    Tree,
    TupleValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.events.events import MethodCall
from flake8_jax.semantics.interpreter.containers import item_of
from flake8_jax.semantics.interpreter.objects import value_of_descriptor
from flake8_jax.semantics.interpreter.operators import as_array, dispatched_from, result_level
from flake8_jax.semantics.interpreter.parts import forget_parts
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.array_results import reduced_rank
from flake8_jax.semantics.models.tables import methods_of
from flake8_jax.semantics.trackers.buffers import read_by_method
from flake8_jax.semantics.trackers.call_signatures import CallSignatures
from flake8_jax.semantics.trackers.captures import Captures, embed
from flake8_jax.semantics.trackers.growth import track_method as track_resized
from flake8_jax.semantics.trackers.readiness import track_read
from flake8_jax.semantics.trackers.reads import Reads
from flake8_jax.semantics.trackers.recipes import Asked, emit_wide_dtype, pass_tangent, track_method, track_shaped
from flake8_jax.semantics.trackers.variation import Variations, vary_method


@methods_of(Array, Tree)
def _array_method(m: Machine, base: Array | Tree, name: str, at: Call) -> Value:
    signatures = m.trackers[CallSignatures]
    if type(base) is Array and f"jax.Array.{name}" in signatures.names:
        signatures.check_method(m, f"jax.Array.{name}", base, at)
    facts = m.program.knowledge.class_("jax.Array")
    fact = facts.methods.get(name) if facts is not None else None
    if m.trackers[Reads].matter:
        read_by_method(m, at.frame, at.node, base, name)
    if isinstance(base, Tree) and fact is not None and fact.data_dependent and m.program.defines_method(name):
        fact = None  # ``grid.compress(x)``: as likely that class as an array
    _emit(m, base, name, at, fact)
    given = _GIVEN.get(name)
    if given is not None:
        return given(base)
    if isinstance(base, Tree) and name in _OF_MAPPING:
        return _OF_MAPPING[name](m, base, at.args)
    args = at.args
    level = result_level(m, (base, *args.values, *args.kwargs.values()))
    if m.trackers[Captures].constants:
        embed(m, (base, *args.values))
    result = _result(m, base, name, at, fact, level)
    if m.path.loops:
        track_resized(m, name, base, result)
    if m.trackers[Variations].matter and (fact is not None or name == "astype"):
        vary_method(m, name, base, result)
    return result


def _emit(m: Machine, base: Array | Tree, name: str, at: Call, fact: FunctionFact | None) -> None:
    """Emit the events of the call."""
    _emit_method_call(m, base, name, at, fact)
    if m.path.loops and fact is not None and fact.sync is not None:
        track_read(m, (base,), fact.sync)


def _emit_method_call(m: Machine, base: Array | Tree, name: str, at: Call, fact: FunctionFact | None) -> None:
    rules = m.bus.subscribers(MethodCall)
    if not rules or not isinstance(at.node, ir.Call):
        return
    # ``x.item()`` makes sense for a lone array only, unless a class of the project has a method of that name.
    alone = fact is not None and fact.sync is not None and not m.program.pytree_with(name)
    args = at.args
    m.bus.emit(
        MethodCall(
            m.path.context(at.frame.scope), at.node, as_array(base) if alone else base, name, tuple(args.values),
            args.kwargs, tuple(args.nodes), args.keyword_nodes, at.used, fact,
        ),
        rules,
    )  # fmt: skip


# --- methods that give no array ---------------------------------------------------------------------------


def _leaf(base: Tree) -> Tree:
    """A value of a mapping, under some key."""
    leaf = Tree(base.level)
    leaf.dispatched = dispatched_in(base)
    return leaf


def _items(m: Machine, base: Tree, args: Arguments) -> Value:
    return GeneratorValue(TupleValue((Static("str", guess=True), _leaf(base))))


def _keys(m: Machine, base: Tree, args: Arguments) -> Value:
    return ListValue(None, Static("str", guess=True), is_tuple=True)


def _values(m: Machine, base: Tree, args: Arguments) -> Value:
    return ListValue(None, _leaf(base), is_tuple=True)


def _taken(m: Machine, base: Tree, args: Arguments) -> Value:
    if not args.values:
        return Tree(base.level)
    found = item_of(m, base, args.values[0])
    return found if len(args.values) == 1 else Unknown("item")


def _popped(m: Machine, base: Tree, args: Arguments) -> Value:
    found = _taken(m, base, args)
    forget_parts(m, base)
    return found


def _updated(m: Machine, base: Tree, args: Arguments) -> Value:
    """``update`` of a mapping, or of an object that may give back another one."""
    forget_parts(m, base)
    return Tree(base.level)


def _same_mapping(m: Machine, base: Tree, args: Arguments) -> Value:
    return Tree(base.level)


_OF_MAPPING: dict[str, Callable[[Machine, Tree, Arguments], Value]] = {
    "items": _items,
    "keys": _keys,
    "values": _values,
    "get": _taken,
    "pop": _popped,
    "update": _updated,
    "copy": _same_mapping,
}


def listed(base: Value) -> Value:
    """What ``tolist`` gives: a number for an array without axes, which an array of unknown rank may be."""
    if isinstance(base, Array) and base.ndim == 0:
        return Static("")
    whole = ListValue(None, Static(""))
    has_axes = isinstance(base, (Array, HostArray)) and base.length is not None
    has_axes = has_axes or (isinstance(base, Array) and base.ndim is not None)
    return whole if has_axes else joining.union_of([whole, Static("")])


_GIVEN: dict[str, Callable[[Value], Value]] = {
    "item": lambda base: Static(""),
    "tolist": listed,
    "block_until_ready": lambda base: base,
    "is_ready": lambda base: Static("bool"),
}
"""Methods whose results hang on nothing else."""


# --- methods that give arrays -----------------------------------------------------------------------------


def _result(m: Machine, base: Array | Tree, name: str, at: Call, fact: FunctionFact | None, level: Level) -> Value:
    """The array that a method gives, its arrays at ``level``."""
    if name == "astype":
        return _cast(m, base, at, level)
    if fact is None:
        dispatched, declared = dispatched_from(m, (base,)), isinstance(base, Array) and base.declared
        unknown = Array(level, dispatched=dispatched, declared=declared) if isinstance(base, Array) else Unknown(name)
        pass_tangent(m, unknown, (base,))
        return unknown
    args = at.args
    bound: dict[str, Value] = {"self": base}
    bound.update(zip([p for p in fact.params if not p.startswith("*")], args.values, strict=False))
    bound.update(args.kwargs)
    result = value_of_descriptor(m, fact.returns, level, bound)
    if isinstance(result, Array):
        result.dispatched = result.dispatched or dispatched_from(m, (base, *args.values))
        result.derived = result.derived or getattr(base, "derived", "")
        result.size = size_of_method(base, name, args.values) if isinstance(base, Array) else 0
        if result.ndim is None:
            result.ndim = reduced_rank(base, bound) if name in _REDUCTIONS else None
        dtype = asked_dtype(bound)
        if dtype is not None:
            result.dtype = dtype
        result.declared = isinstance(base, Array) and base.declared
    track_method(m, at.frame, at.node, name, result, (base, *args.values))
    return result


def _cast(m: Machine, base: Array | Tree, at: Call, level: Level) -> Array:
    """``x.astype(dtype)``."""
    args = at.args
    target = args.values[0] if args.values else args.kwargs.get("dtype", Unknown("dtype"))
    dtype = dtype_class(target)
    if level == GRAD and dtype in ("int", "bool"):
        level = CONCRETE
    dispatched, derived = dispatched_from(m, (base,)), getattr(base, "derived", "")
    size = size_of_method(base, "astype", args.values) if isinstance(base, Array) else 0
    cast = Array(level, dtype, getattr(base, "ndim", None), dispatched=dispatched, derived=derived, size=size)
    cast.declared = isinstance(base, Array) and base.declared
    emit_wide_dtype(m, at.frame, at.node, Asked(target, "astype", (base,)), cast)
    pass_tangent(m, cast, (base,))
    track_shaped(m, cast, (base,))
    return cast


_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "any", "all", "std", "var", "argmax", "argmin", "ptp"})
