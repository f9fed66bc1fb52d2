"""A progress bar on standard error for runs that take long, where a person is looking."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 1.0
"""Seconds of silence before a bar appears."""


@contextlib.contextmanager
def progress_bar(wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A function to tell how many of how many files are done; None where nobody would see the bar."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.tell
    finally:
        bar.close()


class _Bar:
    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    def tell(self, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` files are read; with all of them the bar goes away."""
        if done >= total:
            self.close()
            return
        if self._shown is None:
            if time.monotonic() - self._started < _PATIENCE:
                return
            from rich.console import Console
            from rich.progress import Progress

            from flake8_jax.cli.process import exact_log

            progress = Progress(console=Console(file=exact_log()), transient=True)
            self._shown = (progress, progress.add_task("Reading", total=total))
            progress.start()
        progress, task = self._shown
        progress.update(task, completed=done, total=total)

    def close(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()
            self._shown = None
