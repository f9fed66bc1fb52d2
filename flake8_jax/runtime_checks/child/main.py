"""Where a child starts: limits, the request, the task, and messages back."""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from typing import Any

TASKS = ("bench", "compare", "env", "forks", "locate", "observe", "probe", "recompiles", "replay")


class Channel:
    """Messages to the linter: one JSON object a line, written at once so that nothing is lost in a crash."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115  open as long as the process lives
        self._process = os.getpid()

    def send(self, kind: str, **data: Any) -> None:
        """Say something; in a process that the user's code forked, nothing."""
        if os.getpid() == self._process:
            self._file.write(json.dumps({"kind": kind, **data}) + "\n")
            self._file.flush()


def main() -> None:
    """Do what the request asks for; exits with the status that the user's code asks for."""
    asked, told = sys.argv[1:3]
    with open(asked, encoding="utf-8") as file:
        request = json.load(file)
    channel = Channel(told)
    _limit(request.get("memory"))
    if request["task"] not in TASKS:
        raise SystemExit(f"unknown task {request['task']}")
    task = importlib.import_module(f"flake8_jax.runtime_checks.child.{request['task']}")
    try:
        task.run(request, channel)
    except SystemExit:
        raise
    except BaseException as error:  # whatever it is, the linter is told before the child ends with it
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
