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
def progress_bar(wanted: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A function to call with a phase, and how many of how many files are done; None where the bar would not be seen."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.update
    finally:
        bar.close()


class _Bar:
    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    def update(self, phase: str, done: int, total: int) -> None:
        """Show that a phase has done ``done`` of ``total`` files (0: not known); with all of them the bar goes away."""
        if 0 < total <= done:
            self.close()
            return
        if self._shown is None:
            if time.monotonic() - self._started < _PATIENCE:
                return
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            from flake8_jax.cli.process import exact_log

            text = TextColumn("{task.description}", markup=False)
            columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            progress = Progress(*columns, console=Console(file=exact_log()), transient=True)
            self._shown = (progress, progress.add_task(phase, total=total or None))
            progress.start()
        progress, task = self._shown
        progress.update(task, description=phase, completed=done, total=total or None)

    def close(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()
            self._shown = None
