"""What one run leaves for the next: lowered files, scans at files, and the findings of a whole project.

Vocabulary
----------
home    the folder of the cache. It lies below the configured folder, has a name of its own, and holds a tag.
tag     a file whose text says that jaxlint made the folder. Without it, the folder is not jaxlint's.
entry   one value under one key, a file of its own: a checksum, then the payload in MessagePack.
stamp   what this version of jaxlint is: entries of another one are never read.

A cache may come with a repository, so jaxlint trusts nothing in it beyond its type: entries are data of a declared
shape, never code, and fixes that are written are made from new analyses. The checksum covers the stamp, the kind and the
key besides the payload, so an entry under another name counts as absent, just like one that is damaged, of another
shape or too large. A home that another user owns or can write is not used. Entries appear atomically, so that runs at the
same time do not see halves.

Limitations: entries are not evicted (``jaxlint clean`` removes them). The checksum is not secret, so it does not stop
a process that writes files as the same user.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import importlib.util
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

import flake8_jax
from flake8_jax import __version__
from flake8_jax.core import ir
from flake8_jax.core.reading import read_regular, read_with_status

_T = TypeVar("_T")
_DIGEST_SIZE = 16
_LARGEST = 256 * 1024 * 1024
PACKAGE = os.path.dirname(os.path.abspath(flake8_jax.__file__))
DIRECTORY_NAME = ".jaxlint_cache"
KINDS = ("catalogue", "findings", "glances", "ir")

_TAG_NAME = "CACHEDIR.TAG"
_TAG = b"""\
Signature: 8a477f597d28d172789f06886806bc55
# jaxlint made this folder for its cache. `jaxlint clean` removes it.
# For information about cache directory tags, see https://bford.info/cachedir/
"""
_IGNORE_NAME = ".gitignore"
_IGNORE = b"*\n"
_NEW = f"{DIRECTORY_NAME}.new-"
_TEMPORARY = ".tmp-"
_DIGEST_NAME = re.compile(r"[0-9a-f]{40}")
_MOST_MISSING = 100
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def digest(*parts: bytes | str) -> str:
    """A hexadecimal name for these parts in this order."""
    found = hashlib.blake2b(digest_size=20)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    return found.hexdigest()


@functools.lru_cache(maxsize=1)
def stamp() -> str:
    """Names what lowering and analysis depend on besides the files: our own files, Python's and LibCST's version.

    Our files are identified by size and modification time, so that a checkout under development never sees its past.
    """
    seen: list[str] = [__version__, f"{sys.version_info[0]}.{sys.version_info[1]}"]
    for directory, folders, names in os.walk(PACKAGE):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            if name.endswith((".py", ".toml")):
                found = os.stat(os.path.join(directory, name))
                seen.append(f"{name}:{found.st_size}:{found.st_mtime_ns}")
    parser = importlib.util.find_spec("libcst")
    if parser is not None and parser.origin is not None:
        found = os.stat(parser.origin)
        seen.append(f"libcst:{found.st_size}:{found.st_mtime_ns}")
    return digest(*seen)


def write_atomically(path: str, data: bytes) -> None:
    """Make ``path`` hold ``data``, at once or not at all. Raises OSError."""
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=_TEMPORARY)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


# --- the folder ----------------------------------------------------------------------------------


def cache_home(configured: str) -> str:
    """The home of the cache for a configured folder."""
    return os.path.join(configured, DIRECTORY_NAME)


def why_unusable(configured: str) -> str | None:
    """Why no cache can be kept below a configured folder; None if one can."""
    if "\0" in configured:
        return "it contains a null byte"
    if os.path.isdir(cache_home(configured)):
        return None
    folder = configured
    missing = 0
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        missing += 1
    if missing > _MOST_MISSING:
        return f"more than {_MOST_MISSING} folders of it do not exist"
    if not os.path.isdir(folder):
        return f"`{folder}` is not a directory"
    return None if os.access(folder, os.W_OK | os.X_OK) else f"`{folder}` is not writable"


def _is_ours(home: str) -> bool:
    """Whether jaxlint made this folder. Raises FileNotFoundError if nothing is there."""
    if not stat.S_ISDIR(os.lstat(home).st_mode):
        return False
    try:
        return read_regular(os.path.join(home, _TAG_NAME), len(_TAG), follow=False) == _TAG
    except OSError:
        return False


def _is_private(found: os.stat_result) -> bool:
    """Whether only this user can write what was found. Windows does not say, so there everything counts as private."""
    return not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE)


def _make(home: str) -> None:
    """Make the home with its tag, both at once. Raises OSError."""
    parent = os.path.dirname(home)
    os.makedirs(parent, exist_ok=True)
    new = tempfile.mkdtemp(prefix=_NEW, dir=parent)
    try:
        for name, text in ((_IGNORE_NAME, _IGNORE), (_TAG_NAME, _TAG)):
            write_atomically(os.path.join(new, name), text)
        os.rename(new, home)
    except OSError:
        _remove_home(new, Removed())
        if not os.path.lexists(home):  # else another run was faster
            raise


class Cache:
    """Entries below one home. With ``home`` None nothing is kept; ``read_only``: nothing new.

    trouble: why the home cannot be used or written, for the user. It is not tried again then: a cache is a help, and
    linting goes on without it. distrust: why the home is not used although it is jaxlint's own.
    """

    def __init__(self, home: str | None, *, read_only: bool = False) -> None:
        self.home = home
        self.read_only = read_only
        self.trouble: str | None = None
        self.distrust: str | None = None
        self._checked = False
        self._folders: set[str] = set()
        self._ir: msgspec.msgpack.Decoder[ir.Module] | None = None

    def _usable(self, *, make: bool) -> bool:
        """Whether the home is there and may be used; ``make`` it if it is not there. Raises OSError."""
        if self.home is None or self.trouble is not None or self.distrust is not None:
            return False
        if self._checked:
            return True
        try:
            ours = _is_ours(self.home)
        except FileNotFoundError:
            if not make:
                return False
            _make(self.home)
            ours = _is_ours(self.home)
        if not ours:
            self.trouble = (
                f"{self.home}: jaxlint does not use this as its cache, because it lacks the tag that jaxlint writes; "
                "remove it, or choose another folder with `cache-dir`"
            )
        elif not _is_private(os.lstat(self.home)):
            self._doubt(self.home)
        else:
            self._checked = True
        return self._checked

    def _doubt(self, folder: str) -> None:
        self.distrust = (
            f"{folder}: jaxlint does not use this cache, because another user owns it or can write to it; "
            "remove it, and jaxlint makes a new one"
        )

    def _entry(self, kind: str, key: str, *, make: bool) -> str | None:
        """The path of an entry, if its folder may be used; ``make`` the folder. Raises OSError."""
        if not self._usable(make=make):
            return None
        assert self.home is not None
        folder = self.home
        for name in (stamp(), kind, key[:2]):
            folder = os.path.join(folder, name)
            if folder not in self._folders:
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(folder, 0o700)
                found = os.lstat(folder)
                if not (stat.S_ISDIR(found.st_mode) and _is_private(found)):
                    self._doubt(folder)
                    return None
                self._folders.add(folder)
        return os.path.join(folder, key)

    def read(self, kind: str, key: str) -> bytes | None:
        """The payload under a key, or None."""
        try:
            path = self._entry(kind, key, make=False)
            if path is None:
                return None
            data, found = read_with_status(path, _LARGEST, follow=False)
        except OSError:
            return None
        payload = data[_DIGEST_SIZE:]
        return payload if _is_private(found) and data[:_DIGEST_SIZE] == _checksum(kind, key, payload) else None

    def write(self, kind: str, key: str, payload: bytes) -> None:
        """Keep a payload under a key."""
        if self.read_only:
            return
        try:
            try:
                self._write(kind, key, payload)
            except FileNotFoundError:  # another process removed the cache during this run
                self._checked = False
                self._folders.clear()
                self._write(kind, key, payload)
        except OSError as error:
            self.trouble = f"{self.home}: the cache cannot be written: {error.strerror}"

    def _write(self, kind: str, key: str, payload: bytes) -> None:
        path = self._entry(kind, key, make=True)
        if path is not None:
            write_atomically(path, _checksum(kind, key, payload) + payload)

    def load(self, kind: str, key: str, shape: type[_T]) -> _T | None:
        """The value under a key if it is intact and of this shape."""
        payload = self.read(kind, key)
        if payload is None:
            return None
        return decoded(payload, msgspec.msgpack.Decoder(shape))

    def store(self, kind: str, key: str, value: object) -> None:
        """Keep a value; one that names a file whose name is no text is not kept."""
        if self.home is None or self.read_only:
            return
        try:
            payload = msgspec.msgpack.encode(value)
        except UnicodeEncodeError:
            return
        self.write(kind, key, payload)

    def load_module(self, key: str) -> ir.Module | None:
        """The lowered file under a key."""
        payload = self.read("ir", key)
        if payload is None:
            return None
        if self._ir is None:
            self._ir = msgspec.msgpack.Decoder(ir.Module)
        return decoded(payload, self._ir)


def decoded(payload: bytes, decoder: msgspec.msgpack.Decoder[_T]) -> _T | None:
    """The value of a payload, or None where it has another shape (or is nested beyond what is sane)."""
    try:
        return decoder.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def encoded_module(module: ir.Module) -> bytes | None:
    """A lowered file as payload; None where it is nested too deeply to be written down."""
    try:
        return msgspec.msgpack.encode(module)
    except RecursionError:
        return None


def _checksum(kind: str, key: str, payload: bytes) -> bytes:
    name = f"{stamp()}/{kind}/{key}/".encode()
    return hashlib.blake2b(name + hashlib.blake2b(payload).digest(), digest_size=_DIGEST_SIZE).digest()


# --- removing it ---------------------------------------------------------------------------------


@dataclass
class Removed:
    """What ``remove`` did. left: what it did not write, and so left. failed: what it could not remove, and why."""

    homes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def remove(configured: str) -> Removed | None:
    """Remove the cache below a configured folder, and nothing that the cache did not write; None if there is none.

    Folders that a killed run left half-made are removed as well.
    """
    try:
        names = [name for name in os.listdir(configured) if name == DIRECTORY_NAME or name.startswith(_NEW)]
        ours = [home for name in sorted(names) if _is_ours(home := os.path.join(configured, name))]
    except (OSError, ValueError):
        return None
    removed = Removed()
    for home in ours:
        _remove_home(home, removed)
    return removed if ours else None


def _remove_home(home: str, removed: Removed) -> None:
    """Remove the files of the cache, then the folders that are empty.

    The tag goes last, and only with the home: without it, ``jaxlint clean`` would not touch the rest another time.
    """
    tag = os.path.join(home, _TAG_NAME)
    for folder, files in _known(home, removed):
        for path in files:
            if path != tag:
                _attempt(os.unlink, path, removed)
        if folder != home:
            _attempt(os.rmdir, folder, removed)
    with contextlib.suppress(OSError):
        if os.listdir(home) == [_TAG_NAME]:
            _attempt(os.unlink, tag, removed)
    _attempt(os.rmdir, home, removed)
    removed.homes.append(home)


def _attempt(operation: Callable[[str], None], path: str, removed: Removed) -> None:
    """Folders that are not empty hold something that was left or could not be removed, which is reported already."""
    try:
        operation(path)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            removed.failed.append(f"{path}: {error.strerror}")


def _known(folder: str, removed: Removed, depth: int = 0) -> Iterator[tuple[str, list[str]]]:
    """The folders of a home, from the inside out, with the files that the cache wrote; others are reported as left."""
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        removed.failed.append(f"{folder}: {error.strerror}")
        return
    files: list[str] = []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and depth < len(_FOLDERS) and _FOLDERS[depth].fullmatch(entry.name):
            yield from _known(entry.path, removed, depth + 1)
        elif entry.is_file(follow_symlinks=False) and _is_own_file(entry.path, depth):
            files.append(entry.path)
        else:
            removed.left.append(entry.path)
    yield folder, files


_FOLDERS = (_DIGEST_NAME, re.compile("|".join(KINDS)), re.compile("[0-9a-f]{2}"))
"""The names of folders below the home, below these, and so on."""


def _is_own_file(path: str, depth: int) -> bool:
    """Whether the cache wrote a file so many levels below its home."""
    folder, name = os.path.split(path)
    if depth == 0 and name == _IGNORE_NAME:
        with contextlib.suppress(OSError):
            return read_regular(path, len(_IGNORE), follow=False) == _IGNORE
        return False
    if depth == 0:
        return name == _TAG_NAME or name.startswith(_TEMPORARY)
    if depth < len(_FOLDERS):
        return False
    is_entry = _DIGEST_NAME.fullmatch(name) is not None and name.startswith(os.path.basename(folder))
    return is_entry or name.startswith(_TEMPORARY)
