"""Arrays that were put together from others, followed through functions, containers and compiled code.

Vocabulary
----------
grown       by array: the parts that it was concatenated from. Where an array takes the place of one of its parts at the end
            of an iteration, it is longer in the next one.
leaf        an array in the containers that a value is made of, with its place there: ``(0, "cache")``.

Limitations: lists and objects of libraries, parts that were computed from the old array before they were joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flake8_jax.semantics.domain.values import Array, DictValue, HostArray, Instance, Opaque, TupleValue, Value

Grown = dict[Value, frozenset[Value]]
Place = tuple[Any, ...]

GrownParts = tuple[tuple[Place, tuple[int, ...]], ...]
"""Leaves of a function's result, and from which of its inputs they were put together."""

_MAX_STEPS = 60
_DEPTH = 4


def leaves(value: Any, depth: int = _DEPTH) -> Iterator[tuple[Place, Value]]:
    """The leaves of a value, each with its place."""
    parts: Iterator[tuple[Any, Any]] | None = None
    if isinstance(value, TupleValue):
        parts = iter(enumerate(value.elts))
    elif isinstance(value, (DictValue, Instance)):
        parts = iter(list(value.slots.items()))
    if parts is None or not depth:
        if isinstance(value, Value):
            yield (), value
        return
    for name, part in parts:
        for place, leaf in leaves(part, depth - 1):
            yield (name, *place), leaf


def parts_of(grown: Grown, value: Any) -> set[Value]:
    """All that an array was put together from, by whatever number of steps."""
    found: set[Value] = set()
    todo = [value]
    while todo and len(found) < _MAX_STEPS:
        for part in grown.get(todo.pop(), ()):
            if part not in found:
                found.add(part)
                todo.append(part)
    return found


def longer_leaves(grown: Grown, old: Value, new: Any) -> set[Place]:
    """Which leaves of ``new`` were put together from those of ``old`` in the same place."""
    if type(old) is not type(new) and not (_is_array(old) and _is_array(new)):
        return set()
    before = dict(leaves(old))
    return {place for place, leaf in leaves(new) if place in before and before[place] in parts_of(grown, leaf)}


def _is_array(value: Any) -> bool:
    return isinstance(value, (Array, HostArray, Opaque))


def track_release(grown: Grown, inside: Value, outside: Value) -> None:
    """A compiled function returned ``inside``, which is ``outside`` for its caller."""
    without = dict(leaves(outside))
    for place, leaf in leaves(inside):
        released = without.get(place)
        if leaf in grown and released is not None and released is not leaf:
            sources = [part.origin for part in parts_of(grown, leaf) if isinstance(part, (Array, Opaque))]
            grown[released] = frozenset([source for source in sources if source is not None])


def grown_by(grown: Grown, inputs: list[Any], result: Value) -> GrownParts:
    """What of a function's result was put together from its inputs."""
    found: list[tuple[Place, tuple[int, ...]]] = []
    for place, leaf in leaves(result):
        if leaf in grown:
            parts = parts_of(grown, leaf)
            sources = tuple([i for i, value in enumerate(inputs) if isinstance(value, Value) and value in parts])
            if sources:
                found.append((place, sources))
    return tuple(found)


def grow_again(grown: Grown, record: GrownParts, inputs: list[Any], result: Value) -> None:
    """The function is called with other inputs."""
    now: Mapping[Place, Value] = dict(leaves(result))
    for place, sources in record:
        if place in now:
            grown[now[place]] = frozenset([inputs[i] for i in sources])
