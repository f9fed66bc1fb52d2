"""A run of a jaxlint command for a client: a process of its own, with progress, that ends when the client gives up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio
import anyio.abc
import msgspec

from flake8_jax.mcp_server.tools import Job

Report = Callable[[float, float | None, str], Awaitable[None]]
"""Called with the seconds so far, the time limit if there is one, and the last line of the log."""

LARGEST_OUTPUT = 20_000_000
"""Bytes of a job's output that are kept."""

_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
# The folder that the server works in must not give us its modules.
_BOOT = "import sys; sys.path[:] = [p for p in sys.path if p] + [{root!r}]; from flake8_jax.cli import script; script()"
_EVERY = 1.0
_GRACE = 6.0
_CHUNK = 65_536


class Finished(msgspec.Struct, frozen=True):
    """A job that ended. log: what it wrote on standard error."""

    status: int
    output: str
    log: str


async def run_jobs(jobs: Sequence[Job], folder: str, report: Report) -> Finished:
    """Run jobs one after the other, as long as none fails, and return the output of all of them with the last one's status.

    A cancelled call ends its process and what that has started. Raises OSError if Python cannot be started.
    """
    output = ""
    finished = Finished(0, "", "")
    for job in jobs:
        finished = await _run(job, folder, report)
        output += finished.output
        if finished.status not in (0, 1):
            break
    return Finished(finished.status, output, finished.log)


async def _run(job: Job, folder: str, report: Report) -> Finished:
    words = [sys.executable, "-c", _BOOT.format(root=_PACKAGE_ROOT), *job.words]
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    process = await anyio.open_process(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**environment, "NO_COLOR": "1"},
        start_new_session=os.name == "posix",
    )
    output, log = bytearray(), bytearray()
    started = time.monotonic()
    try:
        async with anyio.create_task_group() as group:
            assert process.stdin is not None and process.stdout is not None and process.stderr is not None
            group.start_soon(_write, process.stdin, job.text.encode("utf-8", "replace"))
            group.start_soon(_read, process.stdout, output)
            group.start_soon(_read, process.stderr, log)
            while process.returncode is None:
                with anyio.move_on_after(_EVERY):
                    await process.wait()
                if process.returncode is None:
                    lines = log.decode("utf-8", "replace").strip().splitlines()
                    await report(time.monotonic() - started, job.seconds, lines[-1] if lines else job.words[0])
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
            await process.aclose()
    return Finished(process.returncode or 0, output.decode("utf-8", "replace"), log.decode("utf-8", "replace"))


async def _write(stream: anyio.abc.ByteSendStream, data: bytes) -> None:
    async with stream:
        try:
            await stream.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # it ended before it read its input


async def _read(stream: anyio.abc.ByteReceiveStream, kept: bytearray) -> None:
    """Read to the end, and keep as much as is allowed."""
    while True:
        try:
            chunk = await stream.receive(_CHUNK)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
        kept += chunk[: LARGEST_OUTPUT - len(kept)]


async def _end(process: anyio.abc.Process) -> None:
    """End the process and its group; first so that it can end its own children, then at once."""
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        if process.returncode is not None:
            return
        try:
            if os.name == "posix":
                os.killpg(process.pid, number)
            else:
                process.terminate()
        except ProcessLookupError:
            return
        with anyio.move_on_after(_GRACE):
            await process.wait()
