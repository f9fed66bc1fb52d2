"""The class of a dtype, as far as a name tells.

Vocabulary
----------
dtype class ``bool``, ``int``, ``float`` or ``complex``; empty where the name says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from flake8_jax.semantics.domain.values import BuiltinValue, Const, External, Value

_NAME = re.compile(r"(?:(bool)|(u?int)|(b?float)|(complex))(?:\d+(?:_e\w+)?|[cp])?_?")
_PARAMETERS = ("dtype", "new_dtype", "preferred_element_type")
_CLASSES = ("bool", "int", "float", "complex")


def dtype_class(value: Value) -> str:
    """The class of a dtype argument: ``bool int float complex`` or the empty string."""
    name = ""
    if isinstance(value, BuiltinValue):
        name = value.name
    elif isinstance(value, External):
        name = value.name.rpartition(".")[2]
    elif isinstance(value, Const) and isinstance(value.value, str):
        name = value.value
    found = _NAME.fullmatch(name)
    return _CLASSES[(found.lastindex or 1) - 1] if found is not None else ""


def asked_dtype(bound: Mapping[str, Value], *, hidden: bool = False) -> str | None:
    """The class of the dtype that a call asks for: empty where it asks for one that is not known, None where it leaves
    the choice to the function. hidden: there are arguments in ``*`` or ``**`` whose parameters are not known."""
    asked = next((bound[name] for name in _PARAMETERS if name in bound), None)
    if asked is None:
        return "" if hidden else None
    return None if isinstance(asked, Const) and asked.value is None else dtype_class(asked)
