"""Calls of library functions and methods of which the knowledge tables hold a fact.

    fact ─► rules hear of the call ─► functions among the arguments run ─► keys, host results, arrays

Vocabulary
----------
described call  such a call, with its arguments by parameter (see ``application``).
descriptor      the small language of results in ``knowledge.model``: ``array``, ``like(x)``, ``tuple(array, int)`` …
key effect      what a function does to a PRNG key: draw from it, split it, derive one from it …
module          an instance of a library class whose methods run the project's own (linen's ``module.apply``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.knowledge.model import FunctionFact
from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.boundary import relevelled
from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.dtypes import asked_dtype
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.sizes import emit_size
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    CONCRETE,
    GRAD,
    MAYBE,
    NONE,
    Array,
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    ExternalMethod,
    FunctionValue,
    HostArray,
    Instance,
    Level,
    ListValue,
    PartialValue,
    Site,
    Static,
    StaticKind,
    TransformedValue,
    Tree,
    TupleValue,
    Unknown,
    Value,
    canonical_key,
    holds_tracer,
    known_elements,
)
from flake8_jax.semantics.events.events import KeyUse
from flake8_jax.semantics.events.facts import SEEDED, STARTING, draws_from
from flake8_jax.semantics.interpreter.attributes import size_attribute
from flake8_jax.semantics.interpreter.classes import apply_class_decorator
from flake8_jax.semantics.interpreter.objects import parse_descriptor, value_of_descriptor
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.interpreter.operators import derived_from, dispatched_from, is_declared, result_level
from flake8_jax.semantics.interpreter.running import call_function_value
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import CALL, PASSED_FUNCTIONS, SPECIAL
from flake8_jax.semantics.models.application import DescribedCall, described
from flake8_jax.semantics.models.array_results import host_length, host_rank, refine, refine_rank
from flake8_jax.semantics.models.emitting import emit_described
from flake8_jax.semantics.models.sizes import emit_float, emit_joined_keys
from flake8_jax.semantics.models.staging import Contract, stage_unknown
from flake8_jax.semantics.trackers.axes import check_collective
from flake8_jax.semantics.trackers.call_signatures import CallSignatures
from flake8_jax.semantics.trackers.captures import Captures, embed
from flake8_jax.semantics.trackers.checkpoint_paths import SAVERS, CheckpointPaths
from flake8_jax.semantics.trackers.contracts import track_method_rule
from flake8_jax.semantics.trackers.equal_keys import track_made
from flake8_jax.semantics.trackers.host_seeds import track_seed
from flake8_jax.semantics.trackers.key_conventions import track_key_given, use_collections, use_start
from flake8_jax.semantics.trackers.key_making import derive_key, made_key, share_like, track_drawn
from flake8_jax.semantics.trackers.key_paths import may_be_key
from flake8_jax.semantics.trackers.key_streams import stream_of
from flake8_jax.semantics.trackers.keys import (
    FOLD,
    Keys,
    Touch,
    Usage,
    use_key,
)
from flake8_jax.semantics.trackers.linen_calls import check_merged, track_statistics
from flake8_jax.semantics.trackers.loaders import track_inherited_loader
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.products import Product, keep_product
from flake8_jax.semantics.trackers.readiness import queued
from flake8_jax.semantics.trackers.recipes import NO_TANGENT, WIDE, Asked, emit_wide_dtype, track_call
from flake8_jax.semantics.trackers.shared_draws import emit_dropout, emit_made_key
from flake8_jax.semantics.trackers.unrolling import track_same, varieties_now
from flake8_jax.semantics.trackers.variation import Variations, vary_call
from flake8_jax.semantics.trackers.versions import ApiUses, track_variables

_NO_ARRAYS = frozenset({"static", "reflection", "dtype", "dtype_test", "unknown"})
_ARRAY_OPERANDS = frozenset(
    {"x", "y", "a", "b", "x1", "x2", "rhs", "lhs", "condition", "pred", "operand", "update", "v"}
)
ARRAY_NAMESPACES = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.")
_JAX_LIBRARIES = ("jax.", "flax.", "optax.", "haiku.", "distrax.", "numpyro.", "equinox.", "rlax.")
_CALLABLES = (FunctionValue, BoundMethod, PartialValue, TransformedValue, Instance)


def given(args: Arguments) -> list[Value]:
    """All arguments of a call."""
    extra = [v for v in (args.star, args.double_star) if v is not None]
    return [*args.values, *args.kwargs.values(), *extra]


def call_fact(m: Machine, name: str, fact: FunctionFact, at: Call, self_value: Value | None = None) -> Value:
    """Call a library function, or a method of ``self_value``, of which a fact is known."""
    app = described(name, fact, at)
    bound = app.bound
    if self_value is not None:
        bound["self"] = self_value
    if fact.impure == "random":
        track_seed(m, name, at.args)
    emit_described(m, app)
    if fact.shape_params:
        emit_float(m, app)
    emit_joined_keys(m, name, at)
    run_function_arguments(m, at.frame, at.node, name, fact, bound)
    if fact.returns == "context":
        return ExternalInstance(name, dict(bound))
    if fact.key_effect is not None:
        key = _key_call(m, app)
        if key is not None:
            return key
    if m.trackers[Presuming].presumption is not None:
        _presume(m, app)
    values = given(at.args) if self_value is None else [self_value, *given(at.args)]
    if fact.axis_name is not None and fact.axis_name in bound:
        check_collective(m, at.frame, at.node, bound[fact.axis_name])
    if app.short in ("ndim", "shape") and fact.returns == "static" and values:
        return size_attribute(values[0], app.short)
    result = _host_result(m, fact, values, bound) if fact.host else _result(m, app, values)
    emit_size(result, name, bound, at.args.values)
    if isinstance(result, HostArray):
        result.length = host_length(name, bound, at.args.values)
        if result.ndim is None:
            result.ndim = host_rank(name, at.args.values, bound)
    if fact.impure == "random" and isinstance(result, ExternalInstance) and m.path.mode.staged and _is_given(bound):
        result.slots[SEEDED] = NONE
    return result


def _is_given(bound: dict[str, Value]) -> bool:
    """There is an argument, and none is None."""
    return bool(bound) and not any(isinstance(v, Const) and v.value is None for v in bound.values())


def _presume(m: Machine, app: DescribedCall) -> None:
    """JAX takes the operands of its functions for arrays, shapes and axes for host values."""
    presumption, fact, bound = m.trackers[Presuming].presumption, app.fact, app.bound
    if presumption is None:
        return
    if app.name.startswith(ARRAY_NAMESPACES) and fact.returns not in _NO_ARRAYS:
        for parameter in fact.params[:3]:
            if parameter in _ARRAY_OPERANDS or parameter == fact.params[0]:
                presumption.mark(bound.get(parameter, NONE))
    for parameter in (*fact.shape_params, *fact.axis_params):
        presumption.deny(bound.get(parameter, NONE))


def _result(m: Machine, app: DescribedCall, values: list[Value]) -> Value:
    """What a function gives that computes where its arguments are."""
    name, fact = app.name, app.fact
    if m.trackers[Captures].constants and fact.returns not in _NO_ARRAYS:
        embed(m, values)
    level = result_level(m, values, library=name.startswith(_JAX_LIBRARIES))
    without_tangent = (level == GRAD or m.path.mode.differentiated) and name in NO_TANGENT
    if without_tangent:
        level = CONCRETE if level == GRAD else level
    result = value_of_descriptor(m, fact.returns, level, app.bound)
    if without_tangent:
        result = relevelled(result, level)
    if isinstance(result, Array):
        _describe_array(m, app, values, result)
    elif isinstance(result, Static) and result.kind == "":
        return Static(_static_kind(app.short))
    return result


def _describe_array(m: Machine, app: DescribedCall, values: list[Value], result: Array) -> None:
    """Give an array what the call says of it, and remember how it was computed."""
    frame, node, bound = app.at.frame, app.at.node, app.bound
    result.dispatched = result.dispatched or dispatched_from(m, values)
    if m.path.loops and not result.dispatched and app.name.startswith(_JAX_LIBRARIES):
        result.dispatched = queued(m)
    refine(result, app)
    result.derived = result.derived or derived_from(values)
    track_call(m, frame, node, app.name, result, bound)
    if app.name.startswith("jax."):
        asked = External(app.name) if app.short in WIDE else bound.get("dtype", bound.get("new_dtype"))
        emit_wide_dtype(m, frame, node, Asked(asked, app.short, values), result)


_INTEGERS = frozenset(
    {"ndim", "size", "axis_size", "device_count", "local_device_count", "process_index", "process_count"}
)
_DTYPES = frozenset({"dtype", "result_type", "promote_types", "canonicalize_dtype"})


def _static_kind(short: str) -> StaticKind:
    """The kind of a host value, by the last part of the name of what gives it."""
    if short == "shape":
        return "shape"
    if short in _INTEGERS:
        return "int"
    if short.startswith(("is", "issub")):
        return "bool"
    return "dtype" if short in _DTYPES else ""


# --- functions of the host --------------------------------------------------------------------------------


_OF_THE_HOST = ("host", "static", "unknown")


def _host_result(m: Machine, fact: FunctionFact, values: list[Value], bound: dict[str, Value]) -> Value:
    """A NumPy-like function: on tracers it dispatches, or raises; else its result is on the host."""
    head, parts = parse_descriptor(fact.returns)
    first = (bound.get(fact.params[0]) if fact.params else None) or next(iter(values), None)
    dispatches = fact.host == "dispatches" and any(isinstance(v, (Array, Tree)) for v in values)
    if dispatches and isinstance(first, Unknown):  # NumPy calls the method of its first argument
        return Unknown("method of an unknown object")
    if dispatches and not isinstance(first, HostArray):
        declared = is_declared(values)  # then they may be NumPy's own, and so is the result
        level = result_level(m, values, library=not declared)
        result = value_of_descriptor(m, fact.returns, level, bound) if head not in _OF_THE_HOST else Array(level)
        if isinstance(result, Array):
            result.declared = declared and level <= MAYBE
            result.dispatched = result.dispatched or dispatched_from(m, values)
            same = m.program.knowledge.entry(fact.equivalent).function if fact.equivalent else None
            refine_rank(result, same.rank if same is not None else "", bound)
        return result
    if fact.host == "static" and head not in ("reflection", "dtype_test"):
        return Static("")
    if fact.host == "converts" and any(holds_tracer(v, GRAD) for v in values):
        return Unknown("raised")
    if head == "unless":
        if any(p in bound for p in parts[:-1]):
            return Unknown(head)
        head, parts = parse_descriptor(parts[-1])
    made = _HOST_VALUES.get(head)
    result = made(head, parts, values) if made is not None else value_of_descriptor(m, fact.returns, CONCRETE, bound)
    dtype = asked_dtype(bound)
    if dtype is not None and isinstance(result, HostArray):
        result.dtype = dtype
    return result


def _host_number(head: str, parts: tuple[Any, ...], values: list[Value]) -> Value:
    """An array of the host; of numbers alone another number."""
    numbers = [v for v in values if isinstance(v, Const) and type(v.value) in (int, float)]
    kind: StaticKind = "int" if head == "int" else "float" if head == "float" else "bool" if head == "bool" else ""
    if values and len(numbers) == len(values) and head != "host":
        return Static(kind or "float")
    return HostArray(kind)


def _host_tuple(head: str, parts: tuple[Any, ...], values: list[Value]) -> Value:
    if parts and parts[-1] != "...":
        return TupleValue(tuple(HostArray() for _ in parts))
    return ListValue(None, HostArray(), is_tuple=True)


_HOST_VALUES: dict[str, Callable[[str, tuple[Any, ...], list[Value]], Value]] = {
    **dict.fromkeys(("array", "int", "float", "bool", "host", "like"), _host_number),
    "static": lambda head, parts, values: Static(""),
    "tuple": _host_tuple,
    "list": lambda head, parts, values: ListValue(None, HostArray()),
}
"""What a function of the host gives, by the head of its descriptor."""


# --- functions among the arguments ------------------------------------------------------------------------


def run_function_arguments(
    m: Machine, frame: Frame, node: Any, name: str, fact: FunctionFact, bound: dict[str, Value]
) -> None:
    """Functions that the library stages or calls, by contract."""
    for parameter in fact.stages:
        operand = bound.get(parameter)
        if operand is not None:
            for member in known_elements(operand) or joining.members_of(operand):
                if isinstance(member, _CALLABLES):
                    stage_unknown(m, frame, node, Contract(name, parameter, member))
    for parameter in fact.schedules:
        operand = bound.get(parameter)
        if isinstance(operand, _CALLABLES):
            stage_unknown(m, frame, node, Contract(name, parameter, operand, leading=(Array(ABSTRACT, "int", 0),)))
    for parameter in fact.calls:
        operand = bound.get(parameter)
        if isinstance(operand, (FunctionValue, BoundMethod, PartialValue)):
            call(m, frame, node, operand, Arguments([], unknown_rest=True))


PASSED_FUNCTIONS.append(run_function_arguments)


# --- keys -------------------------------------------------------------------------------------------------


def _key_call(m: Machine, app: DescribedCall) -> Value | None:
    """Samplers, ``split``, ``fold_in`` …; None where the ordinary result descriptor applies."""
    fact = app.fact
    level = result_level(m, app.bound.values(), library=True)
    if level == GRAD:
        level = CONCRETE
    if fact.key_effect == "make":
        made = made_key(m, app.at.frame.scope, app.at.node, level, _literal_seed(m, app))
        if "impl" not in app.bound:
            track_made(m, app.name, made, app.bound.get("seed"), (app.at.frame.scope, app.at.node))
        return made
    key = app.bound.get(fact.key) if fact.key else None
    effect = _KEY_EFFECTS.get(fact.key_effect or "")
    return effect(m, app, key, level) if key is not None and effect is not None else None


def _literal_seed(m: Machine, app: DescribedCall) -> Const | None:
    """The seed, if it stands in the function itself: a number, or a name that the body binds. A constant of the module was
    chosen for something."""
    seed, node = app.bound.get("seed"), app.nodes.get("seed")
    function = m.path.stack[-1].fn if m.path.stack else None
    if not isinstance(seed, Const) or type(seed.value) is not int:
        return None
    if isinstance(node, ir.Name) and function is not None:
        is_local = node.id in function.local_names and all(p.name != node.id for p in function.params)
        return seed if is_local else None
    return seed if isinstance(node, ir.Constant) else None


def _draw(m: Machine, app: DescribedCall, key: Value, level: Level) -> Value | None:
    fact, at = app.fact, app.at
    draws, stream = fact.key_effect == "consume", stream_of(app.name, app.bound)
    usage = Usage("consume", app.nodes.get(fact.key or ""), app.name, draws, stream)
    for one in _keys_in(key):
        use_key(m, Touch(at.frame, at.node, one), usage)
    _emit_same_call(m, at.frame, at.node, key)
    return None


def _split(m: Machine, app: DescribedCall, key: Value, level: Level) -> Value:
    use_key(m, Touch(app.at.frame, app.at.node, key), Usage("split", app.nodes.get(app.fact.key or "")))
    made = Array(level, "key", 1)
    number = app.bound.get("num")
    if number is None:
        made.length = 2
    elif isinstance(number, Const) and type(number.value) is int:
        made.length = number.value
    elif isinstance(number, TupleValue):
        made.ndim = 1 + len(number.elts)
    share_like(m, key, made)
    boundary.keep_seed(key, made)
    if made.length is not None and app.name.startswith("jax.random."):
        keep_product(m, Product(made, app.name, f"{made.length} key{'' if made.length == 1 else 's'}"))
    return made


def _derive(m: Machine, app: DescribedCall, key: Value, level: Level) -> Value:
    made = derive_key(m, key, app.bound.get("data"))
    made.level = level
    if m.trackers[Keys].conventions:
        usage = Usage("consume", app.nodes.get(app.fact.key or ""), conventional=FOLD)
        use_key(m, Touch(app.at.frame, app.at.node, key), usage)
    return made


def _clone(m: Machine, app: DescribedCall, key: Value, level: Level) -> Value:
    return Array(level, "key", getattr(key, "ndim", None))


_KEY_EFFECTS: dict[str, Callable[[Machine, DescribedCall, Value, Level], Value | None]] = {
    "consume": _draw,
    "initialize": _draw,
    "split": _split,
    "derive": _derive,
    "clone": _clone,
}


def _keys_in(value: Value) -> list[Value]:
    """The keys of an ``rngs`` argument: itself, or the values of a dict."""
    if isinstance(value, DictValue):
        found: list[Value] = []
        for _, v in value.items():
            if v not in found:
                found.append(v)
        return found
    return [value]


def _emit_same_call(m: Machine, frame: Frame, node: Any, key: Value) -> None:
    """One key under two names of one ``rngs`` dict."""
    if not isinstance(key, DictValue) or not m.bus.wants(KeyUse) or m.path.mode.shapes_only:
        return
    seen: dict[Value, str] = {}
    for name, value in key.items():
        canonical = canonical_key(value)
        if may_be_key(value) and isinstance(name, str):
            first = seen.setdefault(canonical, name)
            if first != name:
                site = Site(frame.scope, node.start, node.end)
                event = KeyUse(
                    m.path.context(frame.scope), node, value, "consume", site, "consume", False, "", True, "", None,
                    collections=(first, name),
                )  # fmt: skip
                m.bus.emit(event)
                return


def _track_collection(m: Machine, func: ExternalMethod, at: Call) -> None:
    """``self.make_rng("noise")``: this module draws from a collection of keys."""
    name = at.args.values[0] if at.args.values else at.args.kwargs.get("name")
    if func.name == "make_rng" and isinstance(name, Const) and isinstance(name.value, str):
        m.bus.record_everywhere(draws_from(name.value))


# --- methods of library objects ---------------------------------------------------------------------------


def call_external_method(m: Machine, func: ExternalMethod, at: Call) -> Value:
    """A method that a library class gives to its instances, or to instances of a project subclass."""
    fact = m.program.knowledge.method(func.cls, func.name)
    versions = m.trackers[ApiUses].versions
    if versions is not None and f"{func.cls}.{func.name}" in versions.callees:
        versions.called(m, f"{func.cls}.{func.name}", at)
    signatures = m.trackers[CallSignatures]
    if f"{func.cls}.{func.name}" in signatures.names:
        signatures.check_method(m, f"{func.cls}.{func.name}", func.self_value, at)
    if m.trackers[Presuming].presumption is not None:
        track_method_rule(m, func.cls, func.name, at.args)
    _track_collection(m, func, at)
    emit_made_key(m, func, at)
    if func.cls.startswith("orbax.") and f"{func.cls}.{func.name}" in SAVERS:
        m.trackers[CheckpointPaths].check(m, f"{func.cls}.{func.name}", at)
    if fact is None:
        track_key_given(m, func, at)
        if func.name == "__init__":
            track_inherited_loader(m, at, func.cls, func.self_value)
        return Unknown("method")
    owner, name = m.program.knowledge.class_(func.cls), f"{func.cls}.{func.name}"
    handler = SPECIAL.get(name)
    if handler is not None:
        return handler(m, at.frame, at.node, at.args)
    if isinstance(func.self_value, Instance) and owner is not None and owner.module_methods and "method" in fact.params:
        result = _module_call(m, described(name, fact, Call(at.frame, at.node, at.args)), func.name, func.self_value)
    else:
        result = call_fact(m, name, fact, at, func.self_value)
    track_variables(m, func.cls, func.name, result)
    return result


def _module_call(m: Machine, app: DescribedCall, method: str, module: Instance) -> Value:
    """linen's ``module.apply(variables, *args, method=…)``: ``__call__`` runs with the remaining arguments."""
    bound, at = app.bound, app.at
    emit_described(m, app)
    if app.fact.key_effect is not None:
        _key_call(m, app)
    elif "rngs" in bound:
        _emit_same_call(m, at.frame, at.node, bound["rngs"])
        if method == "apply" and not m.path.mode.shapes_only:
            for one in _keys_in(bound["rngs"]):
                track_drawn(m, one)
            use_collections(m, at, bound["rngs"])
    if method in STARTING:
        use_start(m, at, method, bound.get("rngs"))
    target = _target(module, bound.get("method"))
    result: Value | None = None
    if target is not None:
        setup = find_in_class(module.cls, "setup")
        if setup is not None and isinstance(setup[1], FunctionValue):
            call_function_value(m, at.frame, at.node, setup[1], Arguments([module]))
        before = varieties_now(m)
        mode = m.path.mode
        if method in _INITIALIZING:
            m.path.mode = msgspec.structs.replace(mode, shapes_only=True)
        result = call(m, at.frame, at.node, target, _remaining(app.fact, at.args))
        m.path.mode = mode
        if method == "apply":
            track_same(m, before, next(iter(at.args.values), bound.get("variables")))
    level = result_level(m, given(at.args), library=True)
    if result is None or method not in ("apply", "init_with_output"):
        return value_of_descriptor(m, app.fact.returns, level, bound)
    mutable = bound.get("mutable")
    if method == "apply" and (mutable is None or (isinstance(mutable, Const) and not mutable.value)):
        return result
    return TupleValue((result, Tree(level)))


_INITIALIZING = frozenset({"init", "lazy_init"})
"""Methods that throw the result of ``__call__`` away: what is drawn in there from its own arguments is lost."""


def _target(module: Instance, method: Value | None) -> BoundMethod | None:
    """The method of the module that runs; None where that is not known."""
    if method is None or isinstance(method, Const):
        name = "__call__" if method is None or method.value is None else method.value
        found = find_in_class(module.cls, name) if isinstance(name, str) else None
        return BoundMethod(found[1], module) if found is not None else None
    if isinstance(method, FunctionValue):
        return BoundMethod(method, module)
    return BoundMethod(method.func, module) if isinstance(method, BoundMethod) else None


def _remaining(fact: FunctionFact, args: Arguments) -> Arguments:
    """The arguments that are not the library method's own."""
    own = {p for p in fact.params if not p.startswith("*")}
    leading = next((i for i, p in enumerate(fact.params) if p.startswith("*")), len(fact.params))
    return Arguments(
        args.values[leading:], {k: v for k, v in args.kwargs.items() if k not in own}, args.nodes[leading:],
        {k: v for k, v in args.keyword_nodes.items() if k not in own}, args.star, args.double_star,
    )  # fmt: skip


def call_external_instance(m: Machine, func: ExternalInstance, at: Call) -> Value:
    """Calling a library object: what its ``__call__`` fact says; a decorator with options is applied."""
    fact = m.program.knowledge.method(func.cls, "__call__")
    if fact is not None:
        check_merged(m, func, at)
        track_statistics(m, func, at)
        emit_dropout(m, func, at)
        name = func.cls + ".__call__"
        signatures = m.trackers[CallSignatures]
        if name in signatures.names:
            signatures.check_method(m, name, func, at)
        result = call_fact(m, name, fact, Call(at.frame, at.node, at.args), func)
        if m.trackers[Variations].known:
            vary_call(m, name, at.args.values, {}, result)
        return result
    manager = m.program.knowledge.function(func.cls)
    if manager is not None and manager.returns == "context" and len(at.args.values) == 1:
        return at.args.values[0]  # a context manager as a decorator: the function does what it did
    if at.args.values and isinstance(at.args.values[0], ClassValue):
        options = {k: v for k, v in func.slots.items() if isinstance(v, Value)}
        apply_class_decorator(m, at.args.values[0], func.cls, options)
        return at.args.values[0]
    return Unknown("call")


CALL.update({ExternalMethod: call_external_method, ExternalInstance: call_external_instance})
