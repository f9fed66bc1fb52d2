"""What staging transforms do: the static twin of tracing.

Vocabulary
----------
operand     the function that a transform stages. root: the place where it does.
boundary    where arguments turn into tracers on the way in (``tracify``) and results into arrays on the way out
            (``release``). Static arguments, ``in_axes`` None and undifferentiated arguments cross it unchanged.
model       how a transform calls its operand (``scan``: carry and slices; ``fori_loop``: index and value …).

Facts checked on JAX 0.10: jit, pmap, shard_map, scan, fori_loop, while_loop, cond, switch, map and checkpoint trace
abstractly with omnistaging; vmap abstractly, mapped arguments only, without omnistaging; grad and its kin concretely;
custom_vjp, custom_jvp and associative_scan stage nothing by themselves.

Not modelled: sharding, ``custom_vjp`` rules, what Pallas kernels do to their references.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.knowledge.model import TransformFact
from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.arguments import Arguments, Call, bind_parameters
from flake8_jax.semantics.domain.boundary import relevelled
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.signatures import (
    constants_of,
    default_values,
    defaults_of,
    describe,
    parameter_names,
    static_parameters,
)
from flake8_jax.semantics.domain.stack import Lane, Link
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    GRAD,
    MAYBE,
    NO_BIRTH,
    NONE,
    Array,
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    FunctionValue,
    HostArray,
    Instance,
    ListValue,
    PartialValue,
    Room,
    Static,
    StaticMethodValue,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    known_elements,
    site_of,
)
from flake8_jax.semantics.events.events import RootMet, TransformCall
from flake8_jax.semantics.interpreter.classes import generic_instance
from flake8_jax.semantics.interpreter.objects import value_of_descriptor
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.boundaries import cross, result_outside, shared_in_lanes
from flake8_jax.semantics.models.control_flow import (
    run_associative_scan,
    run_cond,
    run_fori_loop,
    run_map,
    run_scan,
    run_switch,
    run_while_loop,
)
from flake8_jax.semantics.models.custom_rules import DEFINING, define, run_rules
from flake8_jax.semantics.models.staging import Model, enter, outer_level, stage
from flake8_jax.semantics.models.transform_signatures import (
    check_application,
    check_call,
    check_operands,
    check_result,
    has_aux,
    is_sure,
    note_product,
)
from flake8_jax.semantics.models.tree_map import run_tree_map, run_tree_reduce
from flake8_jax.semantics.trackers.allocations import settle_births
from flake8_jax.semantics.trackers.axes import check_spec
from flake8_jax.semantics.trackers.captures import note_held
from flake8_jax.semantics.trackers.clocks import DeviceWork, note_compiled
from flake8_jax.semantics.trackers.derivative_contracts import note_custom_rules
from flake8_jax.semantics.trackers.freshness import tell_compiling, tell_control_flow, tell_traced
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.process import STARTED, note_turn
from flake8_jax.semantics.trackers.products import Products
from flake8_jax.semantics.trackers.replicas import enter_replica, leave_replica, note_gradient
from flake8_jax.semantics.trackers.variation import Variations
from flake8_jax.semantics.trackers.versions import ApiUses

# --- signatures ---------------------------------------------------------------------------------------


# --- applying a transform -------------------------------------------------------------------------------


def apply_transform(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, args: Arguments, *, decorating: bool
) -> Value:
    """The call of a transform."""
    bound, _nodes = bind_parameters(fact.params, args)
    if (args.star is not None or args.double_star is not None) and fact.operands and fact.operands[0] not in bound:
        return Unknown("transform")
    model = _MODELS.get(fact.model, _stage)
    versions = m.trackers[ApiUses].versions
    if fact.model in ("wrap", "lift", "custom"):
        operand = bound.get(fact.operands[0]) if fact.operands else None
        if operand is None or (isinstance(operand, Const) and operand.value is None):
            if operand is None and versions is not None:
                versions.factory(m, frame.scope, node, name)
            return PartialValue(External(name), (), dict(args.kwargs))
        options = {k: v for k, v in bound.items() if k != fact.operands[0]}
        if args.star is not None or args.double_star is not None:
            options["**"] = Unknown("options")
        if isinstance(operand, UnionValue) and fact.model == "wrap":
            chosen_at, m.trackers[Products].chosen_at = m.trackers[Products].chosen_at, len(m.path.stack)
            made = [_wrap(m, frame, node, name, fact, o, options, decorating) for o in operand.members]
            m.trackers[Products].chosen_at = chosen_at
            return joining.union_of(made)
        return _wrap(m, frame, node, name, fact, operand, options, decorating)
    tell_control_flow(m, frame, node, name, fact, bound)
    if m.bus.wants(RootMet) and fact.operands:
        operand = bound.get(fact.operands[0], Unknown("operand"))
        m.bus.emit(RootMet(m.path.context(frame.scope), node, name, operand, bound, decorating, fact.tracing))
    return model(m, frame, node, name, fact, bound, args)


MAX_LAYERS = 40
"""Transforms of transforms, and so on: of more than so many, what they make is not known."""


def _layers(operand: Value) -> int:
    """How many functions a callable hands its arguments through."""
    layers = 0
    while isinstance(operand, (TransformedValue, PartialValue, BoundMethod)) and layers < MAX_LAYERS:
        operand = operand.operand if isinstance(operand, TransformedValue) else operand.func
        layers += 1
    return layers


def _wrap(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, operand: Value, options: dict[str, Value],
    decorating: bool,
) -> Value:  # fmt: skip
    if m.bus.wants(RootMet):
        m.bus.emit(RootMet(m.path.context(frame.scope), node, name, operand, options, decorating, fact.tracing))
    check_application(m, frame, node, name, fact, operand, options)
    if fact.maps_axes is not None and fact.maps_axes.endswith("specs"):
        for option in ("in_specs", "out_specs"):
            check_spec(m, frame, node, options.get("mesh"), options.get(option), _keyword_node(node, option))
    presumption = m.trackers[Presuming].presumption
    if presumption is not None and fact.omnistaging and fact.statics and m.path.stack:
        presumption.drivers.update(
            id(link.fn) for link in m.path.stack if link.fn is not None and not m.path.mode.staged
        )
    if fact.model == "lift" and isinstance(operand, ClassValue):
        return operand
    if _layers(operand) >= MAX_LAYERS:
        return Unknown("transform")
    if isinstance(operand, (Unknown, Const, Static)) and fact.model != "custom":
        return TransformedValue(name, fact, operand, options, site_of(frame.scope, node))
    made = TransformedValue(name, fact, operand, options, site_of(frame.scope, node))
    made.held = frozenset(m.path.conditions)
    tell_compiling(m, frame, node, made)
    m.worklist.roots.append((made, node, frame.scope, tuple(m.path.stack), m.path.mode.staged))
    return made


def _keyword_node(node: Any, keyword: str) -> Any:
    """The IR of a keyword argument of a call."""
    if not isinstance(node, ir.Call):
        return None
    return next((a.value for a in node.args if a.keyword == keyword), None)


# --- calling what a transform returned --------------------------------------------------------------------


def call_transformed(m: Machine, tv: TransformedValue, at: Call, *, runs: bool = True) -> Value:
    """Call ``jax.jit(f)``, ``jax.grad(f)`` … with arguments. runs: it is not only lowered."""
    tv.called = True
    fact = tv.fact
    if fact.tracing == "none":
        if isinstance(tv.operand, (Unknown, Const)):
            return Unknown("call")
        if fact.omnistaging:  # checkify: what it calls is staged, on the arguments as they are
            stage(m, at.frame, at.node, tv.name, tv.operand, at.args, enter(m, fact, tv.name, None, tv.options))
            return Unknown(tv.name)
        result = call(m, at.frame, at.node, tv.operand, at.args)
        if tv.rules:
            run_rules(m, at.frame, at.node, tv, at.args, result)
        return result
    level = GRAD if fact.tracing == "concrete" else ABSTRACT
    if (
        m.bus.wants(TransformCall)
        and isinstance(at.node, ir.Call)
        and at.args.star is None
        and not at.args.unknown_rest
    ):
        _tell_call(m, at.frame, at.node, tv, at.args, runs=runs)
    if isinstance(at.node, ir.Call) and at.args.star is None and not at.args.unknown_rest:
        check_call(m, at.frame, at.node, tv, at.args)
    for value, written in zip(at.args.values, at.args.nodes):
        if isinstance(value, (ListValue, DictValue)) and isinstance(written, _TEMPORARIES):
            value.born = NO_BIRTH  # nobody else has it
    crossed = cross(m, tv, at.args, level)
    lane: Lane | None = None
    if fact.maps_axes is not None and not fact.maps_axes.endswith("specs"):
        call_link = Link(at.frame.scope, at.node, "root", describe(tv.operand), "", 0, None)
        lane = Lane(tv.name, call_link, shared_in_lanes(m, tv, at.args, crossed))
    if isinstance(tv.operand, PartialValue):
        note_held(m, tv.operand, tv.site)
    replica, reports = enter_replica(m, tv), len(m.bus.emissions)
    result = stage(m, at.frame, at.node, tv.name, tv.operand, crossed, enter(m, fact, tv.name, lane, tv.options))
    if replica is not None:
        leave_replica(m, replica, result)
    tell_traced(m, at.frame, at.node, tv, reports)
    if not check_result(m, tv.site.scope, tv.site, tv.name, fact, tv.options, tv.operand, result):
        return Unknown("mismatch")
    outside = outer_level(m, at.args, tv.operand)
    if m.trackers[DeviceWork].times and not m.path.mode.staged:
        note_compiled(m, at.frame, at.node, tv, at.args)
    dispatched = 0
    if not m.path.mode.staged and fact.omnistaging:
        dispatched = id(m.path.loops[-1]) if m.path.loops else 1
        if fact.result == "same":
            note_turn(m, at.frame.scope, at.node, STARTED)
    found = result_outside(m, tv, at.args, result, outside, dispatched)
    settle_births(found, m.path.mode.trace)
    note_gradient(m, at.frame, at.node, tv, found)
    note_product(m, tv.name, fact, tv.options, found, at.args.values[0] if at.args.values else None)
    return found


def _tell_call(m: Machine, frame: Frame, node: ir.Call, tv: TransformedValue, args: Arguments, *, runs: bool) -> None:
    fact = tv.fact
    always = not m.path.mode.staged and not any(loop.picked or loop.leaving for loop in m.path.loops)
    differentiated: tuple[int, ...] | None = ()
    if fact.differentiates is not None and not fact.filters:
        positions = constants_of(tv.options.get(fact.differentiates))
        known = positions is not None and all(type(p) is int for p in positions)
        differentiated = tuple(positions or [0]) if known and positions is not None else None
    m.bus.emit(
        TransformCall(
            m.path.context(frame.scope), node, tv.name, tv.options, tuple(args.values), args.kwargs, tuple(args.nodes),
            args.keyword_nodes, static_parameters(tv) if fact.statics else (set(), set()), differentiated,
            tv.operand, is_sure(m, tv), m.trackers[Variations].known if runs and always else {},
        )
    )  # fmt: skip


_TEMPORARIES = (ir.Call, ir.List, ir.Dict, ir.Comprehension, ir.BinOp)


def transformed_method(m: Machine, frame: Frame, node: Any, tv: TransformedValue, name: str, args: Arguments) -> Value:
    """``jitted.lower(…)``, ``custom.defvjp(fwd, bwd)`` …"""
    if name in ("lower", "trace", "eval_shape") and tv.fact.tracing != "none":
        times, m.trackers[DeviceWork].times = m.trackers[DeviceWork].times, False
        call_transformed(m, tv, Call(frame, node, args), runs=False)
        m.trackers[DeviceWork].times = times
        return Unknown(name)
    if tv.fact.model == "custom" and name.startswith("def"):
        tv.rules_asked = True
    if tv.fact.model == "custom":
        note_custom_rules(m, tv, name, args)
    if name in DEFINING and tv.fact.model == "custom":
        m.worklist.rule_settings.append((tv, name, args, node, frame.scope))
        return define(tv, name, args)
    return Unknown(name)


# --- models -------------------------------------------------------------------------------------------


def _call_now(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    """``f(fun, *args)``: eval_shape, vjp, jvp, linearize, closure_convert …"""
    operand = bound.get(fact.operands[0], Unknown("operand"))
    if args.double_star is not None:
        bound["**"] = args.double_star
    fits = check_operands(m, frame, node, name, operand, bound, args)
    level = GRAD if fact.tracing == "concrete" else ABSTRACT
    own = {p for p in fact.params if not p.startswith("*")}
    inward = boundary.filter_in if fact.filters else boundary.tracify
    if fact.result == "jvp":
        primals = bound.get("primals")
        known = known_elements(primals) if primals is not None else None
        values = list(known) if known is not None else []
        inner = Arguments([inward(v, level) for v in values], unknown_rest=known is None)
    else:
        skip = 1 + sum(
            1 for p in fact.params[1:] if not p.startswith("*") and fact.params.index(p) < _first_star(fact.params)
        )
        values = args.values[skip:]
        kwargs = {k: inward(v, level) for k, v in args.kwargs.items() if k not in own}
        inner = Arguments(
            [inward(v, level) for v in values], kwargs, args.nodes[skip:],
            star=inward(args.star, level) if args.star is not None else None, double_star=args.double_star,
        )  # fmt: skip
    result = stage(m, frame, node, name, operand, inner, enter(m, fact, name))
    if not fits or not check_result(m, frame.scope, node, name, fact, bound, operand, result):
        return Unknown("mismatch")
    outside = outer_level(m, Arguments(values), operand)
    value = boundary.release(result, outside)
    if fact.result == "same":
        return value
    presumption = m.trackers[Presuming].presumption
    if fact.result == "shape":
        shapes = _shapes(value)
        if presumption is not None:
            presumption.deny(shapes)
        return shapes
    if fact.result in ("jvp", "vjp", "linearize"):
        made = _output_and(value, relevelled(value, outside), fact.result, has_aux(fact, bound))
        note_product(m, name, fact, bound, made)
        return made
    return (
        value_of_descriptor(m, fact.result, outside, bound)
        if fact.result not in ("unknown", "jaxpr")
        else Unknown(name)
    )


def _output_and(value: Value, tangent: Value, kind: str, aux: bool | None) -> Value:
    """What ``jvp``, ``vjp`` and ``linearize`` return: the output, its tangent or a function, and what is passed on."""
    if aux is None:
        return Unknown(kind)
    if not aux:
        return TupleValue((value, tangent if kind == "jvp" else Unknown(f"{kind} function")))
    pair, tangents = known_elements(value), known_elements(tangent)
    if pair is None or tangents is None or len(pair) != 2:
        return TupleValue((Unknown("output"), Unknown(f"{kind} function"), Unknown("aux")))
    return TupleValue((pair[0], tangents[0] if kind == "jvp" else Unknown(f"{kind} function"), pair[1]))


def _first_star(params: list[str]) -> int:
    return next((i for i, p in enumerate(params) if p.startswith("*")), len(params))


def _shapes(value: Value, depth: int = 8, room: Room | None = None) -> Value:
    """ShapeDtypeStructs in place of arrays: static."""
    if isinstance(value, (Array, Tree, Unknown, HostArray)):
        return Unknown("shape and dtype")
    room = room if room is not None else Room()
    if depth == 0 or not room.enter(value):
        return Unknown("shape and dtype")
    return joining.map_leaves(value, lambda v: _shapes(v, depth - 1, room))


def _stage(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    """A library that stages its operands by contract, on arguments that nobody knows exactly."""
    for parameter in fact.operands:
        operand = bound.get(parameter)
        if operand is None:
            continue
        for member in known_elements(operand) or joining.members_of(operand):
            if isinstance(member, (FunctionValue, BoundMethod, PartialValue, TransformedValue, Instance)):
                _stage_by_contract(m, frame, node, name, fact, member, bound)
    result = fact.result if fact.result not in ("same", "unknown") else "unknown"
    return value_of_descriptor(m, result, outer_level(m, args), bound)


def _stage_by_contract(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, operand: Value, bound: dict[str, Value]
) -> None:
    level = GRAD if fact.tracing == "concrete" else ABSTRACT
    if fact.passes:
        names = parameter_names(operand)
        descriptors = list(fact.passes)
        if descriptors[-1] == "...":
            descriptors = descriptors[:-1] + [descriptors[-2]] * max(
                0, (len(names) if names else 0) - len(descriptors) + 1
            )
        values = [
            boundary.tracify(value_of_descriptor(m, d, level, bound), level) if d != "unknown" else Unknown(d)
            for d in (descriptors[: len(names)] if names is not None else descriptors)
        ]
        stage(m, frame, node, name, operand, Arguments(values, unknown_rest=True), enter(m, fact, name))
    else:
        stage(m, frame, node, name, operand, Arguments([], unknown_rest=True), enter(m, fact, name))


# --- trees --------------------------------------------------------------------------------------------


def _pallas_call(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    kernel = bound.get(fact.operands[0])
    if isinstance(kernel, (FunctionValue, PartialValue, BoundMethod)):
        names = parameter_names(kernel) or []
        refs: list[Value] = [ExternalInstance("jax.Ref") for _ in names]
        stage(m, frame, node, name, kernel, Arguments(refs, unknown_rest=True), enter(m, fact, name))
    return Unknown("pallas")


_MODELS: dict[str, Model] = {
    "scan": run_scan,
    "map": run_map,
    "fori_loop": run_fori_loop,
    "while_loop": run_while_loop,
    "cond": run_cond,
    "switch": run_switch,
    "associative_scan": run_associative_scan,
    "call": _call_now,
    "stage": _stage,
    "custom_root": _stage,
    "custom_linear_solve": _stage,
    "tree_map": run_tree_map,
    "tree_map_with_path": run_tree_map,
    "tree_reduce": run_tree_reduce,
    "pallas_call": _pallas_call,
}


def run_root(m: Machine, tv: TransformedValue, node: Any, frame: Frame, chain: tuple[Link, ...]) -> None:
    """Run a root that no known code calls, on arguments of which nobody knows anything."""
    names = parameter_names(tv.operand)
    if names is None:
        return
    defaults = defaults_of(tv.operand)
    values: list[Value] = []
    for i, parameter in enumerate(names):
        if parameter in defaults:
            break
        if i == 0 and isinstance(tv.operand, FunctionValue) and tv.operand.owner is not None:
            values.append(_receiver(m, tv.operand, tv.operand.owner))
        else:
            values.append(Unknown(parameter))
    m.path.stack = list(chain)
    m.path.assumed = tv.held
    args = Arguments(values, _optional_arguments(tv), unknown_rest=True)
    call_transformed(m, tv, Call(frame, node, args))
    m.path.stack = []


def _receiver(m: Machine, function: FunctionValue, owner: ClassValue) -> Value:
    """The first argument of a function from a class body: an instance, the class, or for a static method anything."""
    found = owner.namespace.get(function.fn.name)
    if isinstance(found, StaticMethodValue):
        return owner if found.to_class else Unknown(function.fn.name)
    return generic_instance(m, owner)


def _optional_arguments(tv: TransformedValue) -> dict[str, Value]:
    """What a caller may pass for parameters whose default is None: an argument that turns into a tracer, or nothing."""
    fact = tv.fact
    statics = static_parameters(tv)
    if fact.tracing != "abstract" or fact.filters or fact.maps_axes or fact.differentiates or statics is None:
        return {}
    return {
        name: UnionValue((NONE, Tree(MAYBE)))
        for name, default in default_values(tv.operand).items()
        if isinstance(default, Const) and default.value is None and name not in statics[1]
    }
