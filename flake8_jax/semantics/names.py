"""Which names an IR subtree reads: a plain walk over msgspec structs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.core import ir

if TYPE_CHECKING:
    from flake8_jax.semantics.scopes import ModuleScope

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


def reads_itself(scope: ModuleScope, target: ir.Expr, source: ir.Expr | None) -> bool:
    """The new value is an expression over the old one: ``d[k] = d[k] + 1``, ``n = max(n, 1)``."""
    if source is None:
        return False
    wanted = scope.text[target.start : target.end]
    todo: list[Any] = [source]
    while todo:
        n = todo.pop()
        kind = type(n)
        if kind is list or kind is tuple:
            todo += n
        elif kind is type(target) and scope.text[n.start : n.end] == wanted:
            return True
        elif kind not in _PLAIN and kind is not ir.Lambda:
            todo += [part for part in msgspec.structs.astuple(n) if type(part) not in _PLAIN]
    return False
