"""Writing a changed text back to its file.

The file is replaced at once or not at all; mode, encoding, byte-order mark and newlines stay; a symbolic link stays
one and its target is written. Not kept: hard links, and owners that this user may not give files to.
"""

from __future__ import annotations

import os
import stat
import tempfile

from flake8_jax.core.cells import SUFFIX, with_magics
from flake8_jax.core.reading import NO_LIMITS, read_regular
from flake8_jax.pipeline.notebooks import NotebookError, rewritten, text_of, text_of_script
from flake8_jax.syntax.errors import SourceError
from flake8_jax.syntax.source import decode


class NotWritten(Exception):
    """The file was left as it is; the message names it and says why."""


def replace_text(path: str, before: str, after: str) -> None:
    """Make the file at ``path``, which held the text ``before``, hold ``after``.

    Raises NotWritten if it holds something else by now, is read-only, or cannot be written.
    """
    target = os.path.realpath(path)
    try:
        data = encoded_like(read_regular(target, NO_LIMITS.source), before, after, path)
        if not os.access(target, os.W_OK):
            raise NotWritten("it is read-only")
        _replace(target, data)
    except OSError as error:
        raise NotWritten(f"{path}: left as it is: {error.strerror}") from error
    except NotWritten as error:
        raise NotWritten(f"{path}: left as it is: {error}") from error


def encoded_like(data: bytes, before: str, after: str, path: str = "") -> bytes:
    """``after`` in the encoding of ``data``, which holds ``before``, and in its cells if the path says that it is a notebook.

    Raises NotWritten, without naming a file.
    """
    try:
        source = decode(data)
        if (text_of if path.endswith(SUFFIX) else text_of_script)(source.text) != before:
            raise NotWritten("it changed while it was linted; run again")
        if path.endswith(SUFFIX):
            after = rewritten(source.text, before, after)
        elif before != source.text:
            after = with_magics(after)
        if not source.exact:
            raise NotWritten(
                f"its encoding, {source.encoding}, cannot be written back byte for byte; store it as UTF-8"
            )
        return source.encode(after)
    except NotebookError as error:
        raise NotWritten(str(error)) from error
    except SourceError as error:
        raise NotWritten(f"{error.message}. {error.remedy}") from error


def _replace(target: str, data: bytes) -> None:
    found = os.stat(target)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".jaxlint-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            os.chown(temporary, found.st_uid, found.st_gid)
        os.chmod(temporary, stat.S_IMODE(found.st_mode))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
