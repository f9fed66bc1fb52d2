"""Work that recurses deeply, on a thread with a stack large enough for it.

Vocabulary
----------
deep thread  a thread that knows the size of its stack. Work that needs no more than that runs on it as it is; a
             thread a file would cost as much as lowering the file, since each new stack is touched for the first time.

Only address space is taken for a large stack: pages that no recursion reaches are never used.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["StackError", "on_stack", "run_deep"]

Result = TypeVar("Result")

_DEEP_STACK = 512 * 1024 * 1024
_DEEP_RECURSION = 40_000
"""Python's own limit on frames for code that recurses with the program that it reads."""
_RESERVED = 1 << 20
"""Bytes that the frames below the work may already have taken of a deep thread's stack."""


_SIZING = threading.Lock()
"""The size that new threads get is one for the whole process: two who change it at once would leave it changed."""


class StackError(MemoryError):
    """The system refuses a stack of the size that was asked for."""


class _DeepThread(threading.Thread):
    def __init__(self, size: int, work: Callable[[], None]) -> None:
        super().__init__(name="deep", daemon=True)
        self.stack_bytes = size
        self._work = work

    def run(self) -> None:
        self._work()


def on_stack(size: int, work: Callable[[], Result]) -> Result:
    """``work()``, on a stack of at least ``size`` bytes: this thread's own where it is known to be large enough.

    What ``work`` raises is raised here. Raises StackError where no such stack can be had.
    """
    current = threading.current_thread()
    if isinstance(current, _DeepThread) and current.stack_bytes >= size + _RESERVED:
        return work()
    results: list[Result] = []
    errors: list[BaseException] = []

    def keep() -> None:
        try:
            results.append(work())
        except BaseException as error:  # passed to the thread that waits, which raises it
            errors.append(error)

    thread = _DeepThread(size, keep)
    with _SIZING:
        before = threading.stack_size(size)
        try:
            thread.start()
        except RuntimeError as error:
            raise StackError(f"the system refuses a stack of {size >> 20} MiB") from error
        finally:
            threading.stack_size(before)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def run_deep(work: Callable[[], Result]) -> Result:
    """``work()``, with a stack and a recursion limit for code that recurses with the program that it reads."""
    old_limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(old_limit, _DEEP_RECURSION))
    try:
        return on_stack(_DEEP_STACK, work)
    finally:
        sys.setrecursionlimit(old_limit)
