"""Jit switched off for some lines of a program, so that what they compute can be seen, and the rest of it is as fast as ever.

Vocabulary
----------
line     the first row of a statement of the user's, by path.
caller   the line outside of all traces at which JAX began to trace what holds a watched row. It is known when that row runs
         under the trace; from the next time on, jit is off there. passed: how often such a line ran so.

Jit is off for all that a line calls. A line that runs while JAX traces shows no values, with jit or without.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any

from flake8_jax.runtime_checks.child.places import Places
from flake8_jax.runtime_checks.child.tracing import is_ambient

_TRACING = "partial_eval.py"
"""The file of JAX through which all of its traces to jaxprs go."""


class Switch:
    """Switches jit off and on again. lines: where from the beginning; only_learns: it finds callers, and switches nothing."""

    def __init__(self, lines: Iterable[tuple[str, int]], *, only_learns: bool = False) -> None:
        self._lines = dict.fromkeys(lines, 0)
        self._callers: set[tuple[str, int]] = set()
        self._only_learns = only_learns
        self._owner: FrameType | None = None
        self._rows: dict[int, tuple[CodeType, int, int]] = {}

    def report(self) -> list[list[Any]]:
        """The callers, and how often each has run without jit since it was known."""
        return [[path, row, self._lines.get((path, row), 0)] for path, row in list(self._callers)]

    def is_in(self, path: str | None, code: CodeType) -> bool:
        """Whether a code object may have such lines."""
        if not self._lines:
            return False
        if id(code) not in self._rows:
            last = max((row for _, _, row in code.co_lines() if row is not None), default=0)
            self._rows[id(code)] = (code, 0 if code.co_name == "<module>" else code.co_firstlineno, last)
        _, first, last = self._rows[id(code)]
        return any(path == known and first <= row <= last for known, row in self._lines)

    def pass_line(self, frame: FrameType, line: tuple[str, int]) -> None:
        """A line begins to run; the frame's line before it is over."""
        wanted = line in self._lines and not self._only_learns and not is_ambient()
        if self._owner is frame and not wanted:
            self._set(None)
        elif self._owner is None and wanted:
            self._set(frame)
        if wanted:
            self._lines[line] += 1

    def leave(self, frame: FrameType) -> None:
        """A frame ends, or gives way for a while."""
        if self._owner is frame:
            self._set(None)

    def staged(self, frame: FrameType, places: Places, first_row: Callable[[FrameType], int]) -> None:
        """A row of interest runs while JAX traces: note who had it traced."""
        current: FrameType | None = frame
        caller: FrameType | None = None
        is_traced = False
        while current is not None:
            if current.f_code.co_filename.endswith(_TRACING):
                caller, is_traced = None, True
            elif is_traced and caller is None and places.path_of(current.f_code) is not None:
                caller = current
            current = current.f_back
        if caller is not None:
            line = (places.path_of(caller.f_code) or "", first_row(caller))
            self._callers.add(line)
            self._lines.setdefault(line, 0)
            caller.f_trace_lines = True

    def _set(self, owner: FrameType | None) -> None:
        self._owner = owner
        config = getattr(sys.modules.get("jax"), "config", None)
        if config is not None:
            config.update("jax_disable_jit", owner is not None)
