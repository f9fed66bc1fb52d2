"""Read a repository with git, and run no program that the repository names.

Vocabulary
----------
plumbing   commands that read objects, revisions and ignore files. They do not read the content of the working tree, so they
           apply no filter, text conversion or external diff.

A repository contains its own configuration. The options below override each key of this configuration that names a program for
one of these commands. Git fetches nothing: git 2.45, and the security releases of 2.39 to 2.44, know ``GIT_NO_LAZY_FETCH``. For
older versions, the options allow no protocol. Limitations: git before 2.24.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_SECONDS = 120
"""The longest time that git may take. Git hangs, for example, if an ignore file is a named pipe."""

_PROTOCOLS = ("ext", "file", "git", "ssh", "http", "https")
_SETTINGS = {
    # Git before 2.36 takes `false` for the name of a program. All versions take an empty value for `no`.
    "core.fsmonitor": "",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "core.sshCommand": "",
    "core.gitProxy": "",
    "core.askPass": "",
    "core.alternateRefsCommand": "",
    "credential.helper": "",
    "diff.external": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    **{f"protocol.{name}.allow": "never" for name in _PROTOCOLS},
}
_KEPT = (
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_CONFIG_",
    "GIT_EXEC_PATH",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
)
"""Variables of the user's environment that git gets. ``GIT_CONFIG_…`` often contains ``safe.directory``."""


class GitError(Exception):
    """Git cannot answer. The message says why and what to do."""


class MissingObject(GitError):
    """The repository lacks an object, because it is a partial clone."""


@dataclass(frozen=True)
class Entry:
    """A file in a commit. blob: the name of its content."""

    blob: str
    is_regular: bool


@dataclass(frozen=True)
class Repository:
    """Git in one directory. Methods raise GitError."""

    directory: str

    def words(self, *arguments: str) -> str:
        """Return the output of a command without its last line end."""
        return os.fsdecode(_run(self.directory, arguments)).removesuffix("\n")

    def files_of(self, commit: str) -> dict[str, Entry]:
        """Return the files of a commit by path from the top, with forward slashes and without submodules."""
        try:
            listed = _run(self.directory, ("ls-tree", "-r", "-z", "--full-tree", commit))
        except GitError as error:
            raise MissingObject(str(error)) from error
        found: dict[str, Entry] = {}
        for line in listed.split(b"\0"):
            about, _, path = line.partition(b"\t")
            mode, kind, blob = about.decode("ascii").split(" ") if about else ("", "", "")
            if kind == "blob":
                found[os.fsdecode(path)] = Entry(blob, mode.startswith("100"))
        return found

    def ignored(self, paths: Iterable[str]) -> frozenset[str]:
        """Return the paths that git ignores and does not track. paths: relative to the directory."""
        # The prefix keeps git from reading `:(…)` as an instruction.
        asked = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)
        if not asked:
            return frozenset()
        said = _run(self.directory, ("check-ignore", "-z", "--stdin"), asked, fine=(0, 1))
        return frozenset(os.fsdecode(path[2:]) for path in said.split(b"\0") if path)

    def sizes(self, blobs: Iterable[str]) -> dict[str, int]:
        """Return the size of each blob. Raises MissingObject if the repository lacks one."""
        found: dict[str, int] = {}
        asked = "".join(f"{blob}\n" for blob in blobs).encode("ascii")
        if not asked:
            return found
        for line in _run(self.directory, ("cat-file", "--batch-check"), asked).decode("ascii").splitlines():
            blob, *about = line.split(" ")
            if len(about) != 2:
                raise MissingObject(f"--since: the repository lacks the object {blob}")
            found[blob] = int(about[1])
        return found

    def contents(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Return the content of each blob, as git stores it."""
        found: dict[str, bytes] = {}
        asked = "".join(f"{blob}\n" for blob in blobs).encode("ascii")
        if not asked:
            return found
        said = _run(self.directory, ("cat-file", "--batch"), asked)
        position = 0
        while position < len(said):
            end = said.index(b"\n", position)
            blob, *about = said[position:end].decode("ascii").split(" ")
            if len(about) != 2:
                raise MissingObject(f"--since: the repository lacks the object {blob}")
            start = end + 1
            position = start + int(about[1]) + 1
            found[blob] = said[start : position - 1]
        return found

    def is_partial(self) -> bool:
        """Return whether some objects may exist only in the remote repository."""
        pattern = r"^(extensions\.partialclone|remote\..*\.promisor)$"
        return bool(_run(self.directory, ("config", "--name-only", "--get-regexp", pattern), fine=(0, 1)))


def _run(directory: str, words: Iterable[str], given: bytes = b"", *, fine: tuple[int, ...] = (0,)) -> bytes:
    words = list(words)
    settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    command = [_program(), "--no-pager", *settings, *words]
    try:
        done = subprocess.run(
            command, cwd=directory, env=_environment(os.environ), input=given, capture_output=True, check=False,
            timeout=_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise GitError(f"--since: `git {words[0]}` in {directory} gave no answer within {_SECONDS} seconds") from error
    except OSError as error:
        raise GitError(f"--since: git cannot be started: {error.strerror}") from error
    if done.returncode not in fine:
        raise GitError(f"--since: {_reason(os.fsdecode(done.stderr)) or f'`git {words[0]}` failed'}")
    return done.stdout


def _reason(said: str) -> str:
    """Return the error in the output of git. Git may print advice after it."""
    lines = said.strip().splitlines()
    fatal = [line for line in lines if line.startswith("fatal: ")]
    return (fatal or lines or [""])[-1]


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for git. No variable in it starts a program, writes a log, or names another repository."""
    own = {name: value for name, value in given.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    if "GIT_DIR" in given and "GIT_WORK_TREE" in given:  # a hook of git's has the first alone; git finds that by itself
        own.update({name: os.path.abspath(given[name]) for name in ("GIT_DIR", "GIT_WORK_TREE")})
    return {
        **own,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
    }


def _program() -> str:
    """Return the path of git. Skip relative folders of PATH, because they may belong to the repository."""
    name = "git.exe" if os.name == "nt" else "git"
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise GitError("--since: git cannot be started: no folder of PATH holds it")
