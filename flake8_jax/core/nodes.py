"""Going through lowered trees, by a stack of their own: a chain of calls may be deeper than Python may recurse."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import msgspec

_PLAIN = frozenset({int, str, bool, float, bytes})


@cache
def _fields_with_nodes(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold other nodes: half of all nodes are names, which have none."""
    return tuple(field.name for field in msgspec.structs.fields(kind) if field.type not in _PLAIN)


def children(node: msgspec.Struct) -> Iterator[msgspec.Struct]:
    """The structs directly below ``node``: nodes, arguments, generators, functions."""
    for name in _fields_with_nodes(type(node)):
        value = getattr(node, name)
        if isinstance(value, msgspec.Struct):
            yield value
        elif type(value) is list:
            for item in value:
                if isinstance(item, msgspec.Struct):
                    yield item


def walk(node: msgspec.Struct) -> Iterator[msgspec.Struct]:
    """``node`` and everything below it, functions included, in no particular order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        for name in _fields_with_nodes(type(current)):  # as ``children``, but without a generator for each node
            value = getattr(current, name)
            if isinstance(value, msgspec.Struct):
                stack.append(value)
            elif type(value) is list:
                stack += [item for item in value if isinstance(item, msgspec.Struct)]
