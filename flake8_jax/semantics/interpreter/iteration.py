"""Iterating over abstract values: loops' elements and comprehensions.

Vocabulary
----------
make_element a function that gives the element of one iteration; a fresh one each time, so that the keys of
            ``for k in keys`` are different keys.

Limitations: the number of iterations, ``async`` iteration.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Union

from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import LoopState
from flake8_jax.semantics.domain.values import (
    BATCH,
    LOADER,
    Array,
    BoundMethod,
    Const,
    DictValue,
    FunctionValue,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    PartialValue,
    Static,
    StaticKind,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    copy_with_new_identity,
    is_traced_array,
    known_elements,
)
from flake8_jax.semantics.events.events import Iteration, IterationKind
from flake8_jax.semantics.interpreter.operations import call_method
from flake8_jax.semantics.interpreter.operators import result_level
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.buffers import read
from flake8_jax.semantics.trackers.forks import Forks, track_iterated
from flake8_jax.semantics.trackers.key_collections import KeyCollections, members_taken, whole_of
from flake8_jax.semantics.trackers.keys import begin_element
from flake8_jax.semantics.trackers.loaders import is_inherited_loader, track_batch
from flake8_jax.semantics.trackers.reads import Reads
from flake8_jax.semantics.trackers.variation import track_counter, track_elements

SMALL = 8
"""Known sequences up to this length are followed element by element."""
MAX_FUNCTIONS = 64
"""The same of functions, but for loops in several others: what is done with one of them shows nothing of the others."""
_FUNCTIONS = (FunctionValue, BoundMethod, PartialValue, TransformedValue)


ElementFactory = Callable[[], Value]
IterationMode = Union[IterationKind, Literal["no-events"]]
"""``no-events``: no event is emitted."""


def emit_iteration(
    m: Machine, frame: Frame, node: Any, value: Value, how: IterationKind, count: int | None = None
) -> None:
    """Tell the rules that an array is iterated over. how, count: as in ``events.Iteration``."""
    if m.bus.wants(Iteration) and isinstance(value, (Array, UnionValue)):
        if (isinstance(value, Array) or is_traced_array(value)) and getattr(value, "dtype", "") != "key":
            m.bus.emit(Iteration(m.path.context(frame.scope), node, value, how, count))


def iterated(
    m: Machine, frame: Frame, node: Any, value: Value, how: IterationMode, loop: LoopState | None
) -> ElementFactory | None:
    """How to get the element of one iteration; None if there is surely none. how: what iterates."""
    if how != "no-events":
        emit_iteration(m, frame, node, value, how)
    if m.trackers[Reads].matter and isinstance(value, Array):
        read(m, frame, node, value)
    if m.trackers[Forks].handles:
        track_iterated(m, frame, value)
    source = _SOURCES.get(type(value))
    make_element = source(m, Iterating(frame, node, loop), value) if source is not None else _any_element
    if make_element is None:
        return None
    if loop is None:
        return make_element if whole_of(value) is None else functools.partial(_some_element, m, value, make_element)
    return functools.partial(_next_element, m, loop, value, make_element)


def _some_element(m: Machine, iterable: Value, make_element: ElementFactory) -> Value:
    element = make_element()
    members_taken(m, iterable, element)
    return element


def _next_element(m: Machine, loop: LoopState, iterable: Value, make_element: ElementFactory) -> Value:
    element = make_element()
    m.journal.keep_alive.append(element)
    loop.elements.add(id(element))
    track_batch(m, loop, element)
    begin_element(m, loop, element)
    members = members_taken(m, iterable, element)
    if members:
        loop.records[KeyCollections] = members
    return element


class Iterating(NamedTuple):
    """Where an iteration stands. loop: whose elements these are, None for those of another iteration."""

    frame: Frame
    node: Any
    loop: LoopState | None


def _any_element() -> Value:
    return Unknown("element")


def _from_sequence(m: Machine, at: Iterating, value: TupleValue | ListValue) -> ElementFactory | None:
    known = known_elements(value)
    if known is None:
        assert isinstance(value, ListValue)
        element = joining.any_element(value)
        return lambda: joining.another(element) if at.loop is None else copy_with_new_identity(element)
    if not known:
        return None
    joined = joining.join_all(known)
    if at.loop is not None:
        track_elements(m, at.loop, known, joined)
        if _counts(known):
            return lambda: _counted(m, at.loop, copy_with_new_identity(joined))
    return lambda: copy_with_new_identity(joined)


def _counts(elements: tuple[Value, ...]) -> bool:
    """The elements of a short ``range``, or of ``enumerate``: another number in every iteration."""
    heads = [e.elts[0] if isinstance(e, TupleValue) and e.elts else e for e in elements]
    numbers = [h.value for h in heads if isinstance(h, Const) and type(h.value) is int]
    return len(numbers) == len(elements) > 1 and len({b - a for a, b in itertools.pairwise(numbers)} - {0}) == 1


def _counted(m: Machine, loop: LoopState | None, element: Value) -> Value:
    """The element, whose number is known to be that of the iteration."""
    counter = element.elts[0] if isinstance(element, TupleValue) else element
    if loop is not None:
        m.journal.keep_alive.append(counter)
        loop.counters.add(id(counter))
    return element


def _from_generator(m: Machine, at: Iterating, value: GeneratorValue) -> ElementFactory:
    produced, loop = value.element, at.loop
    if loop is None:
        return lambda: joining.another(produced)
    if not value.fresh:
        return lambda: copy_with_new_identity(produced)

    def next_element() -> Value:
        fresh = copy_with_new_identity(produced)
        counter = fresh.elts[0] if isinstance(fresh, TupleValue) else fresh
        m.journal.keep_alive.append(counter)
        loop.counters.add(id(counter))
        track_counter(m, loop, counter, value.numbers)
        return fresh

    return next_element


def is_followed(m: Machine, elements: tuple[Value, ...]) -> bool:
    """A comprehension over these is run element by element."""
    return 0 < len(elements) <= SMALL or are_functions(m, elements)


def are_functions(m: Machine, elements: tuple[Value, ...]) -> bool:
    """Not too many functions, or tuples that hold one each, that a loop in at most one other goes over."""
    loops = m.path.loops
    if len(loops) > 1 or any(loop.unrolled for loop in loops) or not 1 < len(elements) <= MAX_FUNCTIONS:
        return False
    return all(any(isinstance(part, _FUNCTIONS) for part in parts_of(element)) for element in elements)


def parts_of(element: Value) -> tuple[Value, ...]:
    """What a target of a loop takes apart."""
    return element.elts if isinstance(element, TupleValue) else (element,)


def _from_dict(m: Machine, at: Iterating, value: DictValue) -> ElementFactory | None:
    keys = [k for k, _ in value.items()]
    if not keys and value.is_closed():
        return None
    if keys and len(keys) <= SMALL and not value.slots["open"]:
        joined_key = joining.join_all([Const(k) for k in keys])
        return lambda: joined_key
    return lambda: Static("str", guess=True)


def _from_array(m: Machine, at: Iterating, value: Array) -> ElementFactory:
    ndim = value.ndim - 1 if value.ndim else None
    level, length = result_level(m, (value,)), boundary.row_length(value)

    def next_row() -> Value:
        row = Array(level, value.dtype, ndim, length, dispatched=value.dispatched)
        if value.dtype == "key":
            boundary.keep_seed(value, row)
        return row

    return next_row


def _from_host_array(m: Machine, at: Iterating, value: HostArray) -> ElementFactory:
    return lambda: HostArray(value.dtype, value.ndim - 1 if value.ndim else None)


def _from_static(m: Machine, at: Iterating, value: Static) -> ElementFactory:
    kind: StaticKind = "int" if value.kind == "shape" else "str" if value.kind == "str" else ""
    return lambda: Static(kind, guess=value.guess)


def _from_const(m: Machine, at: Iterating, value: Const) -> ElementFactory:
    return lambda: Static("str", guess=not isinstance(value.value, str))


def _from_union(m: Machine, at: Iterating, value: UnionValue) -> ElementFactory | None:
    element_makers = [iterated(m, at.frame, at.node, v, "no-events", at.loop) for v in value.members]
    present = [s for s in element_makers if s is not None]
    if not present:
        return None
    return lambda: joining.union_of([s() for s in present])


def _from_instance(m: Machine, at: Iterating, value: Instance) -> ElementFactory | None:
    """``__iter__`` gives the elements, or an object whose ``__next__`` does."""
    if is_inherited_loader(value):
        return lambda: Unknown(BATCH)
    iterator = call_method(m, at.frame, at.node, value, "__iter__")
    if iterator is not None and iterator is not value and not isinstance(iterator, Instance):
        return iterated(m, at.frame, at.node, iterator, "no-events", at.loop)
    owner = iterator if isinstance(iterator, Instance) else value
    return lambda: call_method(m, at.frame, at.node, owner, "__next__") or Unknown("element")


def _from_unknown(m: Machine, at: Iterating, value: Unknown) -> ElementFactory:
    if value.label == LOADER:
        return lambda: Unknown(BATCH)
    dispatched = dispatched_in(value)
    return (lambda: _result_element(dispatched)) if dispatched < 0 else _any_element


def _result_element(dispatched: int) -> Value:
    """An element of what a step of a training returned."""
    element = Unknown("element")
    element.dispatched = dispatched
    return element


def _from_tree(m: Machine, at: Iterating, value: Tree) -> ElementFactory:
    return lambda: Unknown("element of a pytree")


_SOURCES: dict[type, Callable[[Machine, Iterating, Any], ElementFactory | None]] = {
    TupleValue: _from_sequence,
    ListValue: _from_sequence,
    GeneratorValue: _from_generator,
    DictValue: _from_dict,
    Array: _from_array,
    HostArray: _from_host_array,
    Static: _from_static,
    Const: _from_const,
    UnionValue: _from_union,
    Instance: _from_instance,
    Tree: _from_tree,
    Unknown: _from_unknown,
}
"""How to get the elements of a value, by its type."""
