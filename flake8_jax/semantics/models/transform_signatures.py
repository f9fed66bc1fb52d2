"""Do transforms fit the functions they are given and the calls of what they return, and are their results taken right?

Vocabulary
----------
reach       at most so many positional arguments a callable takes, through ``partial``, methods and other transforms.
spec        what ``in_axes``, ``out_axes`` or ``out_specs`` say: a pytree, the first layers of the value that it describes.
mismatch    a sentence that says what is wrong; empty where nothing surely is.
product     what a transform returned, remembered by identity, with the form that it has.

A mismatch stands where the transform is applied if no call could be right, or the function's result is what it does not
fit; else at the call. Limitations: sizes of mapped axes, specs of registered classes, results joined from branches.
"""

from __future__ import annotations

from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.knowledge.model import TransformFact
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.classes import find_in_class, is_stub
from flake8_jax.semantics.domain.code import names_read, nodes_around
from flake8_jax.semantics.domain.signatures import (
    call_error,
    constants_of,
    describe,
    in_quotes,
    is_no_function,
    kind_of,
    layers,
    opened,
    takes,
    underlying,
    untransformed,
)
from flake8_jax.semantics.domain.values import (
    Array,
    Const,
    DictValue,
    External,
    FunctionValue,
    HostArray,
    Instance,
    ListValue,
    Room,
    Static,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    known_elements,
)
from flake8_jax.semantics.events.events import TransformMismatch
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.application import Transformation
from flake8_jax.semantics.trackers.products import Product, Products, emit_mismatch, keep_product, short_name

_KEEPING = ("jax.", "equinox.filter_")
"""Transforms whose functions take the arguments that their operands take."""
_MAPPING = frozenset({"jax.vmap", "jax.pmap"})
_SHARDING = frozenset({"jax.shard_map", "jax.experimental.shard_map.shard_map"})
_DERIVATIVES = frozenset({"jax.grad", "jax.value_and_grad", "jax.jacfwd", "jax.jacrev", "jax.hessian"})
_CALLING = frozenset({"jax.vjp", "jax.jvp", "jax.linearize"})
_SCALAR = frozenset({
    "jax.grad", "jax.value_and_grad", "equinox.filter_grad", "equinox.filter_value_and_grad",
    "flax.nnx.grad", "flax.nnx.value_and_grad",
})  # fmt: skip
"""They differentiate functions that return one number."""
_COUNTED_STATICS = {
    "jax.checkpoint": "static_argnums", "jax.make_jaxpr": "static_argnums", "jax.pmap": "static_broadcasted_argnums",
}  # fmt: skip
"""Transforms whose static positions have to be among the arguments of the call (``jit`` checks the signature)."""
_CHECKING = frozenset({"jax.jit", "jax.vmap", "jax.pmap", *_DERIVATIVES})
"""They ask at once whether they were given a function."""
_NUMBERS = ("int", "float", "bool", "complex", "str", "dtype")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _listed(entries: tuple[Value, ...]) -> str:
    return "1 entry" if len(entries) == 1 else f"{len(entries)} entries"


# --- applying -----------------------------------------------------------------------------------------


def reach(value: Value) -> int | None:
    """At most so many positional arguments; None where that is not known or there is no limit."""
    if not _keeps_arguments(value):
        return None
    value, taken, named = opened(value)
    if isinstance(value, Instance) and value.exact:
        found = find_in_class(value.cls, "__call__")
        value, taken = found[1] if found is not None else value, taken + 1
    if not isinstance(value, FunctionValue) or value.altered or any(p.kind == "vararg" for p in value.fn.params):
        return None
    if is_stub(value.fn):
        return None  # what stands in for it may take others
    rest = [p.name for p in value.fn.params if p.kind in ("positional", "posonly")][taken:]
    # Parameters behind one that is bound by name can be given by name only.
    return next((i for i, name in enumerate(rest) if name in named), len(rest))


def _keeps_arguments(value: Value) -> bool:
    """Every transform in the callable takes the arguments that its operand takes."""
    return all(
        layer.name.startswith(_KEEPING) and layer.fact.model in ("wrap", "custom")
        for layer in layers(value)
        if isinstance(layer, TransformedValue)
    )


def check_application(m: Machine, app: Transformation, operand: Value) -> None:
    """A transform is applied to an operand: do its options, which are all that is bound, fit the function?"""
    name = app.name
    if app.node is None or not m.bus.wants(TransformMismatch) or not name.startswith("jax."):
        return
    most = reach(operand)
    problem = _no_function(app, operand) or _wrong_positions(app, most)
    if not problem and name in _MAPPING | _SHARDING:
        problem = _wrong_axes(app, most)
    if problem:
        emit_mismatch(m, app.frame.scope, app.node, name, problem)


def _no_function(app: Transformation, operand: Value) -> str:
    sure = app.name in _CHECKING and is_no_function(operand)
    if not sure or any(isinstance(v, Static) and not v.kind for v in joining.members_of(operand)):
        return ""
    kind = kind_of(operand)
    what = f"is {kind}, which cannot be called" if kind else "cannot be called"
    first = app.node.args[0].value if isinstance(app.node, ir.Call) and app.node.args else None
    advice = "pass the function itself"
    if kind == "a tuple":
        advice = "unpack the tuple and pass its function"
    elif isinstance(first, ir.Call):
        advice = "pass the function without calling it"
    return f"{short_name(app.name)} needs a function, but its first argument {what}; {advice}"


def _wrong_positions(app: Transformation, most: int | None) -> str:
    """``argnums`` and the like: whole numbers, each a position that the function has."""
    derivative = app.name in _DERIVATIVES
    option = (app.fact.differentiates if derivative else _COUNTED_STATICS.get(app.name)) or ""
    value = app.bound.get(option)
    if value is None:
        return ""
    positions = constants_of(value) or []
    if option == app.fact.differentiates:
        problem = _no_positions(value, positions)
        if problem:
            wrong = (
                f"`{option}` of {short_name(app.name)} must be an integer or a tuple of integers, but this {problem}"
            )
            return f"{wrong}; write the positions of the arguments"
    far = [p for p in positions if type(p) is int and most is not None and not -most <= p < most]
    if not far or most is None:
        return ""
    taken = _count(most, "positional argument")
    return f"`{option}` {far[0]} is out of range, because the function takes {taken}; count from 0"


def _no_positions(value: Value, positions: list[Any]) -> str:
    if not all(type(p) is int for p in positions) or positions == [None]:
        return "holds something else"
    return "is None" if _is_none(value) else ""


def _entries(axes: Value | None) -> tuple[Value, ...] | None:
    """One entry for each positional argument, where ``in_axes`` lists them."""
    if isinstance(axes, TupleValue) and axes.cls is not None:
        return None
    return known_elements(axes) if axes is not None else None


def _wrong_axes(app: Transformation, most: int | None) -> str:
    """``in_axes`` and the like: of the right kind, and no more entries than the function has parameters."""
    name, options, option = app.name, app.bound, app.fact.maps_axes or ""
    entries = _entries(options.get(option))
    if name == "jax.vmap":
        top = options.get(option)
        if isinstance(top, DictValue) or any(_is_no_axis(options.get(o)) for o in ("in_axes", "out_axes")):
            wrong = f"`{option}` of {short_name(name)} must be an integer, None or a tuple of them"
            return f"{wrong}; write one such entry for each argument"
    if entries is None or most is None or len(entries) <= most or _has_statics(name, options):
        return ""
    return f"`{option}` has {_listed(entries)}, but the function takes " + (
        f"at most {_count(most, 'positional argument')}; give one entry for each"
    )


def _has_statics(name: str, options: dict[str, Value]) -> bool:
    """Static arguments have no axes, and an entry for them is tolerated."""
    return name in _COUNTED_STATICS and _COUNTED_STATICS[name] in options


def _is_no_axis(spec: Value | None, depth: int = 4) -> bool:
    """The spec, or a leaf of it, surely is neither a whole number nor None."""
    if isinstance(spec, Const):
        return isinstance(spec.value, (str, float, complex))
    if depth and isinstance(spec, DictValue):
        return any(_is_no_axis(item, depth - 1) for _, item in spec.items())
    known = known_elements(spec) if depth and spec is not None else None
    return any(_is_no_axis(entry, depth - 1) for entry in known or ())


def is_sure(m: Machine, tv: TransformedValue) -> bool:
    """The arguments of a call surely go to the transform, with options that are all known."""
    function = underlying(tv.operand)
    altered = isinstance(function, FunctionValue) and function.altered
    return m.trackers[Products].chosen_at != len(m.path.stack) and "**" not in tv.options and not altered


# --- calling ------------------------------------------------------------------------------------------


def check_call(m: Machine, tv: TransformedValue, at: Call) -> bool:
    """What a transform returned is called: do its options fit the arguments? False where it raises before the function runs:
    it misses an argument at a position that its options name, or an axis that it maps over."""
    name, args = tv.name, at.args
    problem = ""
    function = underlying(tv.operand)
    is_open = isinstance(function, FunctionValue) and is_stub(function.fn)  # what stands in for it may take others
    if (name in _DERIVATIVES or name in _COUNTED_STATICS) and not is_open:
        problem = _missing_positions(tv, len(args.values))
    refused = bool(problem)
    plain = name.startswith("jax.") and not problem  # other libraries take arguments of their own
    unsure = not plain or is_open or _is_overridden(m, tv.operand) or _is_of_annotated_object(m, tv.operand, args)
    unbound = "" if unsure else call_error(tv.operand, args)
    if unbound and not _is_chosen_for(at) and not _is_handed_on(at):
        problem = f"{in_quotes(describe(tv.operand).rpartition('<locals>.')[2])} {unbound}"
    if problem or name not in _MAPPING | _SHARDING or _has_statics(name, tv.options):
        if problem:
            emit_mismatch(m, at.frame.scope, at.node, name, problem)
        return not refused
    entries = _entries(tv.options.get(tv.fact.maps_axes or ""))
    if entries is not None and len(entries) != len(args.values):
        _check_entries(m, tv, at, len(entries))
    elif name in _MAPPING:
        problem = _unmapped(tv, args, entries)
        if problem:
            emit_mismatch(m, at.frame.scope, at.node, name, problem)
    return not problem


def _is_chosen_for(at: Call) -> bool:
    """``if len(batch) == 2: f(*batch[:2])`` with ``f`` from the caller: a test of the arguments tells which function came."""
    fn, node = at.frame.fn, at.node
    if fn is None or not isinstance(node, ir.Call) or not isinstance(node.func, ir.Name):
        return False
    if all(parameter.name != node.func.id for parameter in fn.params):
        return False
    given = {name for argument in node.args for name in names_read(argument.value)}
    around = nodes_around(fn.body, node.start, node.end)
    return any(isinstance(one, ir.If) and not given.isdisjoint(names_read(one.test)) for one in around)


_BRANCHES = (ir.If, ir.IfExp, ir.BoolOp, ir.Assert, ir.Try, ir.Match, ir.While)


def _is_handed_on(at: Call) -> bool:
    """``def go(*args): assert len(args) == 2; return f(*args)``: a function hands on whatever it gets, and a branch of it may
    keep arguments back that are too few."""
    fn, node = at.frame.fn, at.node
    if fn is None or not isinstance(node, ir.Call):
        return False
    rest = {p.name for p in fn.params if p.kind in ("vararg", "kwarg")}
    handed = {name for argument in node.args if argument.star for name in names_read(argument.value)}
    if rest.isdisjoint(handed):
        return False
    return any(isinstance(part, _BRANCHES) for statement in fn.body for part in walk(statement))


def _is_of_annotated_object(m: Machine, operand: Value, args: Arguments) -> bool:
    """A method of an object whose class only an annotation says, which proves nothing."""
    function = underlying(operand)
    is_method = isinstance(function, FunctionValue) and function.owner is not None
    receiver = args.values[0] if is_method and args.values else None
    if not isinstance(receiver, Instance) or receiver.exact:
        return False
    return all(link.receiver is not receiver for link in m.path.stack)


def _is_overridden(m: Machine, operand: Value) -> bool:
    function = underlying(operand)
    return isinstance(function, FunctionValue) and m.program.is_overridden(function)


def _check_entries(m: Machine, tv: TransformedValue, at: Call, entries: int) -> None:
    """The call passes another number of arguments than there are axes."""
    count, most = len(at.args.values), reach(tv.operand)
    if most is not None and entries > most:
        return  # reported where it was applied
    listed = _count(entries, "entry").replace("entrys", "entries")
    passed = f"the call passes {_count(count, 'positional argument')}"
    problem = f"`{tv.fact.maps_axes}` has {listed}, but {passed}"
    if most is not None and count <= most and not _takes(tv.operand, entries):
        emit_mismatch(m, tv.site.scope, tv.site, tv.name, f"{problem}; give one entry for each")
        return
    too_many = most is not None and count > most
    advice = f"pass {entries}" if too_many else "give one entry for each"
    emit_mismatch(m, at.frame.scope, at.node, tv.name, f"{problem}; {advice}", tv.site)


def _takes(operand: Value, count: int) -> bool:
    return takes(untransformed(operand), count)


def _missing_positions(tv: TransformedValue, count: int) -> str:
    option = _COUNTED_STATICS.get(tv.name) or tv.fact.differentiates or ""
    positions = constants_of(tv.options.get(option))
    if tv.name in _DERIVATIVES and option not in tv.options and "**" not in tv.options:
        positions = [0]
    most = reach(tv.operand)
    for p in positions or ():
        if type(p) is int and not -count <= p < count and (most is None or -most <= p < most):
            passed = _count(count, "positional argument")
            if not count and option not in tv.options:
                short = short_name(tv.name)
                return (
                    f"{short} differentiates the first positional argument, but this call has none; pass it by position"
                )
            return f"`{option}` of {short_name(tv.name)} is {p}, but the call passes {passed}; pass the arguments by position"
    return ""


def _unmapped(tv: TransformedValue, args: Arguments, entries: tuple[Value, ...] | None) -> str:
    """The arguments of a mapped function: does every one have the axes that it is mapped over?"""
    option = tv.options.get("in_axes")
    hidden = "**" in tv.options
    whole = option if option is not None else Const(0)
    if (option is None and hidden) or (entries is None and not isinstance(whole, Const)):
        return ""
    axes = list(entries) if entries is not None else [whole] * len(args.values)
    for position, (axis, value) in enumerate(zip(axes, args.values), 1):
        problem = spec_mismatch(axis, value, "in_axes", ranks=0)
        if problem and problem.endswith(_NONE_INSTEAD):
            problem = problem.replace("an argument", f"argument {position}")
            if len(args.values) == 1:
                return problem.removesuffix(_NONE_INSTEAD) + "pass an array that has it, or map another axis"
        if problem:
            return problem
    if any(_is_flat(value, 1) for value in args.kwargs.values()):
        return f"{short_name(tv.name)} maps keyword arguments over axis 0, but one is a number; pass it by position with None"
    if not _maps_nothing(tv, args, axes):
        return ""
    return f"{short_name(tv.name)} has no axis to map over, because every entry of `in_axes` is None; map an argument"


def _maps_nothing(tv: TransformedValue, args: Arguments, axes: list[Value]) -> bool:
    """No argument has an axis to map over, and nothing else says how long it is."""
    sized = "axis_size" in tv.options or "**" in tv.options or bool(args.kwargs) or args.double_star is not None
    return bool(axes) and not sized and all(map(_is_none, axes))


def spec_mismatch(
    spec: Value, value: Value, option: str, *, ranks: int | None = None, depth: int = 6, room: Room | None = None
) -> str:
    """What is wrong with a spec for this value. ranks: its leaves are axes that the value has to have, once it has so many
    more than now."""
    room = room if room is not None else Room()
    if isinstance(value, UnionValue):
        found = [spec_mismatch(spec, member, option, ranks=ranks, depth=depth, room=room) for member in value.members]
        return found[0] if found and all(found) else ""
    if isinstance(spec, Const) and ranks is not None:
        return _missing_axis(spec, value, option, ranks)
    if depth == 0 or not isinstance(spec, (TupleValue, ListValue, DictValue)) or not room.enter(spec):
        return ""
    if _other_kind(spec, value):
        return f"`{option}` has a {_kind(spec)} where the value has a {_kind(value)}; give both the same structure"
    pairs, problem = _matched(spec, value, option)
    problems = (spec_mismatch(axis, part, option, ranks=ranks, depth=depth - 1, room=room) for axis, part in pairs)
    return problem or next((problem for problem in problems if problem), "")


def _missing_axis(axis: Const, value: Value, option: str, more: int) -> str:
    if type(axis.value) is not int:
        return ""
    least = (axis.value + 1 if axis.value >= 0 else -axis.value) - more
    what = "a result" if more else "an argument"
    return (
        f"`{option}` maps axis {axis.value} of {what}, which has no such axis; {_NONE_INSTEAD}"
        if _is_flat(value, least)
        else ""
    )


_NONE_INSTEAD = "use None for it"


def _matched(spec: Value, value: Value, option: str) -> tuple[list[tuple[Value, Value]], str]:
    """The parts of a spec, each with the part of the value that it is for; or what is wrong with their number."""
    if isinstance(spec, DictValue) and isinstance(value, DictValue):
        if not (spec.is_closed() and value.is_closed()):
            return [], ""
        left, right = dict(spec.items()), dict(value.items())
        if left.keys() != right.keys():
            return [], f"The keys of `{option}` and of the argument differ; give both the same keys"
        return [(axis, right[key]) for key, axis in left.items()], ""
    mine, its = _plain_elements(spec), _plain_elements(value)
    if mine is None or its is None:
        return [], ""
    if len(mine) != len(its):
        return (
            [],
            f"`{option}` has {len(mine)} entries, but the value has {len(its)} elements; give both the same number",
        )
    return list(zip(mine, its)), ""


def _plain_elements(value: Value) -> tuple[Value, ...] | None:
    """The elements of a sequence that is no named tuple."""
    return None if isinstance(value, TupleValue) and value.cls is not None else known_elements(value)


def _kind(value: Value) -> str:
    """What kind of pytree node a value is; empty where that is not known."""
    if isinstance(value, TupleValue):
        return "tuple"
    if isinstance(value, ListValue):
        return "tuple" if value.is_tuple else "list"
    if isinstance(value, DictValue):
        return "dict"
    if isinstance(value, (Array, HostArray)):
        return "leaf"
    if isinstance(value, Const):
        return "None" if value.value is None else "leaf"
    return ""


def _other_kind(spec: Value, value: Value) -> bool:
    return _kind(value) not in ("", _kind(spec))


def _is_flat(value: Value, least: int, depth: int = 4) -> bool:
    """The value, or a leaf of it, surely is an array of fewer than ``least`` dimensions."""
    if isinstance(value, UnionValue):
        return all(_is_flat(member, least, depth) for member in value.members)
    if isinstance(value, Const):
        return type(value.value) in joining.NUMBERS and least > 0
    if isinstance(value, (Array, HostArray)):
        return _lacks_axes(value, least)
    if depth and isinstance(value, DictValue):
        return any(_is_flat(item, least, depth - 1) for _, item in value.items())
    known = known_elements(value) if depth else None
    return any(_is_flat(element, least, depth - 1) for element in known or ())


def _lacks_axes(value: Array | HostArray, least: int) -> bool:
    """The array surely has fewer than ``least`` dimensions: a rank of 0 may be what an annotation says, ``x: float``."""
    if value.dtype == "key" and isinstance(value, Array):
        return False  # a legacy key is an array of two words
    return 0 < (value.ndim or 0) < least or (least > 0 and _is_reduced(value))


_REDUCING = frozenset(
    {"sum", "mean", "prod", "max", "amax", "std", "var", "nansum", "nanmean", "logsumexp", "norm", "vdot"}
)


def _is_reduced(value: Value, depth: int = 6) -> bool:
    """The value surely is one number: what a reduction leaves, or arithmetic with such numbers."""
    recipe = value.recipe if isinstance(value, Array) and value.ndim == 0 else None
    if recipe is None:
        return False
    if recipe.name in _REDUCING:
        return True
    arrays = [operand for operand in recipe.operands if not isinstance(operand, Const)]
    return bool(depth and arrays) and all(_is_reduced(operand, depth - 1) for operand in arrays)


def check_operands(m: Machine, app: Transformation, operand: Value) -> bool:
    """``jvp(f, primals, tangents)``, ``vjp(f, *primals)`` … : do the arguments fit? Whether they may."""
    args = app.at.args
    if app.name not in _CALLING or app.node is None or not m.bus.wants(TransformMismatch):
        return True
    if args.star is not None or args.unknown_rest:
        return True
    count: int | None = len(args.values) - 1
    problem = ""
    if app.name == "jax.jvp":
        primals, tangents = app.bound.get("primals"), app.bound.get("tangents")
        mine = known_elements(primals) if primals is not None else None
        count = len(mine) if mine is not None else None
        problem = _wrong_pair(primals, tangents)
    if not problem and count is not None and not _takes_all(operand, count):
        passed = _count(count, "argument")
        wrong = f"{short_name(app.name)} passes {passed}, but the function takes another number"
        problem = f"{wrong}; pass one for each of its parameters"
    if problem:
        emit_mismatch(m, app.frame.scope, app.node, app.name, problem)
    return not problem


def _wrong_pair(primals: Value | None, tangents: Value | None) -> str:
    """The arguments of ``jvp``: two tuples of one length."""
    if any(_kind(v) in ("leaf", "dict", "None") for v in (primals, tangents) if v is not None):
        wrong = "`jvp` takes primals and tangents as tuples with one element per argument, not as plain values"
        return f"{wrong}; write (x,) for one argument"
    mine = known_elements(primals) if primals is not None else None
    its = known_elements(tangents) if tangents is not None else None
    if mine is None or its is None or len(mine) == len(its):
        return ""
    return f"`jvp` has {_count(len(mine), 'primal')} but {_count(len(its), 'tangent')}; pass one tangent per primal"


def _takes_all(operand: Value, count: int) -> bool:
    """A function may be called with so many positional arguments and nothing else."""
    most = reach(operand)
    return most is None or (count <= most and _takes(operand, count))


# --- results ------------------------------------------------------------------------------------------


def has_aux(fact: TransformFact, options: dict[str, Value]) -> bool | None:
    """Whether the function returns ``(value, auxiliary)``; None where that is not known."""
    option = options.get(fact.has_aux or "has_aux")
    if option is None:
        return None if "**" in options else False
    return bool(option.value) if isinstance(option, Const) else None


class Applied(msgspec.Struct, frozen=True, eq=False):
    """A transform with its operand and its options, be it called at once or not."""

    name: str
    fact: TransformFact
    operand: Value
    options: dict[str, Value]


def wrong_result(m: Machine, applied: Applied, result: Value) -> str:
    """What the function returned: what keeps it from fitting ``has_aux``, ``out_axes`` or ``out_specs``."""
    if not m.bus.wants(TransformMismatch):
        return ""
    function, name, options = underlying(applied.operand), applied.name, applied.options
    if isinstance(function, FunctionValue) and (function.altered or (_is_none(result) and is_stub(function.fn))):
        return ""  # another definition says what it returns
    if applied.fact.has_aux is not None and (name in _DERIVATIVES or name in _CALLING or name in _SCALAR):
        return _wrong_aux(name, has_aux(applied.fact, options), result)
    if name in _SHARDING and "out_specs" in options:
        return spec_mismatch(options["out_specs"], result, "out_specs")
    return _wrong_out_axes(m, applied, result) if name in _MAPPING else ""


def _wrong_out_axes(m: Machine, applied: Applied, result: Value) -> str:
    option = "out_axes"
    spec = applied.options.get(option)
    if spec is None:
        return ""
    if isinstance(applied.operand, External) and isinstance(spec, Const):
        fact = m.program.knowledge.entry(applied.operand.name).function
        if fact is not None and fact.rank == "number" and not fact.axis_params:
            return _missing_axis(spec, Const(0.0), option, 1)
    return spec_mismatch(spec, result, option, ranks=1)


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _wrong_aux(name: str, aux: bool | None, result: Value) -> str:
    if aux is None:
        return ""
    short = short_name(name)
    if aux and _is_no_pair(result):
        return f"{short} with `has_aux` needs a function that returns (value, aux), but this one does not; return both"
    if name not in _SCALAR:
        return ""
    pair = known_elements(result)
    value = result if not aux else pair[0] if pair is not None and len(pair) == 2 else None
    if value is None or not _is_no_scalar(value):
        return ""
    if not aux and pair is not None and len(pair) == 2:
        return (
            f"{short} needs a scalar result, but the function returns a pair; use has_aux=True to keep the second value"
        )
    if not aux and pair is not None:
        return (
            f"{short} needs a scalar result, but the function returns {len(pair)} values; return the loss alone, or a pair "
            "(loss, the others) with has_aux=True"
        )
    return f"{short} needs a function that returns a scalar, but this one does not; reduce the result, as by jnp.sum"


def _is_no_pair(result: Value) -> bool:
    if isinstance(result, UnionValue):
        return all(_is_no_pair(member) for member in result.members)
    known = known_elements(result)
    if known is not None:
        return len(known) != 2
    if isinstance(result, Static):
        return result.kind in _NUMBERS
    return isinstance(result, (Array, HostArray, Const, DictValue))


def _is_no_scalar(value: Value) -> bool:
    """The value surely is a container, None, or an array of some dimensions."""
    if isinstance(value, UnionValue):
        return all(_is_no_scalar(member) for member in value.members)
    if isinstance(value, (Array, HostArray)):
        return value.ndim is not None and value.ndim > 0
    return isinstance(value, (TupleValue, ListValue, DictValue)) or _is_none(value)


# --- products -----------------------------------------------------------------------------------------

_FORMS = {
    ("value_and_gradient", False): "(value, gradients)",
    ("value_and_gradient", True): "((value, aux), gradients)",
    ("gradient", True): "(gradients, aux)",
    ("vjp", False): "(output, function)",
    ("vjp", True): "(output, function, aux)",
    ("linearize", False): "(output, function)",
    ("linearize", True): "(output, function, aux)",
    ("jvp", False): "(output, tangent)",
    ("jvp", True): "(output, tangent, aux)",
}


def track_product(m: Machine, applied: Applied, made: Value, first: Value | None = None) -> None:
    """Remember what a transform returned, and the scalar in it. first: the first argument of the call."""
    name, fact, options = applied.name, applied.fact, applied.options
    if not m.bus.wants(TransformMismatch) or m.path.mode.presumed:
        return
    aux = has_aux(fact, options)
    if aux is None or name not in _SCALAR | _CALLING:
        return
    form = _FORMS.get((fact.result, aux), "")
    if not isinstance(made, TupleValue) or not form:
        if fact.result == "gradient":
            scalar = fact.differentiates is not None and fact.differentiates not in options and _is_number(first)
            keep_product(m, Product(made, name, "the gradient, which has the structure of the argument", scalar))
        return
    keep_product(m, Product(made, name, f"{form}{', with `has_aux`' if aux else ''}"))
    if fact.result in ("vjp", "linearize"):
        keep_product(m, Product(made.elts[0], name, f"{form}, and this is the output"))
    elif fact.result == "value_and_gradient":
        _track_value(m, name, made.elts[0], aux=aux)


def _track_value(m: Machine, name: str, value: Value, *, aux: bool) -> None:
    """Remember the first element of what ``value_and_grad`` returned."""
    if aux and isinstance(value, TupleValue) and len(value.elts) == 2:
        keep_product(m, Product(value, name, "(value, aux), with `has_aux`"))
        value = value.elts[0]
    if isinstance(value, (Array, Tree, Unknown)):
        keep_product(m, Product(value, name, "one number here", scalar=True))


def _is_number(value: Value | None) -> bool:
    return isinstance(value, Const) and type(value.value) in joining.NUMBERS
