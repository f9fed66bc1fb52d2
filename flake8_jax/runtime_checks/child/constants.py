"""What a name stands for at a line: a tracer, or an array that the program does not get as an argument.

Only variables and the ``__dict__`` of objects are looked at: no property and no ``__getattr__`` of the user's runs.

Limitations: elements of containers; attributes of objects with ``__slots__``; variables of comprehensions.
"""

from __future__ import annotations

import re
from types import FrameType
from typing import Any

_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_ABSENT = object()


def is_name(text: str) -> bool:
    """Whether a text is a name, with dots or without."""
    return _DOTTED.fullmatch(text) is not None


def array_bytes(name: str, frame: FrameType) -> int | None:
    """Bytes of the array that a name stands for in a frame; 0 if it is a tracer, None if it is neither."""
    import jax
    import numpy

    first, *rest = name.split(".")
    value: Any = frame.f_locals.get(first, frame.f_globals.get(first, _ABSENT))
    for part in rest:
        value = _held(value).get(part, _ABSENT)
    if isinstance(value, jax.core.Tracer):
        return 0
    return int(value.nbytes) if isinstance(value, (jax.Array, numpy.ndarray)) else None


def _held(value: Any) -> dict[str, Any]:
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return dict(found)
