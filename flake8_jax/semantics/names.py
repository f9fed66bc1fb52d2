"""Which names an IR subtree reads: a plain walk over msgspec structs."""

from __future__ import annotations

from typing import Any

import msgspec

from flake8_jax.core import ir


def names_read(node: Any) -> set[str]:
    """Every name that occurs in a subtree, nested functions included (what those bind themselves included too)."""
    found: set[str] = set()
    todo: list[Any] = [node]
    while todo:
        n = todo.pop()
        if type(n) is ir.Name:
            found.add(n.id)
        elif type(n) is list or type(n) is tuple:
            todo += n
        elif isinstance(n, msgspec.Struct):
            for name in n.__struct_fields__:
                value = getattr(n, name)
                if value is not None and type(value) not in (int, str, bool, float):
                    todo.append(value)
    return found
