"""Whether an index is a mask that JAX cannot take: one that it traces."""

from __future__ import annotations

from flake8_jax.semantics.domain.values import ABSTRACT, Array, TupleValue, UnionValue, Value


def holds_traced_mask(index: Value) -> bool:
    """A traced boolean array, alone or among the indices."""
    if isinstance(index, TupleValue):
        return any(holds_traced_mask(element) for element in index.elts)
    if isinstance(index, UnionValue):
        return all(holds_traced_mask(member) for member in index.members)
    return isinstance(index, Array) and index.dtype == "bool" and index.level == ABSTRACT
