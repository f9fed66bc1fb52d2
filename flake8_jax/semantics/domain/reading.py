"""Where a block reads its variables, by its syntax alone.

Vocabulary
----------
place       the offset of a name that is read: not of one that is bound, and not of one that is deleted.
captured    a function within the block reads the variable, whenever it is called.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import below, free_names

_STATIC = frozenset({"shape", "dtype", "ndim", "size", "keys"})


class Reading:
    """places: by name, in order. nodes: the names by their places."""

    def __init__(self, body: list[ir.Stmt]) -> None:
        found: list[ir.Name] = []
        bound: set[int] = set()
        self._captured: set[str] = set()
        for statement in body:
            for node in walk(statement):
                if isinstance(node, ir.Name):
                    found.append(node)
                elif isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name) and node.attr in _STATIC:
                    bound.add(id(node.value))
                elif isinstance(node, ir.Function):
                    self._captured |= free_names(node)
                else:
                    bound.update(id(name) for target in _targets(node) for name in _names_in(target))
        self.nodes = {name.start: name for name in found if id(name) not in bound}
        self.places: dict[str, list[int]] = {}
        for place in sorted(self.nodes):
            self.places.setdefault(self.nodes[place].id, []).append(place)

    def is_read(self, name: str, end: int) -> bool:
        """The block reads the variable behind ``end``."""
        places = self.places.get(name, [])
        return bool(places) and places[-1] >= end

    def is_captured(self, name: str) -> bool:
        return name in self._captured

    def within(self, name: str, start: int, end: int) -> list[int]:
        """The places where the block reads the variable, from ``start`` to before ``end``."""
        places = self.places.get(name, [])
        return places[bisect_left(places, start) : bisect_left(places, end)]

    def first_use(self, name: str, end: int) -> ir.Name | None:
        """The first name behind ``end`` that reads the variable."""
        places = self.places.get(name, [])
        number = bisect_right(places, end - 1)
        return self.nodes[places[number]] if number < len(places) else None


def _targets(node: Any) -> list[Any]:
    if isinstance(node, (ir.Assign, ir.Delete)):
        return list(node.targets)
    if isinstance(node, (ir.AnnAssign, ir.NamedExpr, ir.For, ir.Generator)):
        return [node.target]
    return [item.target for item in node.items if item.target is not None] if isinstance(node, ir.With) else []


def _names_in(target: Any) -> list[ir.Name]:
    """The names that a target binds."""
    if isinstance(target, ir.Name):
        return [target]
    if isinstance(target, (ir.Tuple, ir.List, ir.Starred)):
        return [name for part in below(target) for name in (_listed(part))]
    return []


def _listed(part: Any) -> list[ir.Name]:
    if isinstance(part, list):
        return [name for inner in part for name in _names_in(inner)]
    return _names_in(part)
