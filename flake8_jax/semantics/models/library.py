"""Calls of library code, by what the knowledge tables say of it.

Vocabulary
----------
descriptor  the small language of results in ``knowledge.model``: ``array``, ``like(x)``, ``tuple(array, int)`` …
bound       arguments by the library function's parameter names.

A call that the tables do not know gives an unknown result and has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flake8_jax.core import ir
from flake8_jax.knowledge.model import ClassFact, FunctionFact
from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.arguments import Arguments, Call, bind_parameters
from flake8_jax.semantics.domain.boundary import note_rows, relevelled
from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.dtypes import dtype_class
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.sizes import tell_size
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
    ListValue,
    PartialValue,
    Site,
    Static,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    canonical_key,
    holds_tracer,
    known_elements,
)
from flake8_jax.semantics.events.events import KeyUse
from flake8_jax.semantics.interpreter.classes import apply_class_decorator
from flake8_jax.semantics.interpreter.objects import make_instance, parse_descriptor, value_of_descriptor
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.interpreter.operators import derived_from, dispatched_from, result_level
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import CALL, PASSED_FUNCTIONS
from flake8_jax.semantics.models.emitting import tell_call
from flake8_jax.semantics.models.staging import stage_unknown
from flake8_jax.semantics.models.transforms import apply_transform
from flake8_jax.semantics.trackers.axes import check_collective, check_spec
from flake8_jax.semantics.trackers.captures import Captures, embed
from flake8_jax.semantics.trackers.clocks import CLOCKS, read_clock
from flake8_jax.semantics.trackers.keys import derive_key, made_key, may_be_key, note_drawn, share_like, use_key
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.process import STARTED, TAKEN, Process, note_library_call, note_spawn
from flake8_jax.semantics.trackers.recipes import NO_TANGENT, WIDE, note_call, tell_wide_dtype
from flake8_jax.semantics.trackers.variation import Variations, vary_call
from flake8_jax.semantics.trackers.versions import ApiUses

REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "any", "all", "std", "var", "argmax", "argmin", "median",
                        "nansum", "nanmean", "nanmax", "nanmin", "logsumexp", "norm", "amax", "amin", "vdot"})  # fmt: skip
ELEMENTWISE_RANK = frozenset({"exp", "log", "sin", "cos", "tanh", "sqrt", "abs", "square", "sign", "floor", "ceil", "round",
                              "clip", "zeros_like", "ones_like", "isnan", "isfinite", "isinf", "logical_not", "negative",
                              "cumsum", "cumprod", "flip", "sort", "argsort", "roll", "relu", "sigmoid", "softmax",
                              "log_softmax", "log1p", "expm1", "rint", "stop_gradient", "invert", "astype"})  # fmt: skip


# --- descriptors --------------------------------------------------------------------------------------


# --- binding ------------------------------------------------------------------------------------------


# --- calls --------------------------------------------------------------------------------------------


def call_external(
    m: Machine, frame: Frame, node: Any, name: str, args: Arguments, *, used: bool = True, decorating: bool = False
) -> Value:
    """Call a library function or class by its canonical name."""
    known = m.program.knowledge.entry(name)
    versions = m.trackers[ApiUses].versions
    if versions is not None and name in versions.callees:
        versions.called(m, frame.scope, node, name, args.values, args.kwargs)
    if known.transform is not None:
        tell_call(m, frame, node, name, args, None, used=used)
        if m.trackers[Captures].constants and known.transform.tracing != "none":
            embed(m, _all(args))
        return apply_transform(m, frame, node, name, known.transform, args, decorating=decorating)
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        from flake8_jax.semantics.trackers.derivative_contracts import note_function_rule

        note_function_rule(m, name, args)
    from flake8_jax.semantics.machine.dispatch import SPECIAL

    special = SPECIAL.get(name)
    fact = known.function
    if special is not None:
        bound, nodes = bind_parameters(fact.params, args) if fact is not None else (args.kwargs, args.keyword_nodes)
        tell_call(m, frame, node, name, args, fact, used=used, bound=bound, bound_nodes=nodes)
        if m.trackers[Captures].constants and name.startswith(_ARRAY_NAMESPACES):
            embed(m, args.values)
        result = special(m, frame, node, args)
        if m.path.loops:
            vary_call(m, name, args.values, bound, result)
        return result
    if fact is not None:
        result = call_fact(m, frame, node, name, fact, args, used=used)
        if m.path.loops:
            vary_call(m, name, args.values, bind_parameters(fact.params, args)[0], result)
        if m.trackers[Process].turns[STARTED] is not TAKEN:
            note_library_call(m, frame, node, name, result)
        if fact.impure is not None:
            note_spawn(m, frame, name)
            if fact.impure == "time" and name in CLOCKS:
                return read_clock(m, frame, node, result)
        return result
    if known.class_ is not None:
        return _construct(m, frame, node, name, known.class_, args, decorating=decorating)
    space = known.namespace
    tell_call(m, frame, node, name, args, None, used=used)
    note_spawn(m, frame, name)
    if space is None:
        return Unknown("library call")
    if space.returns == "unknown":
        return Unknown("library call")
    return value_of_descriptor(m, space.returns, result_level(m, _all(args), library=True), {})


def _all(args: Arguments) -> list[Value]:
    extra = [v for v in (args.star, args.double_star) if v is not None]
    return [*args.values, *args.kwargs.values(), *extra]


def _construct(
    m: Machine, frame: Frame, node: Any, name: str, fact: ClassFact, args: Arguments, *, decorating: bool
) -> Value:
    if fact.decorator:
        if args.values and isinstance(args.values[0], ClassValue):
            options = dict(args.kwargs)
            for option, value in zip(("data_fields", "meta_fields"), args.values[1:], strict=False):
                options[option] = value
            apply_class_decorator(m, args.values[0], name, options)
            return args.values[0]
        return ExternalInstance(name, dict(args.kwargs))
    tell_call(m, frame, node, name, args, None, used=True)
    made = make_instance(m, name, result_level(m, _all(args)), args)
    stage_contracts(m, frame, node, name, fact, made)
    if name == "jax.sharding.NamedSharding" and isinstance(made, ExternalInstance):
        written = args.nodes[1] if len(args.nodes) > 1 else args.keyword_nodes.get("spec")
        check_spec(m, frame, node, made.slots.get("mesh"), made.slots.get("spec"), written)
    return made


def stage_contracts(m: Machine, frame: Frame, node: Any, name: str, fact: ClassFact, made: Value) -> None:
    """Functions handed to a library object that runs them staged (``GradientTransformation(init, update)``)."""
    if not fact.staged_methods:
        return
    fields: dict[str, Any] = {}
    if isinstance(made, TupleValue):
        fields = dict(zip(made.names, made.elts, strict=False))
    elif isinstance(made, (ExternalInstance, Instance)):
        fields = made.slots
    for method in fact.staged_methods:
        operand = fields.get(method)
        if isinstance(operand, (FunctionValue, BoundMethod, PartialValue)):
            parameters = fact.methods[method].params if method in fact.methods else []
            stage_unknown(m, frame, node, name, operand, method, len([p for p in parameters if not p.startswith("*")]))


def call_fact(
    m: Machine, frame: Frame, node: Any, name: str, fact: FunctionFact, args: Arguments, *, used: bool,
    self_value: Value | None = None,
) -> Value:  # fmt: skip
    """Call a library function of which a fact is known."""
    bound, nodes = bind_parameters(fact.params, args)
    if self_value is not None:
        bound["self"] = self_value
    tell_call(m, frame, node, name, args, fact, used=used, bound=bound, bound_nodes=nodes)
    run_function_arguments(m, frame, node, name, fact, bound)
    if fact.returns == "context":
        return ExternalInstance(name, dict(bound))
    if fact.key_effect is not None:
        result = _key_call(m, frame, node, name, fact, bound, nodes)
        if result is not None:
            return result
    presumption = m.trackers[Presuming].presumption
    if presumption is not None and name.startswith(_ARRAY_NAMESPACES) and fact.returns not in _NO_ARRAYS:
        for parameter in fact.params[:3]:
            if parameter in _ARRAY_OPERANDS or parameter == fact.params[0]:
                presumption.mark(bound.get(parameter, NONE))
    if presumption is not None:
        for parameter in (*fact.shape_params, *fact.axis_params):
            presumption.deny(bound.get(parameter, NONE))
    values = _all(args) if self_value is None else [self_value, *_all(args)]
    if "axis_name" in bound and name.startswith("jax.lax."):
        check_collective(m, frame, node, bound["axis_name"])
    if fact.host:
        result = _host_result(m, fact, values, bound)
        tell_size(result, name, bound, args.values)
        return result
    if m.trackers[Captures].constants and fact.returns not in _NO_ARRAYS:
        embed(m, values)
    level = result_level(m, values, library=_is_jax(name))
    without_tangent = (level == GRAD or m.path.mode.differentiated) and name in NO_TANGENT
    if without_tangent:
        level = CONCRETE if level == GRAD else level
    result = value_of_descriptor(m, fact.returns, level, bound)
    if without_tangent:
        result = relevelled(result, level)
    if isinstance(result, Array):
        result.dispatched = result.dispatched or dispatched_from(m, values)
        _refine_array(result, name, fact, bound)
        result.derived = result.derived or derived_from(values)
        note_call(m, frame, node, name, result, bound)
        if name.startswith("jax."):
            asked = External(name) if name.rpartition(".")[2] in WIDE else bound.get("dtype", bound.get("new_dtype"))
            tell_wide_dtype(m, frame, node, asked, result)
    elif isinstance(result, Static) and result.kind == "":
        result = Static(_static_kind(name))
    tell_size(result, name, bound, args.values)
    return result


_NO_ARRAYS = frozenset({"static", "dtype", "unknown"})
_ARRAY_OPERANDS = frozenset(
    {"x", "y", "a", "b", "x1", "x2", "rhs", "lhs", "condition", "pred", "operand", "update", "v"}
)
_ARRAY_NAMESPACES = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.")


def _is_jax(name: str) -> bool:
    return name.startswith(("jax.", "flax.", "optax.", "haiku.", "distrax.", "numpyro.", "equinox.", "rlax."))


def _static_kind(name: str) -> str:
    last = name.rpartition(".")[2]
    if last == "shape":
        return "shape"
    if last in ("ndim", "size", "axis_size", "device_count", "local_device_count", "process_index", "process_count"):
        return "int"
    if last.startswith(("is", "issub")):
        return "bool"
    return "dtype" if last in ("dtype", "result_type", "promote_types", "canonicalize_dtype") else ""


def _refine_array(result: Array, name: str, fact: FunctionFact, bound: dict[str, Value]) -> None:
    """What the arguments say of the dtype and rank of a result."""
    last = name.rpartition(".")[2]
    dtype = bound.get("dtype")
    if dtype is not None and dtype_class(dtype):
        result.dtype = dtype_class(dtype)
        if result.level == GRAD and result.dtype in ("int", "bool"):
            result.level = CONCRETE
    shape = bound.get("shape")
    if shape is not None and "shape" in fact.shape_params:
        if isinstance(shape, TupleValue):
            result.ndim = len(shape.elts)
            if shape.elts and isinstance(shape.elts[0], Const) and type(shape.elts[0].value) is int:
                result.length = shape.elts[0].value
        elif isinstance(shape, Const) and type(shape.value) is int:
            result.ndim, result.length = 1, shape.value
        elif isinstance(shape, Static) and shape.kind == "int":
            result.ndim = 1
    elif last in REDUCTIONS and not any(k in bound for k in ("axis", "keepdims", "axes")):
        result.ndim = 0
    elif last in ELEMENTWISE_RANK:
        first = next(iter(bound.values()), None)
        result.ndim = getattr(first, "ndim", 0 if isinstance(first, (Const, Static)) else None)
    elif last == "arange":
        result.ndim = 1
        ends = [bound.get(p) for p in ("start", "stop") if p in bound]
        known = [end.value for end in ends if isinstance(end, Const) and type(end.value) is int]
        if known and len(known) == len(ends) and "step" not in bound:
            result.length = max(known[-1] - (known[0] if len(known) == 2 else 0), 0)
        if not result.dtype and all(
            (isinstance(v, Const) and type(v.value) is int) or isinstance(v, Static) for v in bound.values()
        ):
            result.dtype = "int"
    elif last in ("asarray", "array"):
        _refine_conversion(result, bound)
    elif last == "where":
        a, b = bound.get("x"), bound.get("y")
        kinds = {_dtype_of(v) for v in (a, b) if v is not None}
        if len(kinds) == 1:
            result.dtype = kinds.pop()


def _dtype_of(value: Value) -> str:
    """The dtype class of an operand; empty where it is not known."""
    if isinstance(value, (Array, HostArray)):
        return value.dtype
    return joining.const_kind(value.value) if isinstance(value, Const) and type(value.value) in joining.NUMBERS else ""


_NUMBER_KINDS = ("bool", "int", "float", "complex")


def _common_kind(elements: Sequence[Value], depth: int = 3) -> str:
    """The dtype class of an array made of numbers, in rows or not; empty where one of them is not known."""
    kinds: set[str] = set()
    for element in elements:
        rows = known_elements(element) if depth and isinstance(element, (TupleValue, ListValue)) else None
        if rows is not None:
            kinds.add(_common_kind(rows, depth - 1))
        else:
            kinds.add(element.kind if isinstance(element, Static) else _dtype_of(element))
    return max(kinds, key=_NUMBER_KINDS.index) if kinds and kinds <= set(_NUMBER_KINDS) else ""


def _refine_conversion(result: Array, bound: dict[str, Value]) -> None:
    source = next((bound[k] for k in ("object", "a", "x") if k in bound), None)
    if isinstance(source, (Array, HostArray)):
        result.dtype = result.dtype or source.dtype
        result.ndim = source.ndim
        if isinstance(source, Array):
            result.length = source.length
            if source.dtype == "key":
                result.origin = source
    elif isinstance(source, (TupleValue, ListValue)):
        elements = known_elements(source)
        if elements is not None:
            result.length = len(elements)
            result.dtype = result.dtype or _common_kind(elements)
            if all(isinstance(e, (Const, Static)) for e in elements):
                result.ndim = 1
            elif result.recipe is None:
                note_rows(result, elements)
    elif isinstance(source, Const):
        result.ndim = 0
        if not result.dtype and type(source.value) in joining.NUMBERS:
            result.dtype = joining.const_kind(source.value)
    elif isinstance(source, Static):
        if source.kind in ("int", "float", "bool"):
            result.ndim, result.dtype = 0, result.dtype or source.kind
            result.derived = "static"
        elif source.kind == "shape":
            result.ndim, result.dtype, result.derived = 1, "int", "static"


def _host_result(m: Machine, fact: FunctionFact, values: list[Value], bound: dict[str, Value]) -> Value:
    """A NumPy-like function: on tracers it dispatches, or raises; else its result is on the host."""
    traced = any(holds_tracer(v, MAYBE) for v in values if isinstance(v, (Array, Tree, UnionValue)))
    if fact.host == "dispatches" and any(isinstance(v, (Array, Tree)) for v in values):
        level = result_level(m, values, library=True)
        head, _ = parse_descriptor(fact.returns)
        if head in ("host", "static", "unknown"):
            return Array(level)
        return value_of_descriptor(m, fact.returns, level, bound)
    if fact.host == "static":
        return Static(_static_kind("shape" if False else ""))
    if fact.host == "converts" and traced and any(holds_tracer(v, GRAD) for v in values):
        return Unknown("raised")
    head, parts = parse_descriptor(fact.returns)
    if head == "unless":
        if any(p in bound for p in parts[:-1]):
            return Unknown(head)
        head, parts = parse_descriptor(parts[-1])
    if head == "static":
        return Static("")
    if head in ("array", "int", "float", "bool", "host", "like"):
        numbers = [v for v in values if isinstance(v, Const) and type(v.value) in (int, float)]
        if values and len(numbers) == len(values) and head != "host":
            return Static(head if head in ("int", "float", "bool") else "float")
        return HostArray(head if head in ("int", "float", "bool") else "")
    if head == "tuple":
        return (
            TupleValue(tuple(HostArray() for _ in parts))
            if parts and parts[-1] != "..."
            else ListValue(None, HostArray(), is_tuple=True)
        )
    if head == "list":
        return ListValue(None, HostArray())
    return value_of_descriptor(m, fact.returns, CONCRETE, bound)


def run_function_arguments(
    m: Machine, frame: Frame, node: Any, name: str, fact: FunctionFact, bound: dict[str, Value]
) -> None:
    """Functions that the library stages or calls, by contract."""
    for parameter in fact.stages:
        operand = bound.get(parameter)
        if operand is not None:
            for member in known_elements(operand) or joining.members_of(operand):
                if isinstance(member, (FunctionValue, BoundMethod, PartialValue, TransformedValue, Instance)):
                    stage_unknown(m, frame, node, name, member, parameter)
    for parameter in fact.schedules:
        operand = bound.get(parameter)
        if isinstance(operand, (FunctionValue, BoundMethod, PartialValue, TransformedValue, Instance)):
            stage_unknown(m, frame, node, name, operand, parameter, leading=(Array(ABSTRACT, "int", 0),))
    for parameter in fact.calls:
        operand = bound.get(parameter)
        if isinstance(operand, (FunctionValue, BoundMethod, PartialValue)):
            call(m, frame, node, operand, Arguments([], unknown_rest=True))


PASSED_FUNCTIONS.append(run_function_arguments)


def _key_call(
    m: Machine, frame: Frame, node: Any, name: str, fact: FunctionFact, bound: dict[str, Value],
    nodes: dict[str, ir.Expr],
) -> Value | None:  # fmt: skip
    """Samplers, ``split``, ``fold_in`` …; None where the ordinary result descriptor applies."""
    key = bound.get(fact.key) if fact.key else None
    level = result_level(m, bound.values(), library=True)
    if level == GRAD:
        level = CONCRETE
    if fact.key_effect == "make":
        return made_key(m, frame.scope, node, level)
    if key is None:
        return None
    key_node = nodes.get(fact.key) if fact.key else None
    if fact.key_effect in ("consume", "initialize"):
        for one in _keys_in(key):
            use_key(m, frame, node, one, "consume", key_node, name, draws=fact.key_effect == "consume")
        _tell_same_call(m, frame, node, key)
        return None
    if fact.key_effect == "split":
        use_key(m, frame, node, key, "split", key_node)
        made = Array(level, "key", 1)
        number = bound.get("num")
        if number is None:
            made.length = 2
        elif isinstance(number, Const) and type(number.value) is int:
            made.length = number.value
        elif isinstance(number, TupleValue):
            made.ndim = 1 + len(number.elts)
        share_like(m, key, made)
        boundary.keep_seed(key, made)
        return made
    if fact.key_effect == "derive":
        made = derive_key(m, key, bound.get("data"))
        made.level = level
        return made
    if fact.key_effect == "clone":
        return Array(level, "key", getattr(key, "ndim", None))
    return None


def _keys_in(value: Value) -> list[Value]:
    """The keys of an ``rngs`` argument: itself, or the values of a dict."""
    if isinstance(value, DictValue):
        found: list[Value] = []
        for _, v in value.items():
            if v not in found:
                found.append(v)
        return found
    return [value]


def _tell_same_call(m: Machine, frame: Frame, node: Any, key: Value) -> None:
    """One key under two names of one ``rngs`` dict."""
    if not isinstance(key, DictValue) or not m.bus.wants(KeyUse):
        return
    seen: list[Value] = []
    for _, value in key.items():
        canonical = canonical_key(value)
        if may_be_key(value) and any(canonical is s for s in seen):
            site = Site(frame.scope, node.start, node.end)
            m.bus.emit(
                KeyUse(m.path.context(frame.scope), node, value, "consume", site, "consume", False, "", True, "", None)
            )
            return
        seen.append(canonical)


# --- methods of library objects -------------------------------------------------------------------------


def call_external_method(m: Machine, func: ExternalMethod, at: Call) -> Value:
    """A method that a library class gives to its instances, or to instances of a project subclass."""
    fact = m.program.knowledge.method(func.cls, func.name)
    if m.trackers[Presuming].presumption is not None:
        from flake8_jax.semantics.trackers.derivative_contracts import note_method_rule

        note_method_rule(m, func.cls, func.name, at.args)
    if fact is None:
        return Unknown("method")
    owner = m.program.knowledge.class_(func.cls)
    if isinstance(func.self_value, Instance) and owner is not None and owner.module_methods and "method" in fact.params:
        return _module_call(m, at.frame, at.node, func, fact, func.self_value, at.args)
    return call_fact(
        m, at.frame, at.node, f"{func.cls}.{func.name}", fact, at.args, used=at.used, self_value=func.self_value
    )


def _module_call(
    m: Machine, frame: Frame, node: Any, func: ExternalMethod, fact: FunctionFact, module: Instance, args: Arguments
) -> Value:
    """linen's ``module.apply(variables, *args, method=…)``: ``__call__`` runs with the remaining arguments."""
    bound, nodes = bind_parameters(fact.params, args)
    own = {p for p in fact.params if not p.startswith("*")}
    tell_call(m, frame, node, f"{func.cls}.{func.name}", args, fact, used=True, bound=bound, bound_nodes=nodes)
    if fact.key_effect is not None:
        _key_call(m, frame, node, func.name, fact, bound, nodes)
    elif "rngs" in bound:
        _tell_same_call(m, frame, node, bound["rngs"])
        if func.name == "apply" and not m.path.mode.shapes_only:
            for one in _keys_in(bound["rngs"]):
                note_drawn(m, one)
    leading = 0
    for p in fact.params:
        if p.startswith("*"):
            break
        leading += 1
    inner = Arguments(
        args.values[leading:],
        {k: v for k, v in args.kwargs.items() if k not in own},
        args.nodes[leading:],
        {k: v for k, v in args.keyword_nodes.items() if k not in own},
        args.star,
        args.double_star,
    )
    method = bound.get("method")
    target: Value | None = None
    if method is None or (isinstance(method, Const) and method.value is None):
        found = find_in_class(module.cls, "__call__")
        target = BoundMethod(found[1], module) if found is not None else None
    elif isinstance(method, Const) and isinstance(method.value, str):
        found = find_in_class(module.cls, method.value)
        target = BoundMethod(found[1], module) if found is not None else None
    elif isinstance(method, FunctionValue):
        target = BoundMethod(method, module)
    elif isinstance(method, BoundMethod):
        target = BoundMethod(method.func, module)
    result: Value | None = None
    if target is not None:
        setup = find_in_class(module.cls, "setup")
        if setup is not None and isinstance(setup[1], FunctionValue):
            from flake8_jax.semantics.interpreter.running import call_function_value

            call_function_value(m, frame, node, setup[1], Arguments([module]))
        result = call(m, frame, node, target, inner)
    level = result_level(m, _all(args), library=True)
    if func.name == "apply" and result is not None:
        mutable = bound.get("mutable")
        if mutable is None or (isinstance(mutable, Const) and not mutable.value):
            return result
        return TupleValue((result, Tree(level)))
    if func.name == "init_with_output" and result is not None:
        return TupleValue((result, Tree(level)))
    return value_of_descriptor(m, fact.returns, level, bound)


def call_external_instance(m: Machine, func: ExternalInstance, at: Call) -> Value:
    """Calling a library object: what its ``__call__`` fact says; a decorator with options is applied."""
    fact = m.program.knowledge.method(func.cls, "__call__")
    if fact is not None:
        result = call_fact(m, at.frame, at.node, func.cls + ".__call__", fact, at.args, used=True, self_value=func)
        if m.trackers[Variations].known:
            vary_call(m, func.cls + ".__call__", at.args.values, {}, result)
        return result
    manager = m.program.knowledge.function(func.cls)
    if manager is not None and manager.returns == "context" and len(at.args.values) == 1:
        return at.args.values[0]  # a context manager as a decorator: the function does what it did
    if at.args.values and isinstance(at.args.values[0], ClassValue):
        apply_class_decorator(
            m, at.args.values[0], func.cls, {k: v for k, v in func.slots.items() if isinstance(v, Value)}
        )
        return at.args.values[0]
    return Unknown("call")


def _call_library_object(m: Machine, func: External, at: Call) -> Value:
    return call_external(m, at.frame, at.node, func.name, at.args, used=at.used, decorating=at.decorating)


CALL.update(
    {
        External: _call_library_object,
        ExternalMethod: call_external_method,
        ExternalInstance: call_external_instance,
    }
)
