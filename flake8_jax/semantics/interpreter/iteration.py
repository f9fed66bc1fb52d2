"""Iterating over abstract values: loops' elements and comprehensions.

Vocabulary
----------
supply      a function that gives the element of one iteration; a fresh one each time, so that the keys of
            ``for k in keys`` are different keys.

Not modelled: the number of iterations, ``async`` iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import LoopState
from flake8_jax.semantics.domain.values import (
    Array,
    Const,
    DictValue,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    freshen,
    is_traced_array,
    known_elements,
)
from flake8_jax.semantics.events.events import Iteration
from flake8_jax.semantics.interpreter.operators import result_level
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.buffers import read
from flake8_jax.semantics.trackers.reads import Reads
from flake8_jax.semantics.trackers.variation import note_counter, note_elements

SMALL = 8
"""Known sequences up to this length are followed element by element."""


def iterated(
    m: Machine, frame: Frame, node: Any, value: Value, how: str, loop: LoopState | None, count: int | None = None
) -> Callable[[], Value] | None:
    """How to get the element of one iteration; None if there is surely none. how, count: as in ``events.Iteration``."""
    if how != "quiet" and m.bus.wants(Iteration) and isinstance(value, (Array, UnionValue)):
        if is_traced_array(value) and getattr(value, "dtype", "") != "key":
            m.bus.emit(Iteration(m.path.context(frame.scope), node, value, how, count))
    if m.trackers[Reads].matter and isinstance(value, Array):
        read(m, frame, node, value)
    known = known_elements(value)
    if known is not None:
        if not known:
            return None
        joined = joining.join_all(known)
        if loop is not None:
            note_elements(m, loop, known, joined)
        return lambda: freshen(joined)
    if isinstance(value, ListValue):
        element = joining.any_element(value)
        return lambda: freshen(element)
    if isinstance(value, GeneratorValue):
        produced = value.element

        def next_element() -> Value:
            fresh = freshen(produced)
            if loop is not None and value.fresh:
                counter = fresh.elts[0] if isinstance(fresh, TupleValue) else fresh
                m.journal.keep_alive.append(counter)
                loop.counters.add(id(counter))
                note_counter(m, loop, counter, value.numbers)
            return fresh

        return next_element
    if isinstance(value, DictValue):
        keys = [k for k, _ in value.items()]
        if not keys and not value.slots["open"] and "*" not in value.slots:
            return None
        if keys and len(keys) <= SMALL and not value.slots["open"]:
            joined_key = joining.join_all([Const(k) for k in keys])
            return lambda: joined_key
        return lambda: Static("str", guess=True)
    if isinstance(value, Array):
        ndim = value.ndim - 1 if value.ndim else None
        level, length = result_level(m, (value,)), boundary.row_length(value)

        def next_row() -> Value:
            row = Array(level, value.dtype, ndim, length, dispatched=value.dispatched)
            if value.dtype == "key":
                boundary.keep_seed(value, row)
            return row

        return next_row
    if isinstance(value, HostArray):
        return lambda: HostArray(value.dtype, value.ndim - 1 if value.ndim else None)
    if isinstance(value, Static):
        kind = {"shape": "int", "str": "str"}.get(value.kind, "")
        return lambda: Static(kind, guess=value.guess)
    if isinstance(value, Const):
        return lambda: Static("str", guess=not isinstance(value.value, str))
    if isinstance(value, UnionValue):
        supplies = [iterated(m, frame, node, v, "quiet", loop) for v in value.members]
        present = [s for s in supplies if s is not None]
        if not present:
            return None
        return lambda: joining.union_of([s() for s in present])
    if isinstance(value, Instance):
        from flake8_jax.semantics.interpreter.operations import call_method

        iterator = call_method(m, frame, node, value, "__iter__")
        if iterator is not None and iterator is not value and not isinstance(iterator, Instance):
            return iterated(m, frame, node, iterator, "quiet", loop)
        owner = iterator if isinstance(iterator, Instance) else value

        def step() -> Value:
            return call_method(m, frame, node, owner, "__next__") or Unknown("element")

        return step
    if isinstance(value, Tree):
        return lambda: Unknown("element of a pytree")
    return lambda: Unknown("element")
