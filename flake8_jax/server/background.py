"""Whole answers from a process of their own: they take seconds, and the editor's next keystroke must not wait for them.

The child ends with its parent: it reads the end of their pipe. One that dies is started anew, and the question that it
died of fails.
"""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from flake8_jax.config import ConfigError
from flake8_jax.server.checker import Setup, Snapshot, Whole, WholeChecker

_POLITENESS = 5
"""How far the child steps back for what the user is doing (``nice``)."""


class BackgroundDied(Exception):
    """The process ended in the middle of a question."""


@dataclass(frozen=True)
class _Asked:
    setup: Setup
    snapshot: Snapshot
    functions: bool


@dataclass
class _Child:
    process: SpawnProcess
    pipe: Connection


@dataclass
class Background:
    """Asks the child one question after the other. ``stop`` may be called at any time."""

    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "jaxlint-whole"))
    _child: _Child | None = None

    def start(self) -> None:
        """Start the child ahead of the first question."""
        self._thread.submit(self._running)

    def ask(self, setup: Setup, snapshot: Snapshot, *, functions: bool = False) -> Future[Whole]:
        """The future fails with BackgroundDied."""
        return self._thread.submit(self._ask, _Asked(setup, snapshot, functions))

    def stop(self) -> None:
        child = self._child
        if child is not None:
            child.process.kill()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _running(self) -> _Child:
        if self._child is None or not self._child.process.is_alive():
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), name="jaxlint-whole")
            process.start()
            theirs.close()
            self._child = _Child(process, ours)
        return self._child

    def _ask(self, asked: _Asked) -> Whole:
        child = self._running()
        try:
            child.pipe.send(asked)
            answer = child.pipe.recv()
        except (EOFError, OSError) as error:
            child.process.kill()
            raise BackgroundDied("the process that checks the whole project ended; it is started again") from error
        assert isinstance(answer, Whole)
        return answer


def _serve(pipe: Connection) -> None:
    """What the child does: answer until nobody asks any more."""
    if hasattr(os, "nice"):
        os.nice(_POLITENESS)
    checker: tuple[Setup, WholeChecker] | None = None
    while True:
        try:
            asked: _Asked = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            if checker is None or checker[0] != asked.setup:
                checker = (asked.setup, WholeChecker(asked.setup))
            answer = checker[1].answer(asked.snapshot, asked.functions)
        except ConfigError as error:
            answer = Whole(error=str(error))
        pipe.send(answer)
