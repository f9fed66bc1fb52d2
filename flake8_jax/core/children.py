"""Processes that ``multiprocessing`` started for us: how they begin and end.

A child that waits for work does not see that its parent is gone: the pipes between them may be held open by other children.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import wait

_SAFE_PATH = "PYTHONSAFEPATH"
_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Start processes in this block.

    Signals wait: an exception in the middle of a fork is lost, or leaves half a child. And a new interpreter does not look for
    modules in the working directory, where the project may have a ``multiprocessing.py`` of its own.
    """
    with _signals_held(), _working_directory_left_out():
        yield


@contextlib.contextmanager
def _working_directory_left_out() -> Iterator[None]:
    if sys.version_info < (3, 11):  # there is no such variable: the new interpreter has to start elsewhere
        before = os.getcwd()
        os.chdir(os.path.dirname(os.__file__))
        try:
            yield
        finally:
            os.chdir(before)
        return
    given = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if given is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = given


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """Have this child end when its parent does, however that ends. Ctrl-C is for the parent alone, other signals end it."""
    with contextlib.suppress(ValueError):  # not the main thread: the parent ends it all the same
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    wait([parent])
    os._exit(1)
