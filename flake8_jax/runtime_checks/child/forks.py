"""Many short runs of ``observe``, each in a process forked from one that has imported JAX, so that a run costs what the code
costs and not what importing costs.

Request: ``inbox``: a file to which requests for ``observe`` are appended, one a line as JSON, and ``"stop"`` at the end;
``seconds``: the limit of each run; ``preload``: whether to import JAX first. Messages: ``forked`` with the number of the
request, ``state``, ``code``, ``wall``, and the ``messages`` of the run. JAX starts no threads before its backends are, and no
backend is started here.

Only where processes can be forked.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from typing import Any

from flake8_jax.runtime_checks.child import observe
from flake8_jax.runtime_checks.child.main import Channel

_PAUSE = 0.005
_FAILED = 70
"""The status of a run that ended outside of what ``observe`` catches."""


def run(request: dict[str, Any], channel: Channel) -> None:
    """Answer requests until there is a ``stop``."""
    if request["preload"]:
        with contextlib.suppress(ImportError):
            import jax.numpy  # noqa: F401
    folder = os.path.dirname(request["inbox"])
    with open(request["inbox"], encoding="utf-8") as inbox:
        pending, number = "", 0
        channel.send("ready")
        while True:
            pending += inbox.read()
            line, newline, rest = pending.partition("\n")
            if not newline:
                time.sleep(_PAUSE)
                continue
            pending = rest
            asked = json.loads(line)
            if asked == "stop":
                return
            channel.send(
                "forked", number=number, **_forked(asked, os.path.join(folder, f"answers{number}"), request["seconds"])
            )
            number += 1


def _forked(asked: dict[str, Any], answers: str, seconds: float) -> dict[str, Any]:
    """Run one in a process of its own."""
    started = time.monotonic()
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process == 0:
        _observe(asked, answers)
    late = False
    while True:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            break
        if not late and time.monotonic() - started > seconds:
            late = True
            os.kill(process, signal.SIGKILL)
        time.sleep(_PAUSE)
    code = os.waitstatus_to_exitcode(status)
    state = "timeout" if late else "signal" if code < 0 else "failed" if code else "ok"
    messages = []
    if os.path.exists(answers):
        with open(answers, encoding="utf-8") as file:
            messages = [json.loads(line) for line in file if line.endswith("\n")]
        os.unlink(answers)
    if late and os.path.exists(f"{answers}.partial"):
        with open(f"{answers}.partial", encoding="utf-8") as file:
            messages += json.load(file)
    return {"state": state, "code": code, "wall": time.monotonic() - started, "messages": messages}


def _observe(asked: dict[str, Any], answers: str) -> None:
    """In the new process: run, and end it without returning."""
    status = _FAILED
    try:
        observe.run(asked, Channel(answers))
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
