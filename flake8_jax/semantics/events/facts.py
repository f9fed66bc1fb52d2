"""Names of facts that are noted of a place or of the whole program, and that reports may depend on.

A report made ``unless`` a fact holds is superseded as soon as some path notes it.
"""

from __future__ import annotations

from flake8_jax.semantics.domain.values import Const, Value

UNDONE = "change undone"

CHANGED_HERE = "changed by staged code"


def is_on(value: Value) -> bool:
    """A switch is given a value that surely turns it on."""
    if not isinstance(value, Const):
        return False
    if isinstance(value.value, str):
        return value.value.lower() in ("1", "t", "true", "y", "yes", "on")
    return value.value is True or value.value == 1
