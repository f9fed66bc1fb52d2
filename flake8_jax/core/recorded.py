"""What a recorded run showed of a function, as far as the analysis can use it.

Vocabulary
----------
recorded run  the user's own command, run under ``jaxlint record``.
kind          what an argument was: ``traced``, ``tree`` (a pytree that holds a tracer), ``concrete``, ``array``, ``key``,
              ``other``; a key counts for two of them.
aval          shape and dtype (``f32[8,128]``), or the type of a plain value (``int``); flags as they are (``True``).
"""

from __future__ import annotations

import msgspec

MOST_AVALS = 4
"""So many different ones are kept of a parameter: where there are as many, there may have been more."""


class RecordedParameter(msgspec.Struct, frozen=True):
    """kinds: how often an argument was of which kind. avals: some of those seen."""

    name: str
    kinds: tuple[tuple[str, int], ...]
    avals: tuple[str, ...]

    def count(self, kind: str) -> int:
        return dict(self.kinds).get(kind, 0)


class RecordedFunction(msgspec.Struct, frozen=True):
    """A function that ran. path: absolute. line: of its first decorator, or of its ``def``. observed: calls while JAX built
    a jaxpr whose arguments were looked at; params: what these were in them."""

    path: str
    qualname: str
    line: int
    observed: int
    params: tuple[RecordedParameter, ...]
