"""The class of a dtype, as far as a name tells.

Vocabulary
----------
dtype class ``bool``, ``int``, ``float`` or ``complex``; empty where the name says nothing.
"""

from __future__ import annotations

from flake8_jax.semantics.domain.values import BuiltinValue, Const, External, Value


def dtype_class(value: Value) -> str:
    """The class of a dtype argument: ``bool int float complex`` or the empty string."""
    name = ""
    if isinstance(value, BuiltinValue):
        name = value.name
    elif isinstance(value, External):
        name = value.name.rpartition(".")[2]
    elif isinstance(value, Const) and isinstance(value.value, str):
        name = value.value
    name = name.rstrip("_")
    for prefix, dtype in (
        ("bool", "bool"),
        ("uint", "int"),
        ("int", "int"),
        ("float", "float"),
        ("bfloat", "float"),
        ("complex", "complex"),
    ):
        if name.startswith(prefix):
            return dtype
    return ""
