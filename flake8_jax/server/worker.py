"""Analyses in a process of their own, which can be stopped at any moment.

Vocabulary
----------
question   a function of a checker, to be called in the child. It and its answer travel through a pipe.
interrupt  end the child in the middle of a question, because a newer one must not wait. The next question starts a new child.

A thread cannot be stopped, and a parser in C keeps every other thread of its process waiting. A process can be killed, and
the server survives whatever happens in it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Generic, TypeVar

from flake8_jax.core.children import end_with_parent, starting
from flake8_jax.server.checker import Setup
from flake8_jax.settings.tables import ConfigError

Checker = TypeVar("Checker")
Answer = TypeVar("Answer")


class Interrupted(Exception):
    """The question was given up for a newer one."""


class WorkerFailed(Exception):
    """The question has no answer: the analysis failed, or its process ended. The message names the file."""


@dataclass(frozen=True)
class _Asked:
    setup: Setup
    work: Callable[[Any], Any]


@dataclass(frozen=True)
class _Answered:
    answer: Any


@dataclass(frozen=True)
class _Refused:
    """The configuration cannot be used."""

    error: str


@dataclass(frozen=True)
class _Failed:
    """An exception that nothing in the analysis expects. The child ends after it."""

    error: str
    trace: str


_READY = "ready"
_POLL_SECONDS = 1.0
"""Seconds between two looks at whether a silent child still lives."""


@dataclass
class _Child:
    process: SpawnProcess
    pipe: Connection

    def receive(self) -> Any:
        """What the child sends. Raises EOFError where it has ended: processes that it started may keep its pipe open."""
        while not self.pipe.poll(_POLL_SECONDS):
            if self.has_ended() and not self.pipe.poll():
                raise EOFError
        return self.pipe.recv()

    def has_ended(self) -> bool:
        """Whether the process has ended. It is not reaped yet, so that its number stays that of its group."""
        if not hasattr(os, "waitid") or self.process.pid is None:
            return not self.process.is_alive()
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def kill(self) -> None:
        """End the process and those that it started."""
        if hasattr(os, "killpg") and self.process.pid is not None:
            with contextlib.suppress(OSError):  # it ended, or has no group of its own yet, and so no children
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()


@dataclass(eq=False)
class Running:
    """A question and how far it is. ``since``: when the child was given it; None as long as the child starts.

    optional: no request waits for the answer.
    """

    answer: Future[Any] = field(default_factory=Future)
    optional: bool = False
    since: float | None = None


class Worker(Generic[Checker]):
    """Asks one child one question after the other. ``make`` makes a checker in the child, one for each setup.

    Called on the event loop; one thread waits for the child. ``stop`` may be called at any time.
    """

    def __init__(self, make: Callable[[Setup], Checker], name: str, politeness: int = 0) -> None:
        self._make = make
        self._name = name
        self._politeness = politeness
        self._thread = ThreadPoolExecutor(1, name)
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._stopped = False
        self._interrupted: Running | None = None
        self.running: Running | None = None

    def start(self) -> None:
        """Start the child ahead of the first question."""
        if not self._stopped:
            self._thread.submit(self._started)

    def ask(
        self,
        setup: Setup,
        work: Callable[[Checker], Answer],
        about: str,
        *,
        wanted: Callable[[], bool] = lambda: True,
        optional: bool = False,
    ) -> Future[Answer]:
        """What ``work`` returns in the child. ``about``: the file, for messages. ``wanted`` is called before the question
        is sent; an unwanted one is given up.

        The future fails with Interrupted, WorkerFailed or ConfigError.
        """
        running = Running(optional=optional)
        if self._stopped:
            running.answer.cancel()
        else:
            self._thread.submit(self._answer, running, _Asked(setup, work), about, wanted)
        return running.answer

    def interrupt(self, running: Running) -> bool:
        """Give up this question, if the child still works on it; whether it did."""
        with self._lock:
            child = self._child
            if self.running is not running or running.since is None or child is None:
                return False
            self._interrupted, self._child = running, None
        child.kill()
        return True

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            child, self._child = self._child, None
        if child is not None:
            child.kill()
        self._thread.shutdown(wait=False, cancel_futures=True)

    # --- on the thread -----------------------------------------------------------------------------------

    def _answer(self, running: Running, asked: _Asked, about: str, wanted: Callable[[], bool]) -> None:
        if not running.answer.set_running_or_notify_cancel():
            return
        self.running = running
        try:
            running.answer.set_result(self._ask(running, asked, about, wanted))
        except Exception as error:  # it is raised where the answer is waited for
            running.answer.set_exception(error)
        finally:
            self.running = None

    def _ask(self, running: Running, asked: _Asked, about: str, wanted: Callable[[], bool]) -> Any:
        if not wanted():
            raise Interrupted
        child = self._started()
        try:
            with self._lock:
                running.since = time.monotonic()
            child.pipe.send(asked)
            said = child.receive()
        except (EOFError, OSError) as error:
            if self._interrupted is running or self._stopped:
                raise Interrupted from error
            raise WorkerFailed(f"the process that checks {about} {self._ended(child)}; it is started again") from error
        if isinstance(said, _Answered):
            return said.answer
        if isinstance(said, _Refused):
            raise ConfigError(said.error)
        assert isinstance(said, _Failed)
        self._ended(child)
        raise WorkerFailed(f"checking {about} failed with {said.error} (please report it)\n{said.trace}")

    def _started(self) -> _Child:
        """The child, which is ready to be asked. Raises Interrupted at the end, WorkerFailed."""
        child = self._child
        if child is not None and not child.has_ended():
            return child
        if child is not None:
            self._ended(child)
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        arguments = (theirs, self._make, self._politeness)
        child = _Child(context.Process(target=_serve, args=arguments, name=self._name), ours)
        with self._lock:
            if self._stopped:
                raise Interrupted
            with starting():
                child.process.start()
            self._child = child
        theirs.close()
        try:
            child.receive()
        except (EOFError, OSError) as error:
            raise WorkerFailed(f"the process {self._name} cannot start: it {self._ended(child)}") from error
        return child

    def _ended(self, child: _Child) -> str:
        """Forget a child that has ended or is about to; returns how it ended."""
        with self._lock:
            if self._child is child:
                self._child = None
        deadline = time.monotonic() + _GRACE
        while not child.has_ended() and time.monotonic() < deadline:
            time.sleep(0.01)
        hangs = not child.has_ended()
        child.kill()
        child.process.join(_GRACE)
        status = None if hangs else child.process.exitcode
        if status is None or status >= 0:
            return f"ended with status {status}" if status is not None else "answers no more"
        return f"was ended by signal {-status}"


_GRACE = 1.0
"""Seconds that a child may take to end once its pipe is closed."""


# --- in the child ----------------------------------------------------------------------------------------


def _serve(pipe: Connection, make: Callable[[Setup], Any], politeness: int) -> None:
    """Answer requests until the pipe is closed."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    if hasattr(os, "nice") and politeness:
        os.nice(politeness)
    end_with_parent()
    pipe.send(_READY)
    checker: tuple[Setup, Any] | None = None
    while True:
        try:
            asked: _Asked = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            if checker is None or checker[0] != asked.setup:
                checker = (asked.setup, make(asked.setup))
            reply = pickle.dumps(_Answered(asked.work(checker[1])))
        except ConfigError as error:
            reply = pickle.dumps(_Refused(str(error)))
        except Exception as error:  # the outermost boundary: the server tells of it and starts another child
            pipe.send(_Failed(type(error).__name__, traceback.format_exc(limit=-_TRACEBACK_FRAMES)))
            return
        pipe.send_bytes(reply)


_TRACEBACK_FRAMES = 20
"""Frames of a traceback that are reported: those of an endless recursion are all the same."""
