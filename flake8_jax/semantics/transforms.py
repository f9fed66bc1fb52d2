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

from collections.abc import Callable
from typing import Any

from flake8_jax.core import ir
from flake8_jax.knowledge.model import TransformFact
from flake8_jax.semantics import lattice
from flake8_jax.semantics.calls import Arguments, call, captured_values
from flake8_jax.semantics.classes import find_in_class, generic_instance
from flake8_jax.semantics.custom_rules import DEFINING, define, run_rules
from flake8_jax.semantics.events import RootMet
from flake8_jax.semantics.expressions import known_elements
from flake8_jax.semantics.keys import shared_values
from flake8_jax.semantics.library import bind_parameters, relevelled, value_of_descriptor
from flake8_jax.semantics.machine import Lane, Link, LoopState, Machine, Mode
from flake8_jax.semantics.operators import result_level
from flake8_jax.semantics.scopes import Frame
from flake8_jax.semantics.special import leaf_of
from flake8_jax.semantics.values import (
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
    freshen,
)


def describe(value: Value) -> str:
    """A short name of an operand, for evidence."""
    if isinstance(value, FunctionValue):
        return value.fn.qualname if not value.fn.is_lambda else "a lambda"
    if isinstance(value, BoundMethod):
        return describe(value.func)
    if isinstance(value, (PartialValue,)):
        return describe(value.func)
    if isinstance(value, TransformedValue):
        return describe(value.operand)
    if isinstance(value, External):
        return value.name
    if isinstance(value, Instance):
        return value.cls.node.name
    return "a function"


# --- signatures ---------------------------------------------------------------------------------------


def parameter_names(value: Value) -> list[str] | None:
    """Positional parameter names of a callable; None where its signature is not known."""
    if isinstance(value, FunctionValue):
        return [p.name for p in value.fn.params if p.kind in ("positional", "posonly")]
    if isinstance(value, BoundMethod):
        names = parameter_names(value.func)
        return names[1:] if names is not None else None
    if isinstance(value, PartialValue):
        names = parameter_names(value.func)
        return None if names is None else [n for n in names[len(value.args) :] if n not in value.kwargs]
    if isinstance(value, TransformedValue):
        return parameter_names(value.operand)
    if isinstance(value, Instance):
        found = find_in_class(value.cls, "__call__")
        if found is None:
            return None
        names = parameter_names(found[1])
        return names[1:] if names is not None else None
    return None


def defaults_of(value: Value) -> set[str]:
    """Names of parameters that have a default."""
    while isinstance(value, (BoundMethod, PartialValue, TransformedValue)):
        value = value.operand if isinstance(value, TransformedValue) else value.func
    return set(value.defaults) if isinstance(value, FunctionValue) else set()


def _constants(value: Value | None) -> list[Any] | None:
    """The constants in an option such as ``static_argnums=(0, 1)``; None where they are not known."""
    if value is None or (isinstance(value, Const) and value.value is None):
        return []
    if isinstance(value, Const):
        return [value.value]
    known = known_elements(value)
    if known is not None and all(isinstance(v, Const) for v in known):
        return [v.value for v in known if isinstance(v, Const)]
    return None


def static_parameters(tv: TransformedValue) -> tuple[set[int], set[str]] | None:
    """Static positions and names of a transform's operand; None where the options are not known."""
    positions: set[int] = set()
    names: set[str] = set()
    signature = parameter_names(tv.operand)
    for option in tv.fact.statics:
        constants = _constants(tv.options.get(option))
        if constants is None:
            return None
        for constant in constants:
            if isinstance(constant, str):
                names.add(constant)
            elif isinstance(constant, int):
                if constant < 0 and signature is not None:
                    constant += len(signature)
                positions.add(constant)
    if signature is not None:
        names |= {signature[i] for i in positions if 0 <= i < len(signature)}
        positions |= {i for i, n in enumerate(signature) if n in names}
    return positions, names


# --- applying a transform -------------------------------------------------------------------------------


def apply_transform(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, args: Arguments, *, decorating: bool
) -> Value:
    """The call of a transform."""
    bound, nodes = bind_parameters(fact.params, args)
    if args.star is not None or args.double_star is not None:
        if fact.operands and fact.operands[0] not in bound:
            return Unknown("transform")
    model = _MODELS.get(fact.model, _stage)
    if fact.model in ("wrap", "lift", "custom"):
        operand = bound.get(fact.operands[0]) if fact.operands else None
        if operand is None or (isinstance(operand, Const) and operand.value is None):
            return PartialValue(External(name), (), dict(args.kwargs))
        options = {k: v for k, v in bound.items() if k != fact.operands[0]}
        if isinstance(operand, UnionValue) and fact.model == "wrap":
            return lattice.union_of([_wrap(m, frame, node, name, fact, o, options, decorating) for o in operand.members])
        return _wrap(m, frame, node, name, fact, operand, options, decorating)
    if m.wants(RootMet) and fact.operands:
        operand = bound.get(fact.operands[0], Unknown("operand"))
        m.emit(RootMet(m.context(frame.scope), node, name, operand, bound, decorating))
    return model(m, frame, node, name, fact, bound, args)


def _wrap(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, operand: Value, options: dict[str, Value],
    decorating: bool,
) -> Value:  # fmt: skip
    if m.wants(RootMet):
        m.emit(RootMet(m.context(frame.scope), node, name, operand, options, decorating))
    if fact.model == "lift" and isinstance(operand, ClassValue):
        return operand
    if isinstance(operand, (Unknown, Const, Static)) and fact.model != "custom":
        return TransformedValue(name, fact, operand, options, m.site(frame.scope, node))
    made = TransformedValue(name, fact, operand, options, m.site(frame.scope, node))
    m.roots.append((made, node, frame.scope, tuple(m.stack), m.mode.staged))
    return made


def enter(m: Machine, fact: TransformFact, name: str, lane: Lane | None = None) -> Mode:
    """The mode inside a staged operand."""
    if fact.tracing == "none":
        return m.mode
    m.traces += 1
    lanes = m.mode.lanes + ((lane,) if lane is not None else ())
    return Mode(
        staged=True,
        ambient=m.mode.ambient or fact.omnistaging,
        trace=m.traces,
        presumed=m.mode.presumed,
        lanes=lanes,
        shapes_only=m.mode.shapes_only or fact.result == "shape",
        differentiated=m.mode.differentiated or fact.tracing == "concrete",
    )


def stage(
    m: Machine, frame: Frame, node: Any, name: str, operand: Value, args: Arguments, mode: Mode, *,
    serial: int | None = None, kind: str = "root",
) -> Value:  # fmt: skip
    """Run an operand the way a transform does: in ``mode``, with the root on the call stack."""
    saved_mode, saved_base = m.mode, m.loop_base
    link = Link(
        scope=frame.scope, node=node, kind=kind, function=describe(operand), text=f"{name} stages {describe(operand)}",
        serial=serial if serial is not None else m.new_serial(), fn=None,
    )  # fmt: skip
    m.stack.append(link)
    m.mode = mode
    m.loop_base = len(m.loops)
    target_node = _definition(operand) or node
    result = call(m, frame, target_node if False else node, operand, args)
    m.loop_base = saved_base
    m.mode = saved_mode
    m.stack.pop()
    return result


def _definition(operand: Value) -> Any:
    return None


def outer_level(m: Machine, args: Arguments) -> int:
    """The level of a staged call's results, seen from outside."""
    extra = [v for v in (args.star, args.double_star) if v is not None]
    return result_level(m, [*args.values, *args.kwargs.values(), *extra], library=True)


# --- calling what a transform returned --------------------------------------------------------------------


def call_transformed(m: Machine, frame: Frame, node: Any, tv: TransformedValue, args: Arguments) -> Value:
    """Call ``jax.jit(f)``, ``jax.grad(f)`` … with arguments."""
    tv.called = True
    fact = tv.fact
    if fact.tracing == "none":
        if isinstance(tv.operand, (Unknown, Const)):
            return Unknown("call")
        result = call(m, frame, node, tv.operand, args)
        if tv.rules:
            run_rules(m, frame, node, tv, args, result)
        return result
    level = GRAD if fact.tracing == "concrete" else ABSTRACT
    crossed = _cross(m, tv, args, level)
    lane: Lane | None = None
    if fact.maps_axes is not None and not fact.maps_axes.endswith("specs"):
        call_link = Link(frame.scope, node, "root", describe(tv.operand), "", 0, None)
        lane = Lane(tv.name, call_link, _shared_in_lanes(m, tv, args, crossed))
    result = stage(m, frame, node, tv.name, tv.operand, crossed, enter(m, fact, tv.name, lane))
    outside = outer_level(m, args)
    dispatched = 0
    if not m.mode.staged and fact.omnistaging:
        dispatched = id(m.loops[-1]) if m.loops else 1
    return _result_outside(m, tv, args, result, outside, dispatched)


def _result_outside(
    m: Machine, tv: TransformedValue, args: Arguments, result: Value, level: int, dispatched: int
) -> Value:
    kind = tv.fact.result
    if kind == "same":
        if tv.fact.maps_axes is not None and not tv.fact.maps_axes.endswith("specs"):
            return _mapped_out(result, level, dispatched)
        return lattice.release(result, level, dispatched=dispatched)
    aux: Value | None = None
    value = result
    option = tv.options.get(tv.fact.has_aux or "has_aux")
    has_aux = option is not None and not (isinstance(option, Const) and not option.value)
    if has_aux:
        pair = known_elements(result)
        if pair is not None and len(pair) == 2:
            value, aux = pair
        else:
            value, aux = Unknown("value"), Unknown("aux")
        aux = lattice.release(aux, level)
    value = lattice.release(value, level)
    if kind in ("gradient", "value_and_gradient", "jacobian"):
        grads = _gradients(tv, args, level, is_jacobian=kind == "jacobian")
        if kind == "value_and_gradient":
            first = value if aux is None else TupleValue((value, aux))
            return TupleValue((first, grads))
        return grads if aux is None else TupleValue((grads, aux))
    if kind == "first":
        pair = known_elements(result)
        return lattice.release(pair[0], level) if pair else Unknown("first")
    return Unknown(kind)


def _mapped_out(value: Value, level: int, dispatched: int) -> Value:
    """A vmapped result: every leaf gains an axis."""
    stacked = lattice.stack_axis(value)
    return lattice.release(stacked, level, dispatched=dispatched)


def _gradients(tv: TransformedValue, args: Arguments, level: int, *, is_jacobian: bool) -> Value:
    argnums = _constants(tv.options.get(tv.fact.differentiates or "argnums"))
    option = tv.options.get(tv.fact.differentiates or "argnums")
    if argnums is None:
        return Unknown("gradients")
    several = option is not None and not isinstance(option, Const)
    positions = argnums or [0]
    found: list[Value] = []
    for p in positions:
        if isinstance(p, int) and -len(args.values) <= p < len(args.values):
            found.append(Tree(level) if is_jacobian else relevelled(args.values[p], level))
        else:
            found.append(Tree(level))
    return TupleValue(tuple(found)) if several else found[0]


def _cross(m: Machine, tv: TransformedValue, args: Arguments, level: int) -> Arguments:
    """The arguments as the operand sees them."""
    fact = tv.fact
    values = list(args.values)
    kwargs = dict(args.kwargs)
    filtered = fact.filters

    def inward(value: Value) -> Value:
        if filtered:
            return lattice.filter_in(value, level)
        return lattice.tracify(value, level)

    star = inward(args.star) if args.star is not None else None
    double_star = inward(args.double_star) if args.double_star is not None else None
    if fact.differentiates is not None:
        argnums = _constants(tv.options.get(fact.differentiates))
        if argnums is None:
            star = double_star = None
            values = [v if not isinstance(v, (Array, Tree)) else freshen(v) for v in values]
            return Arguments(values, kwargs, args.nodes, args.keyword_nodes, args.star, args.double_star, args.unknown_rest)
        for p in argnums or [0]:
            if isinstance(p, int) and -len(values) <= p < len(values):
                values[p] = inward(values[p])
        return Arguments(values, kwargs, args.nodes, args.keyword_nodes, args.star, args.double_star, args.unknown_rest)
    if fact.maps_axes is not None:
        return _cross_mapped(m, tv, args, level)
    statics = static_parameters(tv) if fact.statics else (set(), set())
    if statics is None:
        values = [lattice.tracify(v, level) if isinstance(v, Array) else v for v in values]
        return Arguments(values, kwargs, args.nodes, args.keyword_nodes, args.star, args.double_star, args.unknown_rest)
    positions, names = statics
    values = [v if i in positions else inward(v) for i, v in enumerate(values)]
    kwargs = {k: v if k in names else inward(v) for k, v in kwargs.items()}
    return Arguments(values, kwargs, args.nodes, args.keyword_nodes, star, double_star, args.unknown_rest)


def _axes_of(value: Value | None, count: int) -> list[Value | None]:
    """One entry per positional argument: the axes given for it; None where nobody knows."""
    if value is None:
        return [Const(0)] * count
    if isinstance(value, Const):
        return [value] * count
    known = known_elements(value)
    if known is not None:
        return [known[i] if i < len(known) else None for i in range(count)]
    return [None] * count


def _cross_mapped(m: Machine, tv: TransformedValue, args: Arguments, level: int) -> Arguments:
    """vmap, pmap, shard_map: mapped arguments lose an axis, unmapped ones stay as they are."""
    option = tv.options.get(tv.fact.maps_axes or "")
    is_specs = (tv.fact.maps_axes or "").endswith("specs")
    statics = static_parameters(tv) if tv.fact.statics else (set(), set())
    axes = _axes_of(option, len(args.values)) if not is_specs else _axes_of(option, len(args.values))
    filtered = tv.fact.filters and option is None
    values: list[Value] = []
    for i, (value, axis) in enumerate(zip(args.values, axes, strict=True)):
        if statics is None or i in statics[0]:
            values.append(value)
        elif filtered:
            values.append(lattice.filter_in(value, level, lane=True))
        elif is_specs:
            values.append(_cross_spec(value, axis, option, level))
        else:
            values.append(_cross_axis(value, axis, level, tv.fact.omnistaging))
    kwargs = dict(args.kwargs)
    if not is_specs:
        inward = lattice.filter_in if tv.fact.filters else lattice.tracify
        kwargs = {k: inward(v, level, lane=True) for k, v in kwargs.items()}
    star = None if args.star is None else Unknown("mapped") if option is not None else lattice.tracify(args.star, level, lane=True)
    return Arguments(values, kwargs, args.nodes, args.keyword_nodes, star, args.double_star, args.unknown_rest)


def _cross_axis(value: Value, axis: Value | None, level: int, omnistaging: bool) -> Value:
    if axis is None or isinstance(axis, (Unknown, Static, UnionValue)):
        # Computed axes: nobody knows whether this argument is mapped.
        return Unknown("computed in_axes") if not isinstance(value, (FunctionValue, Const, Instance)) else value
    if isinstance(axis, Const):
        if axis.value is None:
            return lattice.tracify(value, level) if omnistaging else value
        return lattice.tracify(value, level, lane=True)
    if isinstance(axis, (TupleValue, ListValue)) and isinstance(value, (TupleValue, ListValue)):
        inner_axes, inner = known_elements(axis), known_elements(value)
        if inner_axes is not None and inner is not None and len(inner_axes) == len(inner):
            parts = tuple(_cross_axis(v, a, level, omnistaging) for v, a in zip(inner, inner_axes, strict=True))
            if isinstance(value, TupleValue):
                return TupleValue(parts, value.cls, value.names)
            return ListValue(parts)
    if isinstance(axis, DictValue) and isinstance(value, DictValue):
        inner_dict = dict(axis.items())
        return DictValue(
            {k: _cross_axis(v, inner_dict.get(k), level, omnistaging) for k, v in value.items()},
            Unknown("mapped") if value.slots["open"] else None,
            is_open=value.slots["open"],
        )
    return Unknown("mapped")


def _cross_spec(value: Value, spec: Value | None, option: Value | None, level: int) -> Value:
    """shard_map: ``P(...)`` makes a tracer of anything; None leaves a Python value alone."""
    if isinstance(spec, Const) and spec.value is None:
        return value if not isinstance(value, Array) else lattice.tracify(value, level)
    if isinstance(spec, ExternalInstance) or (option is not None and isinstance(option, ExternalInstance)):
        return lattice.tracify(value, level)
    if isinstance(value, (Array, Tree)):
        return lattice.tracify(value, level)
    return Unknown("sharded")


def _shared_in_lanes(m: Machine, tv: TransformedValue, args: Arguments, crossed: Arguments) -> dict[Value, bool]:
    """Values that every lane of this vmap receives alike: passed with ``in_axes`` None, or captured."""
    option = tv.options.get(tv.fact.maps_axes or "")
    axes = _axes_of(option, len(args.values))
    passed: list[Value] = []
    for value, axis in zip(args.values, axes, strict=True):
        passed += _unmapped(value, axis)
    for lane in m.mode.lanes:
        mapped_outside = [v for v in passed if lattice.canonical_key(v) not in lane.shared]
        passed = [v for v in passed if v not in mapped_outside] or passed
    found = shared_values(passed, captured=False)
    operand = tv.operand
    while isinstance(operand, (PartialValue, TransformedValue, BoundMethod)):
        if isinstance(operand, PartialValue):
            found.update(shared_values([*operand.args, *operand.kwargs.values()], captured=False))
        operand = operand.operand if isinstance(operand, TransformedValue) else operand.func
    if isinstance(operand, FunctionValue):
        for key, captured in shared_values(list(captured_values(m, operand).values()), captured=True).items():
            found.setdefault(key, captured)
    return found


def _unmapped(value: Value, axis: Value | None) -> list[Value]:
    if isinstance(axis, Const) and axis.value is None:
        return [value]
    if isinstance(axis, (TupleValue, ListValue)):
        inner_axes, inner = known_elements(axis), known_elements(value)
        if inner_axes is not None and inner is not None:
            return [u for v, a in zip(inner, inner_axes, strict=False) for u in _unmapped(v, a)]
    return []


def transformed_method(m: Machine, frame: Frame, node: Any, tv: TransformedValue, name: str, args: Arguments) -> Value:
    """``jitted.lower(…)``, ``custom.defvjp(fwd, bwd)`` …"""
    if name in ("lower", "trace", "eval_shape") and tv.fact.tracing != "none":
        call_transformed(m, frame, node, tv, args)
        return Unknown(name)
    if name in DEFINING and tv.fact.model == "custom":
        return define(tv, name, args)
    return Unknown(name)


# --- models -------------------------------------------------------------------------------------------


Model = Callable[[Machine, Frame, Any, str, TransformFact, dict[str, Value], Arguments], Value]


def _inner(value: Value | None, level: int = ABSTRACT) -> Value:
    return lattice.tracify(value, level) if value is not None else Unknown("missing")


def _settled(before: Value, after: Value) -> Value:
    """The carry of a second iteration: what stayed the same stays, what changed is whatever it may become."""
    if before is after:
        return before
    if isinstance(before, TupleValue) and isinstance(after, TupleValue) and len(before.elts) == len(after.elts):
        return TupleValue(
            tuple(_settled(b, a) for b, a in zip(before.elts, after.elts, strict=True)), after.cls or before.cls, after.names or before.names
        )
    if isinstance(before, Instance) and isinstance(after, Instance) and before.cls is after.cls:
        made = Instance(after.cls, exact=after.exact, level=after.level, born=after.born)
        made.complete = after.complete
        for name in before.slots.keys() | after.slots.keys():
            b, a = before.slots.get(name), after.slots.get(name)
            made.slots[name] = _settled(b, a) if b is not None and a is not None else a if a is not None else b
        return made
    if isinstance(before, DictValue) and isinstance(after, DictValue):
        items = dict(before.items())
        return DictValue(
            {k: _settled(items[k], v) if k in items else v for k, v in after.items()},
            after.slots.get("*"),
            is_open=after.slots["open"],
        )
    if isinstance(before, (Array, Tree, Unknown)) and lattice.canonical_key(before) is lattice.canonical_key(after):
        return before
    # Whatever the first iteration was given, the second is given something else: a key among it is another key.
    return lattice.join(freshen(before), after)


def _loop_serial(m: Machine, node: Any, which: str) -> int:
    """One serial for all iterations of a loop's body, so that its second iteration meets the uses of the first."""
    key = (id(node), which, tuple(link.serial for link in m.stack))
    found = m.body_serials.get(key)
    if found is None:
        found = m.body_serials[key] = m.new_serial()
    return found


def _iterate(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, body: Value, first: Value,
    arguments: Callable[[Value], list[Value]], carry_of: Callable[[Value], Value],
) -> tuple[Value, Value]:  # fmt: skip
    """Run a loop body twice: once on the initial carry, once on what the carry may have become."""
    mode = enter(m, fact, name)
    loop = LoopState(name.rpartition(".")[2], node)
    m.loops.append(loop)
    serial = _loop_serial(m, node, "body")
    reports = len(m.emissions)
    result = _stage_body(m, frame, node, name, body, arguments(first), mode, serial)
    carry = _settled(first, carry_of(result))
    del m.emissions[reports:]
    result = _stage_body(m, frame, node, name, body, arguments(carry), mode, serial)
    m.loops.pop()
    return _settled(carry, carry_of(result)), result


def _stage_body(
    m: Machine, frame: Frame, node: Any, name: str, body: Value, values: list[Value], mode: Mode, serial: int
) -> Value:
    """Stage a loop body under a fixed serial for the body's own frame as well."""
    args = Arguments(values)
    operand = body
    while isinstance(body, (BoundMethod, PartialValue)):
        if isinstance(body, PartialValue):
            args = args.prepended(*body.args)
            args.kwargs = {**body.kwargs, **args.kwargs}
        else:
            args = args.prepended(body.self_value)
        body = body.func
    if isinstance(body, FunctionValue):
        from flake8_jax.semantics.calls import call_function_value

        saved_base = m.loop_base
        m.loop_base = len(m.loops)
        link = Link(frame.scope, node, "root", describe(body), f"{name} stages {describe(body)}", serial, None)
        m.stack.append(link)
        saved = m.mode
        m.mode = mode
        result = call_function_value(
            m, frame, node, body, args, serial=_loop_serial(m, node, "frame")
        )
        m.mode = saved
        m.stack.pop()
        m.loop_base = saved_base
        return result
    return stage(m, frame, node, name, operand, Arguments(values), mode, serial=serial)


def _scan(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    body = bound.get("f", Unknown("body"))
    first = _inner(bound.get("init"))
    xs = bound.get("xs", NONE)

    def arguments(carry: Value) -> list[Value]:
        return [carry, _axis_element(xs)]

    def carry_of(result: Value) -> Value:
        pair = known_elements(result)
        return pair[0] if pair is not None and len(pair) == 2 else Unknown("carry")

    carry, result = _iterate(m, frame, node, name, fact, body, first, arguments, carry_of)
    pair = known_elements(result)
    ys = pair[1] if pair is not None and len(pair) == 2 else Unknown("ys")
    level = outer_level(m, args)
    return TupleValue((lattice.release(carry, level), lattice.release(lattice.stack_axis(ys), level)))


def _axis_element(xs: Value) -> Value:
    """A slice of ``xs`` as the body sees it: surely tracers."""
    if isinstance(xs, Const) and xs.value is None:
        return NONE
    if isinstance(xs, Unknown):
        return Tree(ABSTRACT)
    return lattice.tracify(lattice.element_of_axis(xs), ABSTRACT)


def _map(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    body = bound.get("f", Unknown("body"))
    element = _axis_element(bound.get("xs", Unknown("xs")))
    _, result = _iterate(m, frame, node, name, fact, body, NONE, lambda carry: [freshen(element)], lambda r: NONE)
    return lattice.release(lattice.stack_axis(result), outer_level(m, args))


def _fori_loop(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    body = bound.get("body_fun", Unknown("body"))
    first = _inner(bound.get("init_val"))
    carry, _ = _iterate(
        m, frame, node, name, fact, body, first, lambda c: [Array(ABSTRACT, "int", 0), c], lambda r: r
    )
    return lattice.release(carry, outer_level(m, args))


def _while_loop(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    condition = bound.get("cond_fun", Unknown("cond"))
    body = bound.get("body_fun", Unknown("body"))
    first = _inner(bound.get("init_val"))
    mode = enter(m, fact, name)
    stage(m, frame, node, name, condition, Arguments([first]), mode)
    carry, _ = _iterate(m, frame, node, name, fact, body, first, lambda c: [c], lambda r: r)
    return lattice.release(carry, outer_level(m, args))


def _branches(m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, functions: list[Value], operands: list[Value]) -> Value:
    results: list[Value] = []
    arms = []
    for function in functions:
        mark = len(m.journal)
        results.append(stage(m, frame, node, name, function, Arguments(list(operands)), enter(m, fact, name)))
        arms.append(m.take_back(mark))
    m.merge(arms)
    return lattice.join_all(results) if results else Unknown("branch")


def _cond(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    operands = list(known_elements(bound["operands"]) or ()) if "operands" in bound else []
    if "operand" in bound:
        operands.append(bound["operand"])
    inner = [lattice.tracify(v, ABSTRACT) for v in operands]
    if args.star is not None:
        inner.append(Unknown("operands"))
    functions = [bound.get(p, Unknown("branch")) for p in fact.operands]
    result = _branches(m, frame, node, name, fact, functions, inner)
    return lattice.release(result, outer_level(m, args))


def _switch(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    operands = list(known_elements(bound["operands"]) or ()) if "operands" in bound else []
    if "operand" in bound:
        operands.append(bound["operand"])
    inner = [lattice.tracify(v, ABSTRACT) for v in operands]
    branches = bound.get("branches", Unknown("branches"))
    known = known_elements(branches)
    if known is None:
        element = lattice.any_element(branches) if isinstance(branches, ListValue) else Unknown("branch")
        known = lattice.members_of(element)
    result = _branches(m, frame, node, name, fact, list(known), inner)
    return lattice.release(result, outer_level(m, args))


def _associative_scan(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    elems = bound.get("elems", Unknown("elems"))
    function = bound.get("fn", Unknown("fn"))
    call(m, frame, node, function, Arguments([freshen(elems), freshen(elems)]))
    return relevelled(elems, result_level(m, [elems], library=True)) if not isinstance(elems, Unknown) else Unknown("scan")


def _call_now(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    """``f(fun, *args)``: eval_shape, vjp, jvp, linearize, closure_convert …"""
    operand = bound.get(fact.operands[0], Unknown("operand"))
    level = GRAD if fact.tracing == "concrete" else ABSTRACT
    own = {p for p in fact.params if not p.startswith("*")}
    inward = lattice.filter_in if fact.filters else lattice.tracify
    if fact.result == "jvp":
        primals = bound.get("primals")
        known = known_elements(primals) if primals is not None else None
        values = list(known) if known is not None else []
        inner = Arguments([inward(v, level) for v in values], unknown_rest=known is None)
    else:
        skip = 1 + sum(1 for p in fact.params[1:] if not p.startswith("*") and fact.params.index(p) < _first_star(fact.params))
        values = args.values[skip:]
        kwargs = {k: inward(v, level) for k, v in args.kwargs.items() if k not in own}
        inner = Arguments(
            [inward(v, level) for v in values], kwargs, args.nodes[skip:],
            star=inward(args.star, level) if args.star is not None else None, double_star=args.double_star,
        )  # fmt: skip
    result = stage(m, frame, node, name, operand, inner, enter(m, fact, name))
    outside = outer_level(m, Arguments(values))
    value = lattice.release(result, outside)
    if fact.result == "same":
        return value
    if fact.result == "shape":
        return _shapes(value)
    if fact.result == "jvp":
        return TupleValue((value, relevelled(value, outside)))
    if fact.result in ("vjp", "linearize"):
        pullback = Unknown("vjp function")
        option = bound.get("has_aux")
        if option is not None and not (isinstance(option, Const) and not option.value):
            pair = known_elements(value)
            if pair is not None and len(pair) == 2:
                return TupleValue((pair[0], pullback, pair[1]))
            return Unknown("vjp")
        return TupleValue((value, pullback))
    return value_of_descriptor(m, fact.result, outside, bound) if fact.result not in ("unknown", "jaxpr") else Unknown(name)


def _first_star(params: list[str]) -> int:
    return next((i for i, p in enumerate(params) if p.startswith("*")), len(params))


def _shapes(value: Value, depth: int = 8) -> Value:
    """ShapeDtypeStructs in place of arrays: static."""
    if isinstance(value, (Array, Tree, Unknown, HostArray)):
        return Unknown("shape and dtype")
    if depth == 0:
        return Unknown("shape and dtype")
    return lattice.map_leaves(value, lambda v: _shapes(v, depth - 1))


def _stage(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    """A library that stages its operands by contract, on arguments that nobody knows exactly."""
    for parameter in fact.operands:
        operand = bound.get(parameter)
        if operand is None:
            continue
        for member in known_elements(operand) or lattice.members_of(operand):
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
            descriptors = descriptors[:-1] + [descriptors[-2]] * max(0, (len(names) if names else 0) - len(descriptors) + 1)
        values = [
            lattice.tracify(value_of_descriptor(m, d, level, bound), level) if d != "unknown" else Unknown(d)
            for d in (descriptors[: len(names)] if names is not None else descriptors)
        ]
        stage(m, frame, node, name, operand, Arguments(values, unknown_rest=True), enter(m, fact, name))
    else:
        stage(m, frame, node, name, operand, Arguments([], unknown_rest=True), enter(m, fact, name))


def stage_unknown(
    m: Machine, frame: Frame, node: Any, name: str, operand: Value, what: str, traced_arguments: int = 0,
    *, leading: tuple[Value, ...] = (),
) -> None:  # fmt: skip
    """By contract a library runs this function staged and ambient; which parameters are traced is not known.

    traced_arguments: so many leading arguments surely are (pytrees of) tracers. leading: what they are, where known.
    """
    m.traces += 1
    mode = Mode(True, True, m.traces, m.mode.presumed, m.mode.lanes)
    names = parameter_names(operand) or []
    values: list[Value] = [*leading] or [Tree(ABSTRACT) for _ in names[:traced_arguments]]
    if m.presumption is not None:
        method = m.knowledge.method(name, what)
        function = operand
        while isinstance(function, (BoundMethod, PartialValue)):
            function = function.func
        if method is not None and isinstance(function, FunctionValue):
            m.presumption.contract(function.fn, names[: sum(not p.startswith("*") for p in method.params)])
    stage(m, frame, node, name, operand, Arguments(values, unknown_rest=True), mode, kind="contract")


# --- trees --------------------------------------------------------------------------------------------


def _tree_map(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    function = bound.get("f", Unknown("f"))
    trees = [bound.get("tree", Unknown("tree")), *(known_elements(bound["rest"]) or () if "rest" in bound else ())]
    with_path = fact.model == "tree_map_with_path"
    is_leaf = bound.get("is_leaf")
    custom_leaves = is_leaf is not None and not (isinstance(is_leaf, Const) and is_leaf.value is None)
    budget = [10]

    def at_leaf(leaves: list[Value]) -> Value:
        extra: list[Value] = [Static("shape")] if with_path else []
        more = Unknown("rest") if args.star is not None else None
        return call(m, frame, node, function, Arguments([*extra, *leaves], star=more))

    m.loops.append(LoopState("tree_map", node))
    mapped = _map_trees(m, trees, at_leaf, budget, custom_leaves)
    m.loops.pop()
    return mapped


def _map_trees(
    m: Machine, trees: list[Value], at_leaf: Callable[[list[Value]], Value], budget: list[int], custom_leaves: bool
) -> Value:
    first = trees[0]
    if isinstance(first, Const) and first.value is None:
        return NONE
    if isinstance(first, UnionValue):
        return lattice.union_of([_map_trees(m, [t, *trees[1:]], at_leaf, budget, custom_leaves) for t in first.members])
    if isinstance(first, (Array, HostArray, Const, Static)) or budget[0] <= 0:
        budget[0] -= 1
        return at_leaf([first, *[leaf_of(t) if not isinstance(t, (Array, Const)) else t for t in trees[1:]]])
    if isinstance(first, (Tree, Unknown)):
        leaf: Value = Array(first.level) if isinstance(first, Tree) and not custom_leaves else Tree(first.level) if isinstance(first, Tree) else Unknown("leaf")
        leaves = [leaf, *[_leaf_like(t) for t in trees[1:]]]
        result = at_leaf(leaves)
        if m.presumption is not None:
            for tree, seen in zip(trees, leaves, strict=True):
                if m.presumption.is_marked(seen):
                    m.presumption.mark(tree)
        if isinstance(result, (Array, Tree)):
            return Tree(result.level)
        if isinstance(result, TupleValue) and all(isinstance(v, (Array, Tree)) for v in result.elts):
            return Tree(max(v.level for v in result.elts))  # type: ignore[attr-defined]
        return Unknown("mapped tree")

    def child(step: Callable[[Value], Value | None]) -> Value:
        children = [step(t) or Unknown("rest") for t in trees]
        return _map_trees(m, children, at_leaf, budget, custom_leaves)

    if isinstance(first, TupleValue):
        return TupleValue(
            tuple(child(lambda t, i=i: _nth(t, i)) for i in range(len(first.elts))), first.cls, first.names
        )
    if isinstance(first, ListValue):
        known = first.known()
        if known is not None:
            return ListValue(tuple(child(lambda t, i=i: _nth(t, i)) for i in range(len(known))), born=m.mode.trace)
        return ListValue(None, child(lambda t: lattice.any_element(t) if isinstance(t, ListValue) else None), born=m.mode.trace)
    if isinstance(first, DictValue):
        items = {k: child(lambda t, k=k: _entry(t, k)) for k, _ in first.items()}
        rest = first.slots.get("*")
        return DictValue(
            items,
            child(lambda t: t.slots.get("*") if isinstance(t, DictValue) else None) if rest is not None else None,
            is_open=first.slots["open"],
            born=m.mode.trace,
        )
    if isinstance(first, Instance) and "pytree" in first.cls.traits:
        made = Instance(first.cls, exact=first.exact, level=first.level, born=m.mode.trace)
        made.complete = first.complete
        for attribute, value in list(first.slots.items()):
            if attribute in first.cls.static_names:
                made.slots[attribute] = value
            else:
                made.slots[attribute] = child(lambda t, a=attribute: t.slots.get(a) if isinstance(t, Instance) else None)
        return made
    budget[0] -= 1
    at_leaf([Unknown("leaf"), *[Unknown("leaf") for _ in trees[1:]]])
    return Unknown("mapped tree")


def _leaf_like(value: Value) -> Value:
    if isinstance(value, Tree):
        return Array(value.level)
    if isinstance(value, (TupleValue, ListValue, DictValue, Instance)):
        return leaf_of(value)
    return value if isinstance(value, (Array, Const, Static, HostArray)) else Unknown("leaf")


def _nth(value: Value, i: int) -> Value | None:
    known = known_elements(value)
    if known is not None:
        return known[i] if i < len(known) else None
    if isinstance(value, Tree):
        return Tree(value.level)
    return None


def _entry(value: Value, key: Any) -> Value | None:
    if isinstance(value, DictValue):
        return dict(value.items()).get(key)
    if isinstance(value, Tree):
        return Tree(value.level)
    return None


def _tree_reduce(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    function = bound.get(fact.operands[0], Unknown("f"))
    leaf = leaf_of(bound.get("tree", Unknown("tree")))
    start = bound.get("initializer", freshen(leaf))
    result = call(m, frame, node, function, Arguments([start, freshen(leaf)]))
    if isinstance(result, (Array, Tree)):
        return result
    return Unknown("reduced")


def _pallas_call(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    kernel = bound.get(fact.operands[0])
    if isinstance(kernel, (FunctionValue, PartialValue, BoundMethod)):
        names = parameter_names(kernel) or []
        refs: list[Value] = [ExternalInstance("jax.Ref", born=m.mode.trace) for _ in names]
        stage(m, frame, node, name, kernel, Arguments(refs, unknown_rest=True), enter(m, fact, name))
    return Unknown("pallas")


_MODELS: dict[str, Model] = {
    "scan": _scan,
    "map": _map,
    "fori_loop": _fori_loop,
    "while_loop": _while_loop,
    "cond": _cond,
    "switch": _switch,
    "associative_scan": _associative_scan,
    "call": _call_now,
    "stage": _stage,
    "custom_root": _stage,
    "custom_linear_solve": _stage,
    "tree_map": _tree_map,
    "tree_map_with_path": _tree_map,
    "tree_reduce": _tree_reduce,
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
            values.append(generic_instance(m, tv.operand.owner))
        else:
            values.append(Unknown(parameter))
    m.stack = list(chain)
    call_transformed(m, frame, node, tv, Arguments(values, unknown_rest=True))
    m.stack = []


