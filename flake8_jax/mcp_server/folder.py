"""Paths of a client: each has to be in the folder of the server, also after links are resolved."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

_MODULE_TARGET = re.compile(r"[A-Za-z_][\w.]*:[\w.]+")


class OutsideError(ValueError):
    """A path that is not there or not in the folder; the message names it and says what would be right."""


def inside(folder: str, path: str) -> str:
    """Return ``path`` relative to the folder, with ``./`` before it, so that it is no option.

    folder: an absolute path without links. Raises OutsideError.
    """
    if not path or "\0" in path:
        raise OutsideError(f"{path!r} is not a path")
    real = os.path.realpath(os.path.join(folder, path))
    if real != folder and not real.startswith(folder.rstrip(os.sep) + os.sep):
        raise OutsideError(f"{path} is outside of {folder}, the folder of this server; name a path in it")
    if not os.path.lexists(real):
        raise OutsideError(f"{path} does not exist in {folder}")
    return os.path.join(os.curdir, os.path.relpath(real, folder))


def all_inside(folder: str, paths: Sequence[str]) -> list[str]:
    """Return the paths relative to the folder; the folder itself if there are none. Raises OutsideError."""
    return [inside(folder, path) for path in paths] or [os.curdir]


def target_inside(folder: str, target: str) -> str:
    """Return a target, ``file.py:function``, ``file.py:LINE`` or ``module:function``, whose file is in the folder.

    Raises OutsideError.
    """
    file, colon, name = target.rpartition(":")
    if file.endswith(".py") or "/" in file or os.sep in file:
        return f"{inside(folder, file)}:{name}"
    if not colon or not _MODULE_TARGET.fullmatch(target):
        raise OutsideError(f"{target!r} is not a target; write file.py:function, file.py:LINE or module:function")
    return target
