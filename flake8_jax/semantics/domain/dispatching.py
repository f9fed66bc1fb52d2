"""In which loop eager code gave the device the work that makes a value."""

from __future__ import annotations

from flake8_jax.semantics.domain.values import Array, Opaque, Value


def dispatched_in(value: Value | None) -> int:
    """The identity of the loop, 1 outside of loops; 0 if the value is not one of a device, or not known. Below zero: most
    likely, by the name of what returned it (see ``named_steps``)."""
    while isinstance(value, Opaque) and not value.dispatched:
        value = value.parent
    return value.dispatched if isinstance(value, (Array, Opaque)) else 0
