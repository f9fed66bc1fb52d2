"""What changed since a git revision, and which findings come from it.

Vocabulary
----------
base     the revision itself, or, where the work has left it behind, where the two parted: what others did since is not ours.
changed  rows of the working tree that differ from the base, and the two around what was deleted.

A finding is new work if a changed row is among its own, or among the calls of its evidence: a helper that was fine becomes a
defect by the ``jax.jit`` that somebody puts around its caller.

Not modelled: rows of notebooks, all of whose findings count as soon as anything in the file changed.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field

from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.report import Diagnostic

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
Rows = tuple[tuple[int, int], ...]
EVERY_ROW: Rows = ((1, 2**31),)


class GitError(Exception):
    """Git cannot say what changed; the message says why and what to do."""


@dataclass
class Changed:
    """What differs from the base. paths: what each changed file was called there, None for new ones; by real path.
    note: what a user should know of the base."""

    root: str
    base: str
    paths: dict[str, str | None]
    note: str = ""
    _rows: dict[str, Rows] = field(default_factory=dict)

    def rows(self, path: str) -> Rows:
        """The changed rows of a file, as first and last ones (1-based, both included). Raises GitError."""
        real = os.path.realpath(path)
        if real not in self.paths:
            return ()
        if real not in self._rows:
            self._rows[real] = self._changed_rows(real, self.paths[real])
        return self._rows[real]

    def _changed_rows(self, path: str, before: str | None) -> Rows:
        if before is None or path.endswith(SUFFIX):
            return EVERY_ROW
        names = sorted({before, os.path.relpath(path, self.root).replace(os.sep, "/")})
        options = ["--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames"]
        diff = _git(self.root, "diff", *options, self.base, "--", *names)
        found = []
        for first, count in _HUNK.findall(diff):
            rows = int(count) if count else 1
            found.append((int(first), int(first) + max(rows - 1, 1 if rows == 0 else 0)))
        return tuple(found)


class Changes:
    """What changed since a revision, in whatever repositories the files are in (a submodule is one of its own)."""

    def __init__(self, revision: str) -> None:
        self._revision = revision
        self._by_root: dict[str, Changed] = {}
        self._roots: dict[str, str] = {}

    def is_new(self, item: Diagnostic) -> bool:
        """The finding is on a changed row, or its evidence passes one. Raises GitError."""
        places = [(item.path, item.row, max(item.row, item.end_row))]
        places += [(step.path, step.row, step.row) for step in item.finding.evidence]
        return any(
            first <= end and row <= last for path, row, end in places for first, last in self._around(path).rows(path)
        )

    def _around(self, path: str) -> Changed:
        folder = os.path.dirname(os.path.realpath(path))
        if folder not in self._roots:
            self._roots[folder] = _git(folder, "rev-parse", "--show-toplevel").rstrip("\n")
        root = self._roots[folder]
        if root not in self._by_root:
            self._by_root[root] = changed_since(self._revision, root)
        return self._by_root[root]


def changed_since(revision: str, directory: str) -> Changed:
    """What changed in the repository around ``directory`` since a revision, in the working tree. Raises GitError."""
    root = _git(directory, "rev-parse", "--show-toplevel").rstrip("\n")
    try:
        commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
    except GitError as error:
        raise GitError(f"--since: git knows no revision `{revision}` in {root}{_missing(root)}") from error
    note = ""
    try:
        base = _git(root, "merge-base", commit, "HEAD").strip()
    except GitError:  # histories without a common commit, such as shallow clones have
        base = commit
        note = (
            f"--since: git does not know where HEAD and `{revision}` parted, so what others changed since counts as well"
            f"{_missing(root)}"
        )
    paths = {name: old for old, name in _renamed(_git(root, "diff", "--name-status", "-z", "--find-renames", base))}
    others = _git(root, "ls-files", "--others", "--exclude-standard", "--full-name", "-z").split("\0")
    known = {**paths, **{name: None for name in others if name}}
    places = {os.path.join(root, name): old for name, old in known.items()}
    return Changed(root, base, {os.path.realpath(p): old for p, old in places.items() if not os.path.islink(p)}, note)


def _missing(root: str) -> str:
    """Why git may not know a commit, and what to do, in a clone that CI made short; it ends a sentence."""
    if _git(root, "rev-parse", "--is-shallow-repository").strip() != "true":
        return ""
    return "; this clone is shallow: `git fetch --unshallow` brings the rest (actions/checkout: `fetch-depth: 0`)"


def _renamed(status: str) -> list[tuple[str | None, str]]:
    """(name before, name now) of every file in the output of ``git diff --name-status -z``; no deleted ones."""
    fields = iter(status.split("\0"))
    found: list[tuple[str | None, str]] = []
    for letter in fields:
        if letter[:1] in ("R", "C"):
            before = next(fields)
            found.append((before, next(fields)))
        elif letter:
            name = next(fields)
            if letter != "D":
                found.append((None if letter == "A" else name, name))
    return found


def _git(directory: str, *words: str) -> str:
    command = ["git", "-c", "core.quotePath=false", *words]
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, check=False)
    except OSError as error:
        raise GitError(f"--since: git cannot be started: {error.strerror}") from error
    if done.returncode:
        said = os.fsdecode(done.stderr).strip().splitlines()
        raise GitError(f"--since: {said[-1] if said else 'git ' + words[0] + ' failed'}")
    return os.fsdecode(done.stdout)
