"""Whole answers from a process of their own: they take seconds, and the editor's next keystroke must not wait for them."""

from __future__ import annotations

import functools
from concurrent.futures import Future

from flake8_jax.server.checker import Setup, Snapshot, Whole, WholeChecker
from flake8_jax.server.worker import Running, Worker

_POLITENESS = 5
"""How far the child steps back for what the user is doing (``nice``)."""


class Background:
    """Asks the child one question after the other. ``stop`` may be called at any time."""

    def __init__(self) -> None:
        self._worker = Worker(WholeChecker, "jaxlint-whole", _POLITENESS)

    @property
    def running(self) -> Running | None:
        return self._worker.running

    def start(self) -> None:
        """Start the child ahead of the first question."""
        self._worker.start()

    def ask(self, setup: Setup, snapshot: Snapshot, *, functions: bool = False, about: str = "") -> Future[Whole]:
        """The answer for these texts. ``about``: the file that the user is in.

        The future fails with Interrupted or WorkerFailed.
        """
        work = functools.partial(WholeChecker.answer, snapshot=snapshot, functions=functions)
        return self._worker.ask(setup, work, f"the project of {about or setup.cwd}")

    def interrupt(self, running: Running) -> bool:
        return self._worker.interrupt(running)

    def stop(self) -> None:
        self._worker.stop()
