"""Which operation gave the first NaN, of which line, and whether it belongs to a gradient.

With ``jax_debug_nans``, JAX looks at the results of every compiled program. If one has a NaN, JAX runs the operations of that
program one by one. As measured on JAX 0.4.30 and 0.10.2.

Vocabulary
----------
live      a row of the user's that runs right now. source: a row whose operation JAX differentiated or compiled before, as it
          keeps it with its equations.
gradient  an operation of a backward pass. forward: one of the function itself, with its line live, or under ``jvp``.
          unknown: JAX runs a compiled program of its own accord and does not say.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from flake8_jax.runtime_checks.child.places import Places

Record = Callable[[str, str, list[list[Any]], bool], None]
_WHOLE = ("jit", "pjit")
"""Names of programs that are no single operations; JAX runs their operations next."""


def watch_nans(places: Places, record: Record) -> None:
    """Call ``record`` whenever JAX finds a NaN: with the operation, its kind (see above), its source rows, and whether JAX
    differentiates a function around it."""
    from jax._src import dispatch

    name = "_check_special" if hasattr(dispatch, "_check_special") else "check_special"
    original = getattr(dispatch, name)
    found: type[Exception] = getattr(dispatch, "InternalFloatingPointError", FloatingPointError)

    def check(operation: str, *arguments: Any) -> Any:
        try:
            return original(operation, *arguments)
        except (FloatingPointError, found):
            inner = re.sub(r"^jit\((.*)\)$", r"\1", operation)
            live = [[place.path, place.row, place.function] for place in places.stack()]
            source = _source(places)
            if inner not in _WHOLE:
                record(inner, _kind(source, live), source or live, is_differentiating())
            raise

    setattr(dispatch, name, check)


def is_differentiating() -> bool:
    """Whether JAX differentiates a function that runs right now."""
    return any(_is_of_derivatives(frame) for frame in _frames())


def _kind(source: list[list[Any]], live: list[list[Any]]) -> str:
    if any(_is_of_derivatives(frame) and _is_backward(frame) for frame in _frames()) or "transpose" in _name_stack():
        return "gradient"
    return "unknown" if source and source[:1] != live[:1] else "forward"


def _is_of_derivatives(frame: FrameType) -> bool:
    return frame.f_code.co_filename.endswith(os.path.join("interpreters", "ad.py"))


def _is_backward(frame: FrameType) -> bool:
    return frame.f_code.co_name.startswith("backward_pass")


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _name_stack() -> str:
    from jax._src import source_info_util

    return str(source_info_util.current_name_stack())


def _source(places: Places) -> list[list[Any]]:
    """The user's rows that JAX keeps with the equation it runs, innermost first."""
    from jax._src import source_info_util

    context: Any = getattr(source_info_util, "_source_info_context", None)
    traceback = getattr(getattr(context, "context", None), "traceback", None)
    frames = [] if traceback is None else traceback.frames
    found = [(places.path_named(frame.file_name), frame.line_num, frame.function_name) for frame in frames]
    return [[path, row, function] for path, row, function in found if path is not None]
