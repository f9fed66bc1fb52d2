"""The names by which imports may call a file, from its path alone.

Vocabulary
----------
folder      a directory as the names of its path.
tail        the last names of a file's path: what an import of the file spells if Python searches the folder above them. A file
            has one module name, but a project may import it by others, too: ``env.board`` beside ``src.env.board``.

Limitations: jaxlint does not read changes of ``sys.path``. Instead, it searches the folders above the importing file, and all
others if one file only has the tail.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")
Folder = tuple[str, ...]

_LONGEST_TAIL = 6


def tails(parts: Folder) -> Iterator[tuple[Folder, str]]:
    """The ways to split the path of a module: the folder above, and the dotted name below it."""
    for length in range(1, min(len(parts), _LONGEST_TAIL) + 1):
        if not parts[-length].isidentifier():
            return
        yield parts[:-length], ".".join(parts[-length:])


def nearest(folder: Folder, above: Mapping[Folder, T], *, dotted: bool, edits: bool) -> T | None:
    """What an import in ``folder`` finds, of all that has the tail. above: by the folder in which the tail starts.

    Python looks into the folder of the script. Projects are run from the folders above it, or have them in ``PYTHONPATH``. A
    name of several parts may start anywhere if one file has it; so may one of one part if the importing file changes
    ``sys.path`` (edits), as notebooks do that import from ``../src``. Otherwise it may be that of a library.
    """
    for depth in range(len(folder), -1, -1):
        if folder[:depth] in above:
            return above[folder[:depth]]
    return next(iter(above.values())) if (dotted or edits) and len(above) == 1 else None
