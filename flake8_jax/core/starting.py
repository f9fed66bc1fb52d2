"""Starting processes of our own without running what lies in the current directory.

``multiprocessing`` starts them as ``python -c …``, and such a process looks for modules in its current directory first, before
anything of ours runs in it: a project with a file ``multiprocessing.py`` would be run by linting it. Forked processes are
not concerned.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

_STARTING = threading.Lock()
"""Environment and current directory are those of the whole process."""
_SAFE_PATH = "PYTHONSAFEPATH"


@contextlib.contextmanager
def outside_project() -> Iterator[None]:
    """Processes that ``multiprocessing`` starts in the block import nothing from the current directory.

    Make executors in such a block as well as their first task: either may start a process.
    """
    with _STARTING:
        if sys.version_info >= (3, 11):
            before = os.environ.get(_SAFE_PATH)
            os.environ[_SAFE_PATH] = "1"
            try:
                yield
            finally:
                if before is None:
                    del os.environ[_SAFE_PATH]
                else:
                    os.environ[_SAFE_PATH] = before
        else:  # the child goes back to where its parent was started
            folder = os.getcwd()
            os.chdir(os.path.dirname(os.__file__))
            try:
                yield
            finally:
                os.chdir(folder)
