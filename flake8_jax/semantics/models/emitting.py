"""Telling rules of calls of library functions, with what they were given.

Vocabulary
----------
bound       arguments by the function's parameters (see ``application``).
formatted   values that a string among the arguments was made of.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.knowledge.model import FunctionFact
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.host_tests import CHOOSING, is_host_test, is_leaf, written_as
from flake8_jax.semantics.domain.values import (
    Array,
    DictValue,
    ExternalInstance,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Value,
)
from flake8_jax.semantics.events.events import LibraryCall
from flake8_jax.semantics.events.facts import CHOSEN_BY_DATA
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.application import DescribedCall
from flake8_jax.semantics.trackers.buffers import read_by_library
from flake8_jax.semantics.trackers.freshness import track_needs_python
from flake8_jax.semantics.trackers.host_seeds import draws_on_host, is_fixed
from flake8_jax.semantics.trackers.readiness import track_number, track_read
from flake8_jax.semantics.trackers.reads import Reads

_SHOWING = ("print", "log")
_CASTS = frozenset({"builtins.float", "builtins.int", "builtins.bool", "builtins.complex", "builtins.print"})
_NO_VALUES: dict[str, Value] = {}
_NO_NODES: dict[str, ir.Expr] = {}


def emit_described(m: Machine, app: DescribedCall) -> None:
    """Tell the rules of the call of a function with a fact."""
    emit_call(m, app.name, app.at, app.fact, app.bound, app.nodes)
    if app.name in CHOOSING and not _is_chosen_by_host(m, app):
        m.bus.record_fact(CHOSEN_BY_DATA, app.at.frame.scope, app.at.node.start)


def _is_chosen_by_host(m: Machine, app: DescribedCall) -> bool:
    """What a ``where`` chooses, Python knows."""
    condition, link = CHOOSING[app.name][0], m.path.stack[-1] if m.path.stack else None
    node, function = app.nodes.get(condition), link.fn if link is not None else None
    if not is_host_test(app.bound.get(condition), node, function):
        return False
    written = written_as(node, function)
    parts = [written.left, *written.comparators] if isinstance(written, ir.Compare) else [written]
    texts = any(isinstance(part, ir.Constant) and type(part.value) is str for part in parts)
    asked = isinstance(written, ir.Compare) and written.ops[0] in ("is", "is not")
    bound = link.bound if link is not None else None
    return texts or asked or not any(is_leaf(part, bound) for part in parts)


def emit_call(
    m: Machine,
    name: str,
    at: Call,
    fact: FunctionFact | None = None,
    bound: dict[str, Value] = _NO_VALUES,
    nodes: dict[str, ir.Expr] = _NO_NODES,
) -> None:
    """Tell the rules of a call of a library function. bound, nodes: its arguments by parameter, where those are known."""
    _emit_call(m, name, at, fact, bound, nodes)
    mode = m.path.mode
    if mode.staged and not mode.ambient and draws_on_host(m, name):
        track_needs_python(m, draws=True)
    if m.path.loops:
        known = fact if fact is not None else m.program.knowledge.entry(name).function
        values, sync = [*at.args.values, *at.args.kwargs.values()], known.sync if known is not None else None
        if sync is not None or _reads(m, name, known):
            track_read(m, values, sync)
        if name == "builtins.float" and values:
            track_number(m, values[0])


def _reads(m: Machine, name: str, known: FunctionFact | None) -> bool:
    """The function needs its arguments on the host."""
    if known is not None:
        return known.host == "converts" or known.impure in _SHOWING or name in _CASTS
    namespace = m.program.knowledge.entry(name).namespace
    return name in _CASTS or (namespace is not None and (namespace.host == "converts" or namespace.impure in _SHOWING))


def _emit_call(
    m: Machine,
    name: str,
    at: Call,
    fact: FunctionFact | None,
    bound: dict[str, Value],
    nodes: dict[str, ir.Expr],
) -> None:
    args = at.args
    if m.trackers[Reads].matter:
        read_by_library(m, at.frame, at.node, name, [*args.values, *args.kwargs.values()])
    rules = m.bus.subscribers(LibraryCall)
    if not rules or type(at.node) is not ir.Call:
        return
    arrays, formatted = _arrays_in(args)
    known = m.program.knowledge.entry(name)
    rules = tuple([
        rule for rule in rules
        if (arrays or not rule.arrays) and (rule.effects is None or not rule.effects.isdisjoint(known.effects))
    ])  # fmt: skip
    if not rules:
        return
    m.bus.emit(
        LibraryCall(
            context=m.path.context(at.frame.scope),
            at=at.node,
            name=name,
            args=tuple(args.values),
            kwargs=args.kwargs,
            nodes=tuple(args.nodes),
            keyword_nodes=args.keyword_nodes,
            bound=bound,
            bound_nodes=nodes,
            used=at.used,
            fact=fact if fact is not None else known.function,
            namespace=known.namespace,
            formatted=formatted,
            fixed=is_fixed(m, name),
        ),
        rules,
    )


def _arrays_in(args: Arguments) -> tuple[bool, tuple[Value, ...]]:
    """Whether the arguments may hold arrays, and the values that strings among them were made of."""
    held: list[Value] = []
    arrays = False
    for value in (*args.values, *args.kwargs.values()):
        if type(value) in _MAY_HOLD_ARRAYS or dispatched_in(value):
            arrays = True
        elif type(value) is Static and value.holds:
            held += value.holds
            arrays = True
    return arrays, tuple(held)


_MAY_HOLD_ARRAYS = frozenset({Array, Tree, UnionValue, TupleValue, ListValue, DictValue, GeneratorValue, HostArray,
                              Instance, ExternalInstance})  # fmt: skip
