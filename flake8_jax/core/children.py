"""Processes that ``multiprocessing`` started for us: how they end.

A child that waits for work does not see that its parent is gone: the pipes between them may be held open by other children.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import wait


def end_with_parent() -> None:
    """Have this child end when its parent does, however that ends. Ctrl-C is for the parent alone, other signals end it."""
    for name, action in (("SIGINT", signal.SIG_IGN), ("SIGTERM", signal.SIG_DFL), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)
        if number is not None:
            with contextlib.suppress(ValueError):  # not the main thread: the parent ends it all the same
                signal.signal(number, action)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    wait([parent])
    os._exit(1)
