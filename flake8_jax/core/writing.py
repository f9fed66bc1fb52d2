"""Writing a file that a user asked for: whole or not at all."""

from __future__ import annotations

import os
import stat


def write_whole(path: str, data: bytes) -> None:
    """Make the file at ``path`` hold ``data``. Raises OSError, and then the file holds what it held before.

    A link stays one and its target is written. A device or a pipe gets the data as it comes; so does a file whose folder takes
    no new files.
    """
    mode = _mode_of(path)
    if mode is not None and not stat.S_ISREG(mode):
        _write(path, data)  # the target of a link such as /dev/stdout may have no path
        return
    target = os.path.realpath(path)
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "the file is read-only", path)
    temporary = os.path.join(os.path.dirname(target), f".jaxlint-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except PermissionError:
        if mode is None:
            raise
        _write(target, data)
        return
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as stream:
        stream.write(data)
