"""Find what changed since a git revision, and which findings these changes cause.

Vocabulary
----------
base     the last commit that the revision and the working tree have in common. Later commits of others do not count as changes.
changed  rows of the working tree that differ from the base, and the two rows around deleted rows.

A finding is new if it stands on a changed row, or if a call of its call chain does. For example, a ``jax.jit`` around its
caller turns a correct helper into a mistake.

Git lists the files of the base and returns their content. This module itself reads the files of the working tree and compares
them, because git would run the filters that the repository configures. Line ends do not count, so neither ``core.autocrlf``
nor ``eol=crlf`` changes a file. Limitations: in a source file that git stores in another form (with git-lfs or git-crypt),
every row is changed. If the code of a notebook changes, all of its findings count as new.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.report import Diagnostic
from flake8_jax.history.git import Entry, GitError, MissingObject, Repository
from flake8_jax.history.row_diff import Rows, changed_rows
from flake8_jax.pipeline.notebooks import NotebookError, text_of

__all__ = ["EVERY_ROW", "Changed", "GitError", "changed_since", "new_findings"]

EVERY_ROW: Rows = ((1, 2**31),)
_LINE_END = re.compile(rb"\r\n|\r|\n")
_ALIKE = 0.5
"""A new file is a renamed file if it contains this part of the lines of a deleted file, as in git."""
_MOST_SOURCES = 1000
_MOST_PAIRS = 20_000
"""The largest numbers of deleted files and of comparisons with them. Beyond these numbers, all rows of a new file are new."""
_LARGEST = 50_000_000
"""The largest size of a file in the base, in bytes. In a larger file, every row counts as changed."""


@dataclass
class Changed:
    """The differences between the base and the working tree of one repository. note: a remark on the base, for the user."""

    root: str
    base: str
    note: str = ""
    _files: dict[str, Entry] | None = None
    _rows: dict[str, Rows] = field(default_factory=dict)

    def rows(self, paths: Iterable[str]) -> dict[str, Rows]:
        """Return the changed rows of files, as pairs of a first and a last row. paths: real paths. Raises GitError."""
        asked = dict.fromkeys(paths)
        unknown = {path: self._name(path) for path in asked if path not in self._rows}
        if unknown:
            try:
                self._rows.update(self._compared(unknown))
            except MissingObject as error:
                raise GitError(f"{error}{_partial(self.root, self.base)}") from error
        return {path: self._rows[path] for path in asked}

    def _name(self, path: str) -> str:
        """Return the path in the form that git writes."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def _compared(self, names: Mapping[str, str]) -> dict[str, Rows]:
        """Return the changed rows by path. ``names``: the name of each path in git."""
        git = Repository(self.root)
        if self._files is None:
            self._files = git.files_of(self.base)
        rows: dict[str, Rows] = {}
        new: dict[str, bytes] = {}
        changed: dict[str, tuple[bytes, str]] = {}
        for path, name in names.items():
            entry = self._files.get(name)
            data = _read(path)
            if entry is None:
                new[path] = data
            elif not entry.is_regular:
                rows[path] = EVERY_ROW
            elif entry.blob in _names_of(data, entry.blob):
                rows[path] = ()
            else:
                changed[path] = (data, entry.blob)
        ignored = git.ignored(names[path] for path in new)
        rows.update({path: () for path in new if names[path] in ignored})
        created = {path: data for path, data in new.items() if path not in rows}
        sources = _sources(git, created, self._deleted(created))
        rows.update({path: EVERY_ROW for path in created if path not in sources})
        changed.update({path: (created[path], blob) for path, blob in sources.items()})
        sizes = git.sizes({blob for _, blob in changed.values()})
        contents = git.contents(blob for blob, size in sizes.items() if size <= _LARGEST)
        rows.update({path: _rows_of(path, contents.get(blob), data) for path, (data, blob) in changed.items()})
        return rows

    def _deleted(self, created: Iterable[str]) -> list[str]:
        """Return the blobs of the deleted files that have the same suffix as a created file."""
        suffixes = {os.path.splitext(path)[1] for path in created}
        if not suffixes or self._files is None:
            return []
        names = [name for name in self._files if os.path.splitext(name)[1] in suffixes]
        return [
            self._files[name].blob
            for name in names
            if self._files[name].is_regular and not os.path.lexists(os.path.join(self.root, *name.split("/")))
        ]


def new_findings(items: Sequence[Diagnostic], revision: str) -> tuple[Diagnostic, ...]:
    """Return the findings on a changed row, and those whose call chain contains a changed row. Raises GitError.

    The files may belong to several repositories. A submodule is a repository of its own.
    """
    places = [_places(item) for item in items]
    real = {path: os.path.realpath(path) for found in places for path, _, _ in found}
    rows = _rows_by_path(dict.fromkeys(real.values()), revision)
    return tuple(
        item
        for item, found in zip(items, places)
        if any(first <= end and row <= last for path, row, end in found for first, last in rows[real[path]])
    )


def _places(item: Diagnostic) -> list[tuple[str, int, int]]:
    """Return path, first row and last row of the finding and of each step of its call chain."""
    steps = [(step.path, step.row, step.row) for step in item.finding.evidence]
    return [(item.path, item.row, max(item.row, item.end_row)), *steps]


def _rows_by_path(paths: Iterable[str], revision: str) -> dict[str, Rows]:
    by_folder: dict[str, list[str]] = {}
    for path in paths:
        by_folder.setdefault(os.path.dirname(path), []).append(path)
    by_root: dict[str, list[str]] = {}
    for folder, inside in by_folder.items():
        by_root.setdefault(_root_of(folder), []).extend(inside)
    found: dict[str, Rows] = {}
    for root, inside in by_root.items():
        found.update(changed_since(revision, root).rows(inside))
    return found


def changed_since(revision: str, directory: str) -> Changed:
    """Return the changes since a revision in the working tree around ``directory``. Raises GitError."""
    root = _root_of(directory)
    git = Repository(root)
    try:
        commit = git.words("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except GitError as error:
        raise GitError(
            f"--since: git knows no revision `{revision}` in {root}{_shallow(root) or _partial(root, revision)}"
        ) from error
    try:
        return Changed(root, git.words("merge-base", commit, "HEAD"))
    except GitError:  # histories without a common commit, such as shallow clones have
        return Changed(
            root,
            commit,
            f"--since: git does not know where HEAD and `{revision}` parted, so what others changed since counts as well"
            f"{_shallow(root)}",
        )


def _root_of(directory: str) -> str:
    """Return the top folder of the working tree around a directory."""
    return os.path.realpath(Repository(directory).words("rev-parse", "--show-toplevel"))


def _shallow(root: str) -> str:
    """Return the end of a sentence for a shallow clone: why git may not know a commit, and what to do."""
    if Repository(root).words("rev-parse", "--is-shallow-repository") != "true":
        return ""
    return "; this clone is shallow: `git fetch --unshallow` brings the rest (actions/checkout: `fetch-depth: 0`)"


def _partial(root: str, revision: str) -> str:
    """Return the end of a sentence for a partial clone: why an object may be missing, and what to do."""
    if not Repository(root).is_partial():
        return ""
    return (
        f"; this clone is partial and jaxlint fetches nothing: `git diff --stat {revision}` brings the missing objects"
    )


def _read(path: str) -> bytes:
    """Read a file of the working tree. Raises GitError."""
    try:
        with open(path, "rb", opener=_open_at_once) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise GitError(f"--since: {path} is not a regular file")
            return stream.read()
    except OSError as error:
        raise GitError(f"--since: {path} cannot be read: {error.strerror}") from error


def _open_at_once(path: str, flags: int) -> int:
    """Open a file. Do not wait for the writer of a named pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _names_of(data: bytes, like: str) -> set[str]:
    """Return the names of this content in git, unchanged and with LF as line ends. ``like``: a name in the repository."""
    names = set()
    for form in (data, data.replace(b"\r\n", b"\n")):
        made = hashlib.sha1(usedforsecurity=False) if len(like) == 40 else hashlib.sha256()
        made.update(b"blob %d\0" % len(form))
        made.update(form)
        names.add(made.hexdigest())
    return names


def _rows_of(path: str, before: bytes | None, after: bytes) -> Rows:
    if before is None:  # too large to compare
        return EVERY_ROW
    if not path.endswith(SUFFIX):
        return changed_rows(_LINE_END.split(before), _LINE_END.split(after))
    try:
        same = text_of(before.decode("utf-8")) == text_of(after.decode("utf-8"))
    except (NotebookError, UnicodeDecodeError):
        same = False
    return () if same else EVERY_ROW


def _sources(git: Repository, created: Mapping[str, bytes], deleted: Sequence[str]) -> dict[str, str]:
    """Return the deleted blob from which each created file was made. Each deleted file becomes at most one new file."""
    if not created or not deleted:
        return {}
    taken: dict[str, str] = {}
    left = Counter(deleted)

    def take(path: str, blob: str) -> None:
        if path not in taken and left[blob]:
            taken[path] = blob
            left[blob] -= 1

    for path, data in created.items():
        for blob in _names_of(data, deleted[0]):
            take(path, blob)
    rest = {path: data for path, data in created.items() if path not in taken}
    sizes = git.sizes([blob for blob in left if left[blob]][:_MOST_SOURCES]) if rest else {}
    pairs = [(path, blob) for path, data in rest.items() for blob, size in sizes.items() if _near(size, len(data))]
    if len(pairs) > _MOST_PAIRS:
        return taken
    lines = {path: Counter(_LINE_END.split(data)) for path, data in rest.items()}
    old = {blob: Counter(_LINE_END.split(data)) for blob, data in git.contents({blob for _, blob in pairs}).items()}
    scores = [(_alike(lines[path], old[blob]), path, blob) for path, blob in pairs]
    for score, path, blob in sorted(scores, key=lambda entry: (-entry[0], entry[1], entry[2])):
        if score >= _ALIKE:
            take(path, blob)
    return taken


def _near(one: int, other: int) -> bool:
    """Return whether files of these sizes can be similar, even if their line ends differ."""
    return max(one, other) <= _LARGEST and min(one, other) >= _ALIKE * max(one, other) * 0.9


def _alike(one: Counter[bytes], other: Counter[bytes]) -> float:
    """Return which part of the larger text, in bytes, both texts contain."""
    shared = sum(len(line) * count for line, count in (one & other).items())
    return shared / max(_size(one), _size(other), 1)


def _size(lines: Counter[bytes]) -> int:
    return sum(len(line) * count for line, count in lines.items())
