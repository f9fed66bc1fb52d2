"""Which names an IR subtree reads: a plain walk over msgspec structs."""

from __future__ import annotations

from typing import Any

import msgspec

from flake8_jax.core import ir

_PLAIN = frozenset({int, str, bool, float, type(None)})


def names_read(node: Any) -> set[str]:
    """Every name that occurs in a subtree, nested functions included (what those bind themselves included too)."""
    found: set[str] = set()
    todo: list[Any] = [node]
    while todo:
        n = todo.pop()
        kind = type(n)
        if kind is ir.Name:
            found.add(n.id)
        elif kind is list or kind is tuple:
            todo += n
        elif kind not in _PLAIN:
            todo += [part for part in msgspec.structs.astuple(n) if type(part) not in _PLAIN]
    return found
