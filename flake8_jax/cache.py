"""What one run leaves for the next: lowered files, glances at files, and the findings of a whole project.

Vocabulary
----------
entry   one value under one key, a file of its own: a digest of the payload, then the payload in MessagePack.
stamp   what this version of jaxlint is: entries of another one are never read.

A cache directory may come with a repository, so nothing in it is believed beyond its type: entries are data of a
declared shape, never code. An entry that is damaged, of another shape or too large is as good as absent. Entries
appear atomically, so that runs at the same time do not see halves. Not modelled: eviction (``jaxlint clean``).
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
import tempfile
from typing import TypeVar

import msgspec

from flake8_jax import __version__
from flake8_jax.core import ir

_T = TypeVar("_T")
_DIGEST_SIZE = 16
_LARGEST = 256 * 1024 * 1024
DIRECTORY_NAME = ".jaxlint_cache"


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

    Our files are told by size and modification time, so that a checkout under development never sees its past.
    """
    package = os.path.dirname(os.path.abspath(__file__))
    seen: list[str] = [__version__, f"{sys.version_info[0]}.{sys.version_info[1]}"]
    for directory, folders, names in os.walk(package):
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
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".tmp-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


class Cache:
    """Entries below one directory. With ``directory`` None nothing is kept; ``read_only``: nothing new.

    A directory that cannot be written is remembered in ``trouble`` and not tried again: a cache is a help, and
    linting goes on without it.
    """

    def __init__(self, directory: str | None, *, read_only: bool = False) -> None:
        self.directory = directory
        self.read_only = read_only
        self.trouble: str | None = None
        self._home = os.path.join(directory, stamp()) if directory is not None else None
        self._ir: msgspec.msgpack.Decoder[ir.Module] | None = None

    def _path(self, kind: str, key: str) -> str | None:
        return os.path.join(self._home, kind, key[:2], key) if self._home is not None else None

    def read(self, kind: str, key: str) -> bytes | None:
        """The payload under a key, or None."""
        path = self._path(kind, key)
        if path is None:
            return None
        try:
            with open(path, "rb") as stream:
                data = stream.read(_LARGEST + 1)
        except OSError:
            return None
        payload = data[_DIGEST_SIZE:]
        intact = len(data) <= _LARGEST and data[:_DIGEST_SIZE] == _checksum(payload)
        return payload if intact else None

    def write(self, kind: str, key: str, payload: bytes) -> None:
        path = self._path(kind, key)
        if path is None or self.read_only or self.trouble is not None:
            return
        try:
            folder = os.path.dirname(path)
            if not os.path.isdir(folder):
                self._prepare(folder)
            write_atomically(path, _checksum(payload) + payload)
        except OSError as error:
            self.trouble = f"{self.directory}: the cache cannot be written: {error.strerror}"

    def _prepare(self, folder: str) -> None:
        """Make the folder; on the first time, keep the cache out of version control and of backups."""
        assert self.directory is not None
        os.makedirs(folder, exist_ok=True)
        notes = {
            ".gitignore": b"*\n",
            "CACHEDIR.TAG": b"Signature: 8a477f597d28d172789f06886806bc55\n",
        }
        for name, text in notes.items():
            path = os.path.join(self.directory, name)
            if not os.path.lexists(path):
                write_atomically(path, text)

    def load(self, kind: str, key: str, shape: type[_T]) -> _T | None:
        """The value under a key if it is intact and of this shape."""
        payload = self.read(kind, key)
        if payload is None:
            return None
        return decoded(payload, msgspec.msgpack.Decoder(shape))

    def store(self, kind: str, key: str, value: object) -> None:
        """Keep a value; one that names a file whose name is no text is not kept."""
        if self._home is None or self.read_only:
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
    except (msgspec.DecodeError, RecursionError):
        return None


def encoded_module(module: ir.Module) -> bytes | None:
    """A lowered file as payload; None where it is nested too deeply to be written down."""
    try:
        return msgspec.msgpack.encode(module)
    except RecursionError:
        return None


def _checksum(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=_DIGEST_SIZE).digest()
