"""Reads of files that must not hang and must not fill the memory: regular files only, up to a size.

A pipe, a device or a folder in the place of a file raises ``NotRegular``, a file that is too long ``TooLarge``. Both are
OSErrors with a ``strerror`` for the user. Nothing is opened before its kind is known, and the kind is checked again
afterwards, because another program may have replaced the file in between.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from dataclasses import dataclass

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_NONBLOCK", 0)
)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CHUNK = 1 << 20


class NotRegular(OSError):
    """The path is a pipe, a device, a socket or a folder."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EINVAL, "not a regular file", path)


class TooLarge(OSError):
    """The file holds more than the limit. unit: what is counted."""

    def __init__(self, path: str, limit: int, unit: str = "bytes") -> None:
        super().__init__(errno.EFBIG, f"larger than {limit:,} {unit}", path)
        self.unit = unit


@dataclass(frozen=True)
class SizeLimits:
    """source: bytes of a source file, or of all code cells of a notebook. notebook: bytes of a notebook with its outputs."""

    source: int = 5_000_000
    notebook: int = 100_000_000


NO_LIMITS = SizeLimits(sys.maxsize, sys.maxsize)


def read_regular(path: str, limit: int, *, follow: bool = True) -> bytes:
    """Read a regular file of at most ``limit`` bytes.

    Args:
        path: The file.
        limit: The largest number of bytes.
        follow: Whether ``path`` may be a symbolic link to the file.

    Raises:
        OSError: The file cannot be opened or read, is not a regular file, or is too large.
    """
    return read_with_status(path, limit, follow=follow)[0]


def read_with_status(path: str, limit: int, *, follow: bool = True) -> tuple[bytes, os.stat_result]:
    """Like ``read_regular``, with the status of the very file that was read."""
    try:
        _check(os.stat(path, follow_symlinks=follow), path, limit)
        handle = os.open(path, _FLAGS if follow else _FLAGS | _NOFOLLOW)
    except ValueError as error:
        raise OSError(errno.EINVAL, "the name contains a null byte", path) from error
    try:
        found = os.fstat(handle)
        _check(found, path, limit)
        return _read(handle, found.st_size, path, limit), found
    finally:
        os.close(handle)


def _check(found: os.stat_result, path: str, limit: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NotRegular(path)
    if found.st_size > limit:
        raise TooLarge(path, limit)


def _read(handle: int, size: int, path: str, limit: int) -> bytes:
    """Read to the end. Some regular files (below ``/proc``) hold more than their size says."""
    parts: list[bytes] = []
    total = 0
    wanted = size + 1
    while data := os.read(handle, wanted):
        parts.append(data)
        total += len(data)
        if total > limit:
            raise TooLarge(path, limit)
        wanted = max(size + 1 - total, _CHUNK if total > size else 1)
    return b"".join(parts)
