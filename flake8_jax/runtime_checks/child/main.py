"""Where a child starts: limits, the request, the task, and messages back."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

TASKS = ("bench", "compare", "env", "forks", "hotspots", "locate", "observe", "probe", "pytree", "recompiles", "replay")


_POLL_SECONDS = 0.1
_LEAST_SECONDS = 2.0
_SHARE = 50
"""Partial messages take one part of so many of the time."""
_URGENT_SECONDS = 0.5
"""Those that are written at once may take so much of it in any case."""


class Channel:
    """Messages to the linter: one JSON object a line, written at once so that nothing is lost in a crash.

    Partial messages are in a file of their own, ``PATH.partial``. The linter asks for new ones by making ``PATH.asked``,
    which goes away when they are there.
    """

    def __init__(self, path: str) -> None:
        self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115  open as long as the process lives
        self._process = os.getpid()
        self._path = path
        self._begun = time.monotonic()
        self._due = 0.0
        self._urgent = 0.0
        self._report: Callable[[], list[dict[str, Any]]] | None = None
        self._writing = threading.Lock()

    def send(self, kind: str, **data: Any) -> None:
        """Say something; in a process that the user's code forked, nothing."""
        if os.getpid() == self._process:
            self._file.write(json.dumps({"kind": kind, **data}) + "\n")
            self._file.flush()

    def keep(self, report: Callable[[], list[dict[str, Any]]]) -> None:
        """From now on write what ``report`` returns every few seconds, and when the linter asks for it, from another thread.

        A report of what changes meanwhile may fail with RuntimeError: then there is another one a little later.
        """
        self._report = report
        threading.Thread(target=self._keep, name="jaxlint", daemon=True).start()

    def urge(self) -> None:
        """Something new was seen: write it before the program goes on, which may be about to be killed. Where that takes too
        much of the time, a little later."""
        if self._report is None or os.getpid() != self._process:
            return
        begun = time.monotonic()
        if self._urgent > _URGENT_SECONDS + (begun - self._begun) / _SHARE:
            return
        if self._writing.acquire(blocking=False):  # else the other thread is at it, and a fork may keep it so
            try:
                self._write()
            finally:
                self._writing.release()
        self._urgent += time.monotonic() - begun

    def _write(self) -> bool:
        assert self._report is not None
        partial = f"{self._path}.partial"
        with contextlib.suppress(RuntimeError, OSError):  # the folder goes when the linter needs no more of it
            text = json.dumps(self._report())
            with open(f"{partial}.new", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(f"{partial}.new", partial)
            return True
        return False

    def _keep(self) -> None:
        asked = f"{self._path}.asked"
        while True:
            is_asked = os.path.exists(asked)
            begun = time.monotonic()
            if is_asked or begun >= self._due:
                with self._writing:
                    written = self._write()
                if written and is_asked:
                    with contextlib.suppress(OSError):
                        os.unlink(asked)
                if written:
                    self._due = time.monotonic() + max(_LEAST_SECONDS, _SHARE * (time.monotonic() - begun))
            time.sleep(_POLL_SECONDS)


def main() -> None:
    """Do what the request asks for; exits with the status that the user's code asks for."""
    asked, answers = sys.argv[1:3]
    with open(asked, encoding="utf-8") as file:
        request = json.load(file)
    channel = Channel(answers)
    _limit(request.get("memory"))
    if request["task"] not in TASKS:
        raise SystemExit(f"unknown task {request['task']}")
    task = importlib.import_module(f"flake8_jax.runtime_checks.child.{request['task']}")
    try:
        task.run(request, channel)
    except SystemExit:
        raise
    except BaseException as error:  # whatever it is, the linter gets it before the child ends with it
        channel.send("failure", type=type(error).__name__, text=summary(error), traceback=traceback.format_exc())
        raise


def summary(error: BaseException) -> str:
    """``TypeError: first line of the message``."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _limit(memory: int | None) -> None:
    """Allow so many MiB of data. Where the platform cannot, there is no limit."""
    if memory is None:
        return
    try:
        import resource
    except ImportError:  # not on Windows
        return
    size = memory << 20
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))
