"""Calls of library functions and classes by name.

    name ─► transform ─► transforms          function without a fact ─► its namespace
         ─► handler ─► functions, stdlib …   function with a fact    ─► facts
         ─► class ─► an instance

Vocabulary
----------
entry       what the knowledge tables hold of a name: a transform, a function, a class; of any name its namespace.
contract    what a library does with functions that it is given (see ``staging``).

A call that the tables do not know gives an unknown result and has no effect.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.knowledge.model import ClassFact, FunctionFact
from flake8_jax.semantics.domain.arguments import Call, bind_parameters
from flake8_jax.semantics.domain.values import (
    LIBRARY,
    BoundMethod,
    Const,
    External,
    ExternalInstance,
    FunctionValue,
    Instance,
    PartialValue,
    TupleValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.events.facts import draws_from
from flake8_jax.semantics.interpreter.objects import make_instance, value_of_descriptor
from flake8_jax.semantics.interpreter.operators import result_level
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import CALL, SPECIAL
from flake8_jax.semantics.models.emitting import emit_call
from flake8_jax.semantics.models.facts import ARRAY_NAMESPACES, call_fact, given
from flake8_jax.semantics.models.registering import register_class
from flake8_jax.semantics.models.sizes import emit_joined_keys
from flake8_jax.semantics.models.staging import Contract, stage_unknown
from flake8_jax.semantics.models.tables import Handler
from flake8_jax.semantics.models.transforms import apply_transform
from flake8_jax.semantics.trackers.allocations import track_made_here
from flake8_jax.semantics.trackers.axes import check_spec
from flake8_jax.semantics.trackers.call_signatures import CallSignatures
from flake8_jax.semantics.trackers.captures import Captures, embed, track_exported
from flake8_jax.semantics.trackers.checkpoint_paths import SAVERS, CheckpointPaths
from flake8_jax.semantics.trackers.clocks import CLOCKS, PROFILING, read_clock, track_trace
from flake8_jax.semantics.trackers.contracts import track_function_rule
from flake8_jax.semantics.trackers.forks import track_library_fork
from flake8_jax.semantics.trackers.growth import track_library_call as track_made
from flake8_jax.semantics.trackers.host_buffers import (
    RACING,
    SHARING,
    HostBuffers,
    Kind,
    track_filled_by,
    track_given,
    track_made_by,
)
from flake8_jax.semantics.trackers.key_conventions import track_key_given
from flake8_jax.semantics.trackers.linen_calls import check_submodule
from flake8_jax.semantics.trackers.loaders import track_loader
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.process import COMPUTED, TAKEN, Process, track_library_call, track_spawn
from flake8_jax.semantics.trackers.replicas import Replicas, track_unknown_call
from flake8_jax.semantics.trackers.runs import track_wrapped
from flake8_jax.semantics.trackers.staleness import forget_compiled
from flake8_jax.semantics.trackers.variation import vary_call
from flake8_jax.semantics.trackers.versions import ApiUses


def call_external(m: Machine, func: External, at: Call) -> Value:
    """Call a library function or class."""
    name, known = func.name, m.program.knowledge.entry(func.name)
    versions = m.trackers[ApiUses].versions
    if versions is not None and name in versions.callees:
        versions.called(m, name, at)
    signatures = m.trackers[CallSignatures]
    if name in signatures.names:
        signatures.check(m, name, at)
    if name in SAVERS:
        m.trackers[CheckpointPaths].check(m, name, at)
    if known.transform is not None:
        emit_call(m, name, at)
        if m.trackers[Captures].constants and known.transform.tracing != "none":
            embed(m, given(at.args))
        return apply_transform(m, name, known.transform, at)
    if m.trackers[Presuming].presumption is not None:
        track_function_rule(m, name, at.args)
    handler = SPECIAL.get(name)
    if handler is not None:
        return _handled(m, name, known.function, at, handler)
    if known.function is not None:
        return _described(m, name, known.function, at)
    if known.class_ is not None:
        return _construct(m, name, known.class_, at)
    emit_call(m, name, at)
    track_spawn(m, at.frame, name)
    space = None if versions is not None and versions.histories.is_nowhere(name) else known.namespace
    if space is None and m.trackers[Replicas].running:
        track_unknown_call(m, name.rpartition(".")[2], (*at.args.values, *at.args.kwargs.values()))
    if space is None or space.returns == "unknown":
        track_key_given(m, func, at)
        unknown = Unknown(LIBRARY)
        track_wrapped(m, func, given(at.args), unknown)
        track_library_fork(m, at, name, unknown)
        track_loader(m, at, name, unknown)
        return unknown
    result = value_of_descriptor(m, space.returns, result_level(m, given(at.args), library=True), {})
    track_library_fork(m, at, name, result)
    return result


def _handled(m: Machine, name: str, fact: FunctionFact | None, at: Call, handler: Handler) -> Value:
    """Call a function that has a handler."""
    args = at.args
    bound, nodes = bind_parameters(fact.params, args) if fact is not None else (args.kwargs, args.keyword_nodes)
    emit_call(m, name, at, fact, bound, nodes)
    emit_joined_keys(m, name, at)
    if m.trackers[Captures].constants and name.startswith(ARRAY_NAMESPACES):
        embed(m, args.values)
    result = handler(m, at.frame, at.node, args)
    if name.startswith("itertools."):
        track_made_here(m, result)
    if m.path.loops:
        vary_call(m, name, args.values, bound, result)
        track_made(m, at, name, result)
    return result


def _described(m: Machine, name: str, fact: FunctionFact, at: Call) -> Value:
    """Call a function that has a fact, and remember what that does to the process."""
    result = call_fact(m, name, fact, at)
    if m.trackers[HostBuffers].narrow or name.startswith("numpy."):
        _track_buffers(m, name, fact, at, result)
    if name == "jax.export.export" and at.args.values:
        track_exported(m, at.args.values[0])
    if name.endswith(".clear_caches"):
        forget_compiled(m)
    if m.path.loops:
        vary_call(m, name, at.args.values, bind_parameters(fact.params, at.args)[0], result)
        track_made(m, at, name, result)
    if m.trackers[Process].points[COMPUTED] is not TAKEN:
        track_library_call(m, at.frame, at.node, name, result)
    if name in PROFILING:
        track_trace(m, at.frame, at.node, name)
    if fact.impure is not None:
        track_spawn(m, at.frame, name)
        if fact.impure == "time" and name in CLOCKS:
            return read_clock(m, at.frame, at.node, result)
    return result


def _track_buffers(m: Machine, name: str, fact: FunctionFact, at: Call, result: Value) -> None:
    """Arrays of NumPy that the function makes, writes, or hands to JAX."""
    args = at.args
    if name.startswith("numpy."):
        track_made_by(m, name, args.values, bind_parameters(fact.params, args)[0], result)
        track_filled_by(m, at.frame, at.node, name, args.values, args.kwargs)
    elif name in RACING or name in SHARING:
        kind: Kind = "shared" if name in SHARING else "raced"
        track_given(m, at.frame, at.node, zip(args.values[:1], args.nodes[:1]), result, kind)


def _construct(m: Machine, name: str, fact: ClassFact, at: Call) -> Value:
    """Call a library class."""
    args = at.args
    if fact.decorator:
        return register_class(m, name, args)
    emit_call(m, name, Call(at.frame, at.node, args))
    check_submodule(m, at.frame, at.node, name, args)
    made = make_instance(m, name, result_level(m, given(args)), args)
    if "rng_collection" in fact.order or "dropout_rate" in args.kwargs:
        collection = args.kwargs.get("rng_collection", Const("dropout"))
        if isinstance(collection, Const) and isinstance(collection.value, str):
            m.bus.record_everywhere(draws_from(collection.value))
    stage_contracts(m, at, name, fact, made)
    if name == "jax.sharding.NamedSharding" and isinstance(made, ExternalInstance):
        written = args.nodes[1] if len(args.nodes) > 1 else args.keyword_nodes.get("spec")
        check_spec(m, at.frame, at.node, made.slots.get("mesh"), made.slots.get("spec"), written)
    return made


def stage_contracts(m: Machine, at: Call, name: str, fact: ClassFact, made: Value) -> None:
    """Functions passed to a library object that runs them staged (``GradientTransformation(init, update)``)."""
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
            traced = len([p for p in parameters if not p.startswith("*")])
            stage_unknown(m, at.frame, at.node, Contract(name, method, operand, traced))


CALL[External] = call_external
