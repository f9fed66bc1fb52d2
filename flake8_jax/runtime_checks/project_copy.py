"""A copy of the user's project to run in, so that nothing of theirs is changed.

Vocabulary
----------
root     a folder of the user's that is copied whole: a project. Left out: version control, caches, virtual environments.
linked   a file that is too large to copy; the copy has a symbolic link to it, and who writes to it writes to the original.

Files outside the roots are used where they are. Limitations: paths of the project in environment variables other than
``PYTHONPATH``, or computed by the program.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

LINKED_FROM = 20 << 20
MOST_BYTES = 2 << 30
MOST_FILES = 50_000
_LEFT_OUT = frozenset(
    {
        ".git", ".hg", ".svn", ".jj", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis",
        ".jaxlint_cache", ".jaxlint", ".tox", ".nox", ".venv", "node_modules", ".ipynb_checkpoints",
    }
)  # fmt: skip


class CopyError(Exception):
    """The project cannot be copied; the message names it and says what to do."""


class ProjectCopy(msgspec.Struct, frozen=True):
    """pairs: original and copied roots."""

    pairs: tuple[tuple[str, str], ...]

    def copied(self, path: str) -> str:
        """Return the copy of an original path; a path outside the roots stays as it is."""
        return _moved(path, self.pairs)

    def original(self, path: str) -> str:
        """Return the original of a path in the copy; other paths stay as they are."""
        return _moved(path, [(copy, original) for original, copy in self.pairs])

    def command(self, words: Sequence[str]) -> list[str]:
        """Return the command with absolute paths into the project changed to paths into the copy."""
        return [self._found(word) if os.path.isabs(word) else word for word in words]

    def environment(self) -> dict[str, str]:
        """Return ``PYTHONPATH`` with paths into the copy; an empty dict if it is not set."""
        given = os.environ.get("PYTHONPATH")
        if not given:
            return {}
        return {"PYTHONPATH": os.pathsep.join(self._found(os.path.abspath(p)) for p in given.split(os.pathsep) if p)}

    def _found(self, path: str) -> str:
        """The copy of a path, if it was copied: a virtual environment inside the project was not."""
        copy = self.copied(path)
        return copy if os.path.exists(copy) else path


def _moved(path: str, pairs: Iterable[tuple[str, str]]) -> str:
    for before, after in pairs:
        if path == before or path.startswith(os.path.join(before, "")):
            return after + path[len(before) :]
    return path


def outermost(folders: Iterable[str]) -> list[str]:
    """Return the folders that are not inside another one of them."""
    found: list[str] = []
    for folder in sorted({os.path.abspath(folder) for folder in folders}, key=len):
        if not any(folder == other or folder.startswith(os.path.join(other, "")) for other in found):
            found.append(folder)
    return found


def copy_project(roots: Sequence[str], changed: Mapping[str, bytes], into: str) -> ProjectCopy:
    """Copy the roots below ``into``; the files in ``changed`` (by original path) get other contents.

    Raises CopyError if a root is too large, and OSError if a file cannot be read or written.
    """
    pairs = []
    budget = [MOST_FILES, MOST_BYTES]
    for number, root in enumerate(outermost(roots)):
        # The folder keeps its name: it may be the name of a package.
        target = os.path.join(os.path.realpath(into), str(number), os.path.basename(root) or "root")
        os.makedirs(target)
        for source, destination in _files(root, target):
            _copy_file(source, destination, budget, root)
        pairs.append((root, target))
    made = ProjectCopy(tuple(pairs))
    for path, data in changed.items():
        target = made.copied(path)
        if target == path:
            raise CopyError(f"{path}: this file is outside of the copied project ({', '.join(roots)})")
        if os.path.lexists(target):
            os.unlink(target)  # it may be a link to the original
        with open(target, "wb") as file:
            file.write(data)
    return made


def _files(source: str, target: str) -> Iterator[tuple[str, str]]:
    """Files to copy, with their places; folders are made on the way."""
    with os.scandir(source) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            destination = os.path.join(target, entry.name)
            if entry.name in _LEFT_OUT:
                continue
            if entry.is_dir(follow_symlinks=False):
                if not os.path.exists(os.path.join(entry.path, "pyvenv.cfg")):
                    os.mkdir(destination)
                    yield from _files(entry.path, destination)
            elif entry.is_symlink() and not os.path.isfile(entry.path):  # to a folder, to nothing or to itself
                os.symlink(os.path.realpath(entry.path), destination)
            elif entry.is_file():
                yield entry.path, destination


def _copy_file(source: str, destination: str, budget: list[int], root: str) -> None:
    size = os.stat(source).st_size
    if size > LINKED_FROM:
        os.symlink(os.path.realpath(source), destination)
        return
    budget[0] -= 1
    budget[1] -= size
    if min(budget) < 0:
        raise CopyError(
            f"{root}: the project is larger than {MOST_FILES} files or {MOST_BYTES >> 30} GiB, too large to copy; "
            "give it a `jaxlint.toml` further down, or move files that do not belong to the program out of it"
        )
    shutil.copy2(source, destination)
