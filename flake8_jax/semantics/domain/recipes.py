"""Whether an array hangs on an argument that is differentiated by.

Vocabulary
----------
tangent     the array was computed from such an argument, so a derivative flows through it.
"""

from __future__ import annotations

from flake8_jax.semantics.domain.values import Array, Opaque, UnionValue, Value


def has_tangent(value: Value, tangents: frozenset[Value] | set[Value]) -> bool:
    """The array surely hangs on an argument that is differentiated by."""
    if isinstance(value, UnionValue):
        return all(has_tangent(v, tangents) for v in value.members)
    if isinstance(value, Array) and value.dtype in ("int", "bool", "key"):
        return False
    return _stands_for_one_of(value, tangents)


def _stands_for_one_of(value: Value, tangents: frozenset[Value] | set[Value], depth: int = 12) -> bool:
    """The value is one of those, a part of one, or the same seen through a staging boundary."""
    if value in tangents:
        return True
    if not depth or not isinstance(value, (Array, Opaque)):
        return False
    if value.origin is not None and _stands_for_one_of(value.origin, tangents, depth - 1):
        return True
    parent = value.parent if isinstance(value, Opaque) else None
    return parent is not None and _stands_for_one_of(parent, tangents, depth - 1)
