"""Frames of the user's code: which they are, and where they stand.

Vocabulary
----------
roots    the folders and files that are looked at. around: further ones of the user's, such as the script that is run: seen
         on stacks, not recorded. place: a file and a row. stack: the places of the user's frames
         that are running, innermost first, each with the serial number of its run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType, FrameType


@dataclass(frozen=True)
class Place:
    """A frame of the user's code. run: the number of this call of the function."""

    path: str
    row: int
    function: str
    run: int


def _folder(path: str) -> str:
    return os.path.join(os.path.abspath(path), "")


_SELF = _folder(os.path.dirname(os.path.dirname(__file__)))


def _is_library(path: str) -> bool:
    return "site-packages" in path or "dist-packages" in path or path.startswith(_SELF)


class Places:
    """Knows the user's code objects."""

    def __init__(self, roots: list[str], around: Sequence[str] = ()) -> None:
        self._folders = tuple(_folder(root) for root in roots if os.path.isdir(root))
        self._files = frozenset(os.path.abspath(root) for root in roots if not os.path.isdir(root))
        self._start = os.getcwd()  # the program may go elsewhere
        self._around = tuple(_folder(path) for path in around)
        # By identity: hashing a code object hashes its constants. The code is kept, so an identity is never used again.
        self._known: dict[int, tuple[CodeType, str | None]] = {}
        self._runs: dict[FrameType, int] = {}
        self._notebooks: dict[str, int] = {}
        self._count = 0

    def path_of(self, code: CodeType) -> str | None:
        """The absolute path of a code object of the user's; None for others."""
        known = self._known.get(id(code))
        if known is None:
            known = self._known[id(code)] = (code, self.path_named(code.co_filename))
        return known[1]

    def path_named(self, name: str) -> str | None:
        """The absolute path of a file of the user's, by the name that Python has for it; None for others."""
        path = (
            "" if name.startswith("<") else os.path.normpath(os.path.join(self._start, name))
        )  # frozen or made by exec: no file
        ours = self.is_root(path) or (path.startswith(self._around) and not _is_library(path))
        return path if ours else None

    def is_root(self, path: str) -> bool:
        """Below the roots; of installed packages only what was asked for by name."""
        if path in self._files:
            return True
        within = [folder for folder in self._folders if path.startswith(folder)]
        return any(_is_library(folder) or not _is_library(path) for folder in within)

    def enter(self, frame: FrameType) -> int:
        """Number a run that begins; a generator keeps the number of its first part, and the cells of a notebook have one."""
        run = self._runs.get(frame)
        code = frame.f_code
        if run is None and code.co_name == "<module>" and code.co_filename.endswith(".ipynb"):
            run = self._notebooks.get(code.co_filename)
            if run is None:
                self._count += 1
                run = self._notebooks[code.co_filename] = self._count
            self._runs[frame] = run
        if run is None:
            self._count += 1
            run = self._runs[frame] = self._count
        return run

    def leave(self, frame: FrameType) -> None:
        self._runs.pop(frame, None)

    def run_of(self, frame: FrameType) -> int:
        return self._runs.get(frame, 0)

    def stack(self, frame: FrameType | None = None) -> list[Place]:
        """The user's frames around ``frame`` (the caller's, if None), innermost first."""
        found: list[Place] = []
        current = frame if frame is not None else sys._getframe(1)
        while current is not None:
            path = self.path_of(current.f_code)
            if path is not None:
                code = current.f_code
                name = getattr(code, "co_qualname", code.co_name)  # co_qualname: Python 3.11
                found.append(Place(path, current.f_lineno, name, self.run_of(current)))
            current = current.f_back  # type: ignore[assignment]
        return found
