"""Going through lowered trees, by a stack of their own: a chain of calls may be deeper than Python may recurse."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


def children(node: msgspec.Struct) -> Iterator[msgspec.Struct]:
    """The structs directly below ``node``: nodes, arguments, generators, functions."""
    for name in node.__struct_fields__:
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
        stack.extend(children(current))
