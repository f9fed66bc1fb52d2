"""Which values may be keys, and how code spells the key in a value: the attributes and items that lead to it.

Limitations: keys in containers of unknown contents, and further in than three steps.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import names_read
from flake8_jax.semantics.domain.stack import Link
from flake8_jax.semantics.domain.values import (
    Array,
    DictValue,
    Instance,
    Opaque,
    Tree,
    TupleValue,
    Unknown,
    Value,
    canonical_key,
)


def may_be_key(value: Value) -> bool:
    """An array of unknown dtype, an opaque value, or a known key."""
    return isinstance(value, (Unknown, Tree)) or (isinstance(value, Array) and value.dtype in ("key", ""))


def steps_to(value: Value | None, key: Value, depth: int = 3) -> str | None:
    """The attributes and items that lead from a value to the key in it: ``.rng``, ``["rng"]``."""
    if is_key(value, key):
        return ""
    if isinstance(value, Opaque):
        return _steps_from(canonical_key(value), key)
    parts: list[tuple[str, Any]] = []
    if isinstance(value, TupleValue):
        parts = [(f".{value.names[i]}" if value.names else f"[{i}]", v) for i, v in enumerate(value.elts)]
    elif isinstance(value, DictValue):
        parts = [(f'["{name}"]' if isinstance(name, str) else f"[{name}]", v) for name, v in value.items()]
    elif isinstance(value, Instance):
        parts = [(f".{name}", v) for name, v in value.slots.items()]
    for step, part in parts if depth else ():
        rest = steps_to(part, key, depth - 1) if isinstance(part, Value) else None
        if rest is not None:
            return step + rest
    return None


def is_captured(link: Link, key: Value, argument: ir.Expr | None) -> bool:
    """The called function reads the key by its name from around itself, and no argument of the call holds it."""
    base = argument
    while isinstance(base, (ir.Attribute, ir.Subscript)):
        base = base.value
    if not isinstance(base, ir.Name) or link.fn is None or link.bound is None or base.id in link.fn.local_names:
        return False
    held = (link.receiver, *link.bound.values())
    return base.id in names_read(link.fn.body) and all(steps_to(v, canonical_key(key)) is None for v in held)


def _steps_from(whole: Value, key: Value) -> str | None:
    """The steps by which a key was taken out of an opaque value."""
    steps = ""
    part: Any = key
    while isinstance(part, Opaque) and part.parent is not None:
        steps = part.step + steps
        part = canonical_key(part.parent)
        if part is whole:
            return steps.replace("'", '"') if "*" not in steps else None
    return None


def is_key(value: Value | None, key: Value) -> bool:
    """The value may be a key, and is that one."""
    return value is not None and may_be_key(value) and canonical_key(value) is key
