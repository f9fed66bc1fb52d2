"""What a child and the processes that it started are ended by, also where the linter itself is killed.

Vocabulary
----------
keeper   a small process beside each child. Its standard input is a pipe that the linter holds: a line there says that all is
         done; its end says that the linter is gone. Then the keeper ends the child and removes the folders.
mark     a variable in the environment of the child, by which its processes are found that left its process group (Linux).

As a program: ``keeper.py PID MARK FOLDER…``, with 0 where there are folders alone. Standard library only, and no package.

Limitations: without ``/proc``, processes that leave the group of the child stay; on Windows, all but the child itself do.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator

MARK = "JAXLINT_CHILD"
GRACE = 2.0
"""Seconds between asking a process to end and ending it."""
_POLL_SECONDS = 0.02


def marked(mark: str) -> Iterator[int]:
    """The numbers of the processes with the mark in their environment; none without ``/proc``."""
    wanted = f"{MARK}={mark}".encode()
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                    if wanted in file.read().split(b"\0"):
                        yield int(name)


def signal_all(pid: int, mark: str, number: int) -> bool:
    """Send a signal to the group of a child and to all with its mark; whether there was any."""
    found = False
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
        found = True
    for other in marked(mark):
        with contextlib.suppress(OSError):
            os.kill(other, number)
            found = True
    return found


def end_all(pid: int, mark: str, *, grace: float = GRACE) -> None:
    """End a child, which may be over, and what it started: politely first."""
    until = time.monotonic() + grace
    if not signal_all(pid, mark, signal.SIGTERM):
        return
    while time.monotonic() < until:
        time.sleep(_POLL_SECONDS)
        if not signal_all(pid, mark, 0):
            return
    signal_all(pid, mark, getattr(signal, "SIGKILL", signal.SIGTERM))


def main() -> None:
    """Wait for the end of the linter, however it comes."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # what ends the linter may reach us too, and is no reason to go
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if sys.stdin.buffer.readline():
        return
    pid, mark, *folders = sys.argv[1:]
    if int(pid):
        end_all(int(pid), mark)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
