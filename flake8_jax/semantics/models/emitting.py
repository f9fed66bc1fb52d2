"""Telling rules of calls of library functions, with what they were given."""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.knowledge.model import FunctionFact
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.scopes import Frame
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
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.buffers import read_by_library
from flake8_jax.semantics.trackers.reads import Reads


def tell_call(
    m: Machine,
    frame: Frame,
    node: Any,
    name: str,
    args: Arguments,
    fact: FunctionFact | None,
    *,
    used: bool,
    bound: dict[str, Value] | None = None,
    bound_nodes: dict[str, ir.Expr] | None = None,
) -> None:
    """Tell the rules of a call of a library function."""
    if m.trackers[Reads].matter:
        read_by_library(m, frame, node, name, [*args.values, *args.kwargs.values()])
    rules = m.bus.hearers(LibraryCall)
    if not rules or type(node) is not ir.Call:
        return
    held: list[Value] = []
    arrays = False
    for value in (*args.values, *args.kwargs.values()):
        if type(value) in _MAY_HOLD_ARRAYS:
            arrays = True
        elif type(value) is Static and value.holds:
            held += value.holds
            arrays = True
    known = m.program.knowledge.entry(name)
    rules = tuple([
        rule for rule in rules
        if (arrays or not rule.arrays) and (rule.effects is None or not rule.effects.isdisjoint(known.effects))
    ])  # fmt: skip
    if not rules:
        return
    m.bus.emit(
        LibraryCall(
            context=m.path.context(frame.scope),
            at=node,
            name=name,
            args=tuple(args.values),
            kwargs=args.kwargs,
            nodes=tuple(args.nodes),
            keyword_nodes=args.keyword_nodes,
            bound=bound if bound is not None else {},
            bound_nodes=bound_nodes if bound_nodes is not None else {},
            used=used,
            fact=fact if fact is not None else known.function,
            namespace=known.namespace,
            formatted=tuple(held),
        ),
        rules,
    )


_MAY_HOLD_ARRAYS = frozenset({Array, Tree, UnionValue, TupleValue, ListValue, DictValue, GeneratorValue, HostArray,
                              Instance, ExternalInstance})  # fmt: skip
