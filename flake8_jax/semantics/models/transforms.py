"""What transforms do to the functions that they trace.

Vocabulary
----------
operand     the function that a transform traces. root: the call or decorator that does so.
boundary    the place where arguments become tracers on the way in (``to_tracers``) and results become arrays on the way out
            (``from_tracers``). Static arguments, arguments with ``in_axes`` None and undifferentiated arguments do not
            change.
model       how a transform calls its operand (``scan``: with the carry and a slice; ``fori_loop``: with the index and the
            carry).

Facts checked on JAX 0.10: jit, pmap, shard_map, scan, fori_loop, while_loop, cond, switch, map and checkpoint trace
abstractly with omnistaging. vmap traces abstractly without omnistaging, and only the mapped arguments. grad and similar
functions trace concretely. custom_vjp, custom_jvp and associative_scan do not trace by themselves.

Limitations: sharding, ``custom_vjp`` rules. For Pallas, see ``pallas``.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.knowledge.model import TransformFact
from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.arguments import Arguments, Call, bind_parameters
from flake8_jax.semantics.domain.boundary import relevelled
from flake8_jax.semantics.domain.code import statement_at
from flake8_jax.semantics.domain.conditions import are_mutually_exclusive
from flake8_jax.semantics.domain.hashing import has_hash
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.signatures import (
    call_error,
    constants_of,
    default_values,
    defaults_of,
    describe,
    layers,
    parameter_names,
    static_parameters,
)
from flake8_jax.semantics.domain.stack import Link, MappedAxis, Place
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    GRAD,
    MAYBE,
    OMITTED,
    RAISES,
    UNKNOWN_TRACE,
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
    Level,
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
from flake8_jax.semantics.domain.varying import Variation
from flake8_jax.semantics.events.events import RootMet, TransformCall
from flake8_jax.semantics.events.facts import hashed_fact
from flake8_jax.semantics.interpreter.classes import generic_instance
from flake8_jax.semantics.interpreter.objects import value_of_descriptor
from flake8_jax.semantics.interpreter.operations import call, value_of_annotation
from flake8_jax.semantics.interpreter.operators import result_level, truth_of
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.application import Application, Transformation
from flake8_jax.semantics.models.boundaries import cross, result_outside, shared_by_all_elements
from flake8_jax.semantics.models.custom_rules import DEFINING, define, run_rules, without_gradients
from flake8_jax.semantics.models.staged_results import track_result
from flake8_jax.semantics.models.staging import enter, outer_level, stage
from flake8_jax.semantics.models.tables import MODELS, methods_of, model
from flake8_jax.semantics.models.transform_signatures import (
    Applied,
    check_application,
    check_call,
    check_operands,
    has_aux,
    is_sure,
    track_product,
    wrong_result,
)
from flake8_jax.semantics.trackers.allocations import hand_over, settle_allocations
from flake8_jax.semantics.trackers.axes import check_spec
from flake8_jax.semantics.trackers.captures import Captures, embed, track_held
from flake8_jax.semantics.trackers.clocks import DeviceWork, track_compiled, track_jitted, track_wait
from flake8_jax.semantics.trackers.contracts import track_custom_rules
from flake8_jax.semantics.trackers.freshness import (
    emit_compiling,
    emit_control_flow,
    emit_looked_up,
    emit_traced,
    is_fresh,
    makes_its_own,
)
from flake8_jax.semantics.trackers.host_buffers import HostBuffers, track_given
from flake8_jax.semantics.trackers.key_names import names_bound
from flake8_jax.semantics.trackers.keys import Keys, forget_uses
from flake8_jax.semantics.trackers.per_call import track_compiling
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.process import COMPUTED, STARTED, track_point
from flake8_jax.semantics.trackers.products import Products, emit_mismatch
from flake8_jax.semantics.trackers.readiness import track_dispatch
from flake8_jax.semantics.trackers.recipes import pass_tangent
from flake8_jax.semantics.trackers.replicas import enter_replica, leave_replica, track_gradient
from flake8_jax.semantics.trackers.runs import track_form_called, track_probed
from flake8_jax.semantics.trackers.staleness import begin_compiled, end_compiled, forget_compiled, track_made
from flake8_jax.semantics.trackers.unjitted import track_body
from flake8_jax.semantics.trackers.variation import Variations, track_released
from flake8_jax.semantics.trackers.versions import ApiUses

# --- applying a transform -----------------------------------------------------------------------------------


def apply_transform(m: Machine, name: str, fact: TransformFact, at: Call) -> Value:
    """The call of a transform."""
    bound, _nodes = bind_parameters(fact.params, at.args)
    hidden = at.args.star is not None or at.args.double_star is not None
    if hidden and fact.operands and fact.operands[0] not in bound:
        return Unknown("transform")
    app: Transformation = Application(at, name, fact, bound)
    if fact.model in ("wrap", "lift", "custom"):
        return _wrapped(m, app)
    emit_control_flow(m, at.frame, at.node, name, fact, bound)
    track_body(m, at.frame, at.node, name, [bound.get(parameter) for parameter in fact.operands])
    if m.bus.wants(RootMet) and fact.operands:
        _emit_root(m, app, bound.get(fact.operands[0], Unknown("operand")))
    return MODELS.get(fact.model, _stage)(m, app)


def _wrapped(m: Machine, app: Transformation) -> Value:
    """A transform that gives a callable: of one operand, of each of several, or a decorator that waits for one."""
    fact, args = app.fact, app.at.args
    operand = app.bound.get(fact.operands[0]) if fact.operands else None
    if operand is None or (isinstance(operand, Const) and operand.value is None):
        versions = m.trackers[ApiUses].versions
        if operand is None and versions is not None:
            versions.factory(m, app.frame.scope, app.node, app.name)
        return PartialValue(External(app.name), (), dict(args.kwargs))
    options = {k: v for k, v in app.bound.items() if k != fact.operands[0]}
    if args.star is not None or args.double_star is not None:
        options["**"] = Unknown("options")
    optioned: Transformation = Application(app.at, app.name, fact, options)
    if not isinstance(operand, UnionValue) or fact.model == "custom":
        return _wrap(m, optioned, operand)
    products = m.trackers[Products]
    chosen_at, products.chosen_at = products.chosen_at, len(m.path.stack)
    made = [_wrap(m, optioned, member) for member in operand.members]
    products.chosen_at = chosen_at
    return joining.union_of(made)


def _emit_root(m: Machine, app: Transformation, operand: Value) -> None:
    """Tell the rules where a function is staged."""
    m.bus.emit(
        RootMet(
            m.path.context(app.frame.scope), app.node, app.name, operand, app.bound, app.at.decorating, app.fact.tracing
        )
    )


MAX_LAYERS = 40
"""Transforms of transforms, and so on: of more than so many, what they make is not known."""


def _wrap(m: Machine, app: Transformation, operand: Value) -> Value:
    """Apply a transform to one operand; all that is bound are its options."""
    name, fact, options, frame, node = app.name, app.fact, app.bound, app.frame, app.node
    if m.bus.wants(RootMet):
        _emit_root(m, app, operand)
    check_application(m, app, operand)
    if _has_specs(fact):
        for option in ("in_specs", "out_specs"):
            check_spec(m, frame, node, options.get("mesh"), options.get(option), _keyword_node(node, option))
    if fact.omnistaging and fact.statics:
        _track_drivers(m)
    if fact.model == "lift" and _is_class(operand):
        return operand
    if sum(1 for _ in itertools.islice(layers(operand), MAX_LAYERS + 1)) > MAX_LAYERS:
        return Unknown("transform")
    made = TransformedValue(name, fact, operand, options, site_of(frame.scope, node))
    if isinstance(operand, (Unknown, Const, Static)) and fact.model != "custom":
        emit_looked_up(m, frame, node, made)
        return made
    made.held = m.path.assumed.union(m.path.conditions)
    emit_compiling(m, frame, node, made)
    track_compiling(m, frame, node, made)
    track_made(m, made)
    track_jitted(m, made)
    m.worklist.roots.append((made, node, frame.scope, tuple(m.path.stack), m.path.mode.staged))
    return made


def _is_class(operand: Value) -> bool:
    """A class, or a ``partial`` of one: what it is called with makes an object."""
    while isinstance(operand, PartialValue):
        operand = operand.func
    return isinstance(operand, ClassValue)


def _has_specs(fact: TransformFact) -> bool:
    """The transform maps over axes of a mesh, which specs name: ``shard_map``."""
    return fact.maps_axes is not None and fact.maps_axes.endswith("specs")


def _track_drivers(m: Machine) -> None:
    """Functions that compile others are no parts of compiled functions."""
    presumption = m.trackers[Presuming].presumption
    if presumption is not None and not m.path.mode.staged:
        presumption.drivers.update(id(link.fn) for link in m.path.stack if link.fn is not None)


def _keyword_node(node: Any, keyword: str) -> Any:
    """The IR of a keyword argument of a call."""
    if not isinstance(node, ir.Call):
        return None
    return next((a.value for a in node.args if a.keyword == keyword), None)


# --- calling what a transform returned --------------------------------------------------------------------


def call_transformed(m: Machine, tv: TransformedValue, at: Call, *, runs: bool = True) -> Value:
    """Call ``jax.jit(f)``, ``jax.grad(f)`` … with arguments. runs: it is not only lowered."""
    tv.called = True
    if tv.held and are_mutually_exclusive(tv.held, m.path.assumed):
        return Unknown("other path")  # it was not made where this call is made
    if tv.fact.keeps:
        at = at.to(_without(at.args, tv.fact.keeps))
    track_form_called(m, tv)
    if not runs or tv.fact.result == "jaxpr":
        track_probed(m, tv)
    if tv.fact.tracing == "none":
        return _call_untraced(m, tv, at)
    if isinstance(at.node, ir.Call) and at.args.star is None and not at.args.unknown_rest:
        if not _look_at_call(m, tv, at, at.node, runs=runs) or _gets_function(tv, at.args):
            return Unknown(RAISES)
    for value, written in zip(at.args.values, at.args.nodes):
        if isinstance(value, (ListValue, DictValue)) and isinstance(written, _TEMPORARIES):
            value.made_in = UNKNOWN_TRACE  # no other code has it
    if m.path.mode.staged:
        _let_go(m, at)
        if m.trackers[Captures].constants:
            embed(m, [v for v in (*at.args.values, *at.args.kwargs.values()) if isinstance(v, (Array, Unknown))])
    assumed, m.path.assumed = m.path.assumed, m.path.assumed | tv.held  # else no path would have it
    result = _run_inside(m, tv, at)
    m.path.assumed = assumed
    applied = Applied(tv.name, tv.fact, tv.operand, tv.options)
    problem = "" if _is_idle(tv, at.args) else wrong_result(m, applied, result)
    if problem:
        emit_mismatch(m, tv.site.scope, tv.site, tv.name, problem)
        return Unknown("mismatch")
    track_result(m, tv, result)
    outside = outer_level(m, at.args, tv.operand)
    has_run = type(result) is not Unknown or result.label != RAISES  # else the arguments do not fit
    if has_run and m.trackers[DeviceWork].times and not m.path.mode.staged:
        track_compiled(m, at.frame, at.node, tv, at.args)
        if tv.fact.waits:
            track_wait(m, at.frame, at.node)
    found = result_outside(m, tv, at.args, result, outside, _dispatched(m, tv, at, result))
    settle_allocations(found, m.path.mode.trace)
    track_released(m, tv, result, found)
    if tv.fact.omnistaging and runs and m.trackers[HostBuffers].narrow:
        given = [
            *zip(at.args.values, at.args.nodes),
            *[(v, at.args.keyword_nodes.get(k)) for k, v in at.args.kwargs.items()],
        ]
        track_given(m, at.frame, at.node, given, found)
    track_gradient(m, at.frame, at.node, tv, found)
    track_product(m, applied, found, at.args.values[0] if at.args.values else None)
    return found


def _call_untraced(m: Machine, tv: TransformedValue, at: Call) -> Value:
    """``custom_vjp``, ``checkify``: the operand is called on the arguments as they are."""
    if isinstance(tv.operand, (Unknown, Const)):
        return Unknown("call")
    if tv.fact.omnistaging:  # checkify: what it calls is staged
        stage(m, tv.operand, at, enter(m, tv.fact, tv.name, None, tv.options))
        return Unknown(tv.name)
    if tv.fact.converts and "excluded" not in tv.options:
        at = at.to(msgspec.structs.replace(at.args, values=[_converted(m, value) for value in at.args.values]))
    mark, around, given = len(m.journal.entries), m.path.mode, at.args.values
    plain = None
    if tv.rules or tv.rules_asked or tv.fact.result == "first":  # rules of its own take the place of its derivative
        m.path.mode = msgspec.structs.replace(around, differentiated=False)
        plain = without_gradients(m, at.args)
        at = at.to(plain) if plain is not None else at
    result = call(m, at.frame, at.node, tv.operand, at.args)
    m.path.mode = around
    pass_tangent(m, result, given)
    if tv.rules:
        run_rules(m, tv, at, result, mark)
    if plain is not None:
        result = joining.over_arrays(result, lambda v: relevelled(v, GRAD))
        pass_tangent(m, result, given)
    if tv.fact.result == "first":  # custom_gradient: the other one makes the gradient
        pair = known_elements(result)
        return pair[0] if pair else Unknown("first")
    return result


def _converted(m: Machine, value: Value) -> Value:
    """What ``jnp.asarray`` makes of an argument: ``jnp.vectorize`` applies it to all (jax/_src/numpy/vectorize.py)."""
    if isinstance(value, (TupleValue, ListValue, Const, HostArray)):
        return Array(result_level(m, (value,)))
    return value


def _run_inside(m: Machine, tv: TransformedValue, at: Call) -> Value:
    """What the operand returns, inside of the transform."""
    fact = tv.fact
    crossed = cross(m, tv, at.args, GRAD if fact.tracing == "concrete" else ABSTRACT)
    if not tv.name.startswith("jax.") and call_error(tv.operand, crossed):
        crossed = msgspec.structs.replace(
            crossed, unknown_rest=True
        )  # the library keeps, or adds, arguments of its own
    mapped_axis: MappedAxis | None = None
    if fact.maps_axes is not None and not _has_specs(fact):
        call_link = Link(at.frame.scope, at.node, "root", describe(tv.operand), "", 0, None)
        shared = shared_by_all_elements(m, tv, at.args, crossed)
        mapped_axis = MappedAxis(tv.name, call_link, shared, tv.site, len(m.path.stack))
    if isinstance(tv.operand, PartialValue):
        track_held(m, tv.operand, tv.site)
    replica, reports = enter_replica(m, tv, maps=mapped_axis is not None), len(m.bus.emissions)
    around = begin_compiled(m, tv, crossed)
    result = stage(m, tv.operand, at.to(crossed), enter(m, fact, tv.name, mapped_axis, tv.options))
    end_compiled(m, around)
    if replica is not None:
        leave_replica(m, replica, result)
    emit_traced(m, at.frame, at.node, tv, reports)
    return result


_DIFFERENTIATED = frozenset({"gradient", "value_and_gradient"})


def _dispatched(m: Machine, tv: TransformedValue, at: Call, result: Value) -> int:
    """Where eager code dispatches compiled work: the loop around, 1 outside of loops, 0 where it does not. An unknown
    function that is differentiated may be compiled; another rule reports one that surely is not."""
    unknown = tv.fact.result in _DIFFERENTIATED and type(result) is Unknown and not result.host_test
    if m.path.mode.staged or not (tv.fact.omnistaging or unknown):
        return 0
    if tv.fact.result == "same":
        for point in (STARTED, COMPUTED):
            track_point(m, at.frame.scope, at.node, point)
    if tv.fact.waits:
        return 0
    if not m.path.loops:
        return 1
    track_dispatch(m, at.frame, at.node, tv)
    return id(m.path.loops[-1])


def _is_idle(tv: TransformedValue, args: Arguments) -> bool:
    """No code calls it, as far as one sees: a function that another one makes for its own purpose may never be staged."""
    return args.unknown_rest and isinstance(tv.operand, FunctionValue) and tv.operand.closure is not None


def _look_at_call(m: Machine, tv: TransformedValue, at: Call, node: ir.Call, *, runs: bool) -> bool:
    """Tell the rules of the call. Whether the transform takes the arguments."""
    if m.bus.wants(TransformCall):
        _emit_call(m, tv, at, node, runs=runs)
    return check_call(m, tv, at)


def _emit_call(m: Machine, tv: TransformedValue, at: Call, node: ir.Call, *, runs: bool) -> None:
    """Tell the rules of the call."""
    fact, args = tv.fact, at.args
    always = not m.path.mode.staged and not any(loop.picked or loop.leaving for loop in m.path.loops)
    differentiated: tuple[int, ...] | None = ()
    if fact.differentiates is not None and not fact.filters:
        positions = constants_of(tv.options.get(fact.differentiates))
        known = positions is not None and all(type(p) is int for p in positions)
        differentiated = tuple(positions or [0]) if known and positions is not None else None
    statics = static_parameters(tv) if fact.statics else (set(), set())
    _look_at_heirs(m, statics, args)
    _track_hashed(m, tv, statics, args)
    m.bus.emit(
        TransformCall(
            m.path.context(at.frame.scope), node, tv.name, tv.options, tuple(args.values), args.kwargs, tuple(args.nodes),
            args.keyword_nodes, statics, differentiated,
            tv.operand, is_sure(m, tv), _varying(m, tv) if runs and always else {},
        )
    )  # fmt: skip


def _track_hashed(m: Machine, tv: TransformedValue, statics: tuple[set[int], set[str]] | None, args: Arguments) -> None:
    """A call passes values with a hash for static parameters: it tells more than their annotations."""
    positions, names = statics or (set(), set())
    parameters = parameter_names(tv.operand) or [] if positions else []
    given = [(parameters[i], args.values[i]) for i in positions if 0 <= i < min(len(args.values), len(parameters))]
    for name, value in (*given, *[(name, value) for name, value in args.kwargs.items() if name in names]):
        if has_hash(value):
            m.bus.record_fact(hashed_fact(name), tv.site.scope, tv.site.start)


def _varying(m: Machine, tv: TransformedValue) -> dict[Value, Variation]:
    """How values vary over the loops that run, without those whose iterations each make a compiled function of their own."""
    known, compiled = m.trackers[Variations].known, _compiled_in(tv)
    if not any(is_fresh(compiled, variation.loop.since) for variation in known.values()):
        return known
    return {value: variation for value, variation in known.items() if not makes_its_own(compiled, variation.loop)}


def _compiled_in(tv: TransformedValue) -> TransformedValue:
    """``jit(loss)`` of ``grad(jit(loss))``: what keeps the compiled code."""
    value: Value = tv
    while isinstance(value, TransformedValue):
        if value.fact.statics:
            return value
        value = value.operand
        while isinstance(value, (BoundMethod, PartialValue)):
            value = value.func
    return tv


def _without(args: Arguments, names: list[str]) -> Arguments:
    kwargs = {name: value for name, value in args.kwargs.items() if name not in names}
    return msgspec.structs.replace(args, kwargs=kwargs)


def _gets_function(tv: TransformedValue, args: Arguments) -> bool:
    """JAX raises TypeError before it traces: a function stands where an array belongs, and is not named as static."""
    fact = tv.fact
    if not (fact.omnistaging and fact.statics) or fact.filters:
        return False
    positions, names = static_parameters(tv) or (None, None)
    if positions is None or names is None:
        return False
    given = [value for i, value in enumerate(args.values) if i not in positions]
    given += [value for name, value in args.kwargs.items() if name not in names]
    return any(isinstance(value, (FunctionValue, TransformedValue)) or _is_layer(value) for value in given)


def _is_layer(value: Value) -> bool:
    """An object of a class of Flax linen, which is no pytree."""
    return isinstance(value, ExternalInstance) and value.exact and value.cls.startswith("flax.linen.")


MAX_HEIRS = 16


def _look_at_heirs(m: Machine, statics: tuple[set[int], set[str]] | None, args: Arguments) -> None:
    """Of a static argument that only a base class is known of, rules ask what its subclasses hold (``hashing``)."""
    positions, names = statics or (set(), set())
    given = [args.values[i] for i in positions if 0 <= i < len(args.values)]
    for value in (*given, *[value for name, value in args.kwargs.items() if name in names]):
        if isinstance(value, Instance) and not value.exact and not value.cls.fields:
            for heir in m.program.subclasses(value.cls)[:MAX_HEIRS]:
                generic_instance(m, heir)


def _let_go(m: Machine, at: Call) -> None:
    """Arguments that a trace has made, and that no code of it meets again, belong to what is called from here on."""
    args, trace = at.args, m.path.mode.trace
    given = [*zip(args.values, args.nodes), *[(v, args.keyword_nodes.get(name)) for name, v in args.kwargs.items()]]
    for value, written in given:
        if (
            isinstance(value, (ListValue, DictValue, Instance))
            and value.made_in == trace
            and _is_last_read(m, at, written)
        ):
            hand_over(value, trace)


def _is_last_read(m: Machine, at: Call, written: Any) -> bool:
    """The code that runs does not read an argument again: another transform passes it on, or it is a variable that the
    statement of the call rebinds, or that nothing after it reads."""
    function = m.path.stack[-1].fn if m.path.stack else None
    if function is None or m.path.stack[-1].kind == "root":
        return bool(m.path.stack) and m.path.stack[-1].kind == "root"
    if not isinstance(written, ir.Name) or written.id not in function.local_names:
        return False
    statement = statement_at(function.body, at.node)
    if isinstance(statement, ir.Assign) and any(
        name.id == written.id for target in statement.targets for name in names_bound(target)
    ):
        return True
    names = m.trackers[Keys].names.around(Place(0, at.node, at.frame.scope, function))
    return statement is not None and next(names.read_after(written.id, statement), None) is None


_TEMPORARIES = (ir.Call, ir.List, ir.Dict, ir.Comprehension, ir.BinOp)


@methods_of(TransformedValue)
def _transformed_method(m: Machine, tv: TransformedValue, name: str, at: Call) -> Value:
    """``jitted.lower(…)``, ``custom.defvjp(fwd, bwd)`` …"""
    if name in ("lower", "trace", "eval_shape") and tv.fact.tracing != "none":
        work, keys = m.trackers[DeviceWork], m.trackers[Keys]
        times, work.times = work.times, False
        mark, uses = len(m.journal.entries), keys.enter()
        call_transformed(m, tv, at, runs=False)
        forget_uses(m, mark)  # nothing is drawn yet, so what was drawn before does not matter either
        keys.leave(uses, finished=True)
        work.times = times
        return Unknown(name)
    if name == "clear_cache":
        forget_compiled(m, tv)
    if tv.fact.model != "custom":
        return Unknown(name)
    if name.startswith("def"):
        tv.rules_asked = True
    track_custom_rules(m, tv, name, at.args)
    if name not in DEFINING:
        return Unknown(name)
    m.worklist.rule_settings.append((tv, name, at.args, at.node, at.frame.scope))
    return define(tv, name, at.args)


# --- models -------------------------------------------------------------------------------------------------


@model("call")
def _call_now(m: Machine, app: Transformation) -> Value:
    """``f(fun, *args)``: eval_shape, vjp, jvp, linearize, closure_convert …"""
    name, fact, bound, args = app.name, app.fact, app.bound, app.at.args
    operand = bound.get(fact.operands[0], Unknown("operand"))
    if args.double_star is not None:
        bound["**"] = args.double_star
    fits = check_operands(m, app, operand)
    values, inner = _primals(app) if fact.result == "jvp" else _passed_on(app)
    result = stage(m, operand, app.at.to(inner), enter(m, fact, name))
    applied = Applied(name, fact, operand, bound)
    problem = wrong_result(m, applied, result) if fits and app.node is not None else ""
    if problem:
        emit_mismatch(m, app.frame.scope, app.node, name, problem)
    if problem or not fits:
        return Unknown("mismatch")
    outside = outer_level(m, Arguments(values), operand)
    value = boundary.from_tracers(result, outside)
    if fact.result in ("jvp", "vjp", "linearize"):
        made = _output_and(value, relevelled(value, outside), fact.result, has_aux(fact, bound))
        track_product(m, applied, made)
        return made
    if fact.result == "same":
        return value
    if fact.result == "shape":
        return _shapes_of(m, value)
    return Unknown(name) if fact.result in ("unknown", "jaxpr") else value_of_descriptor(m, fact.result, outside, bound)


def _inward(fact: TransformFact) -> Callable[[Value], Value]:
    """What a value is inside of the transform."""
    level: Level = GRAD if fact.tracing == "concrete" else ABSTRACT
    return functools.partial(boundary.filter_in if fact.filters else boundary.to_tracers, level=level)


def _primals(app: Transformation) -> tuple[list[Value], Arguments]:
    """The arguments of ``jvp``, outside and inside."""
    primals = app.bound.get("primals")
    known = known_elements(primals) if primals is not None else None
    values = list(known) if known is not None else []
    return values, Arguments(list(map(_inward(app.fact), values)), unknown_rest=known is None)


def _passed_on(app: Transformation) -> tuple[list[Value], Arguments]:
    """The arguments that follow those of the transform itself, outside and inside."""
    inward, params, args = _inward(app.fact), app.fact.params, app.at.args
    own = {p for p in params if not p.startswith("*")}
    skip = max(next((i for i, p in enumerate(params) if p.startswith("*")), len(params)), 1)
    operand = app.bound.get(app.fact.operands[0])
    if app.fact.result == "shape" and isinstance(operand, TransformedValue) and operand.fact.statics:
        return args.values[skip:], _beside_statics(operand, args, skip, inward)
    kwargs = {k: inward(v) for k, v in args.kwargs.items() if k not in own}
    inner = Arguments(
        list(map(inward, args.values[skip:])), kwargs, args.nodes[skip:],
        star=inward(args.star) if args.star is not None else None, double_star=args.double_star,
    )  # fmt: skip
    return args.values[skip:], inner


def _beside_statics(
    operand: TransformedValue, args: Arguments, skip: int, inward: Callable[[Value], Value]
) -> Arguments:
    """``eval_shape`` of a jitted function traces that: what is static for it stays as it is."""
    statics = static_parameters(operand)
    positions, names = statics if statics is not None else (set(range(len(args.values))), set(args.kwargs))
    values = [v if i in positions else inward(v) for i, v in enumerate(args.values[skip:])]
    kwargs = {k: v if k in names else inward(v) for k, v in args.kwargs.items()}
    star = inward(args.star) if args.star is not None else None
    return Arguments(values, kwargs, args.nodes[skip:], star=star, double_star=args.double_star)


def _shapes_of(m: Machine, value: Value) -> Value:
    """What ``eval_shape`` gives: no array, whatever is done with it."""
    shapes = _shapes(value)
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        presumption.deny(shapes)
    return shapes


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


def _shapes(value: Value, depth: int = 8, room: Room | None = None) -> Value:
    """ShapeDtypeStructs in place of arrays: static."""
    if isinstance(value, (Array, Tree, Unknown, HostArray)):
        return Unknown("shape and dtype")
    room = room if room is not None else Room()
    if depth == 0 or not room.enter(value):
        return Unknown("shape and dtype")
    return joining.map_leaves(value, lambda v: _shapes(v, depth - 1, room))


@model("stage", "custom_root", "custom_linear_solve")
def _stage(m: Machine, app: Transformation) -> Value:
    """A library that stages its operands by contract, on arguments that are not known exactly."""
    fact = app.fact
    for parameter in fact.operands if _is_switched_on(app) else ():
        operand = app.bound.get(parameter)
        if operand is None:
            continue
        for member in known_elements(operand) or joining.members_of(operand):
            if isinstance(member, (FunctionValue, BoundMethod, PartialValue, TransformedValue, Instance)):
                inner = Arguments(_passed(m, app, member), unknown_rest=True)
                stage(m, member, app.at.to(inner), enter(m, fact, app.name))
    result = fact.result if fact.result != "same" else "unknown"
    return value_of_descriptor(m, result, outer_level(m, app.at.args), app.bound)


def _is_switched_on(app: Transformation) -> bool:
    """The call stages its operands for sure: nothing but True is given for the parameter that decides it."""
    given = app.bound.get(app.fact.switch) if app.fact.switch is not None else None
    return given is None or truth_of(given) is True


def _passed(m: Machine, app: Transformation, operand: Value) -> list[Value]:
    """What the library passes to the operand, as far as the facts tell."""
    descriptors = list(app.fact.passes)
    level: Level = GRAD if app.fact.tracing == "concrete" else ABSTRACT
    if not descriptors:
        return []
    names = parameter_names(operand)
    if descriptors[-1] == "...":
        missing = max(0, (len(names) if names else 0) - len(descriptors) + 1)
        descriptors = descriptors[:-1] + [descriptors[-2]] * missing
    return [
        boundary.to_tracers(value_of_descriptor(m, d, level, app.bound), level) if d != "unknown" else Unknown(d)
        for d in (descriptors[: len(names)] if names is not None else descriptors)
    ]


# --- roots that no known code calls -------------------------------------------------------------------------


def run_root(
    m: Machine, tv: TransformedValue, node: Any, frame: Frame, chain: tuple[Link, ...], member: ClassValue | None = None
) -> None:
    """Run a root that no known code calls, on unknown arguments.

    member: the subclass that a method runs on an instance of; by default one of the class that defines it.
    """
    names = parameter_names(tv.operand)
    if names is None or _is_refused(m, tv):
        return
    defaults = defaults_of(tv.operand)
    values: list[Value] = []
    for i, parameter in enumerate(names):
        if parameter in defaults:
            break
        if i == 0 and isinstance(tv.operand, FunctionValue) and tv.operand.owner is not None:
            values.append(_receiver(m, tv.operand, member or tv.operand.owner))
        else:
            values.append(Unknown(parameter))
    m.path.stack = list(chain)
    m.path.assumed, mode = tv.held, m.path.mode
    if tv.held:  # elsewhere the same function may run untransformed
        m.path.mode = msgspec.structs.replace(mode, optional=True)
    args = Arguments(values, _optional_arguments(tv), unknown_rest=True)
    call_transformed(m, tv, Call(frame, node, args))
    m.path.stack, m.path.mode = [], mode


def _is_refused(m: Machine, tv: TransformedValue) -> bool:
    """Every call raises TypeError before the function runs: its annotation says that an argument that is needed is an object of
    a class of the project, which is not a pytree."""
    function, statics = tv.operand, static_parameters(tv)
    if tv.fact.tracing != "abstract" or tv.fact.filters or statics is None or not isinstance(function, FunctionValue):
        return False
    first = 1 if function.owner is not None else 0
    for i, p in enumerate(function.fn.params[first:], first):
        if p.annotation is None or p.default is not None or i in statics[0] or p.name in statics[1]:
            continue
        said = value_of_annotation(m, function.scope, function.closure, p.annotation)
        if isinstance(said, Instance) and not m.program.may_be_pytree(said.cls):
            return True
    return False


def _receiver(m: Machine, function: FunctionValue, owner: ClassValue) -> Value:
    """The first argument of a function from a class body: an instance, the class, or for a static method anything."""
    found = function.owner.namespace.get(function.fn.name) if function.owner is not None else None
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
        name: UnionValue((OMITTED, Tree(MAYBE)))
        for name, default in default_values(tv.operand).items()
        if isinstance(default, Const) and default.value is None and name not in statics[1]
    }
