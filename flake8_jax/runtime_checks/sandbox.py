"""Child processes: started with limits, listened to, and ended, whatever they do.

Vocabulary
----------
request   JSON data that says what the child is to do; message: JSON data that it says back, one a line, in a file that
          only the two know of. So output of the user's code and messages cannot mix.
state     how it ended: ``ok``, ``failed`` (an exception, or an exit status), ``timeout``, ``memory`` (the limit, or an
          allocator that gave up), ``signal``.

This is no security boundary: it keeps accidents away from the linter and says what happened. Where ``unshare -rn`` works
and ``network`` is off, the child has no network.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec

PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
_BOOT = "import sys; sys.path.append({root!r}); from flake8_jax.runtime_checks.child.main import main; main()"
_POLL_SECONDS = 0.05
_TAIL = 4000
_OUT_OF_MEMORY = ("MemoryError", "RESOURCE_EXHAUSTED", "std::bad_alloc", "Out of memory")

Message = dict[str, Any]


class Limits(msgspec.Struct, frozen=True):
    """What a child may use. seconds: of wall time; memory: MiB of data beyond what the interpreter has; None: no limit."""

    seconds: float | None = 300.0
    memory: int | None = None
    network: bool = True


STANDARD = Limits()


class Outcome(msgspec.Struct, frozen=True):
    """How a child ended. code: its exit status; wall: seconds; output: the end of what it wrote, where that was kept."""

    state: str
    code: int
    wall: float
    messages: tuple[Message, ...]
    output: str = ""

    def of(self, kind: str) -> list[Message]:
        """The messages of one kind."""
        return [message for message in self.messages if message.get("kind") == kind]

    def result(self) -> Message | None:
        """The last message of kind ``result``."""
        found = self.of("result")
        return found[-1] if found else None


def describe(outcome: Outcome, limits: Limits) -> str:
    """One sentence on a child that did not end well."""
    if outcome.state == "timeout":
        return f"it ran longer than {limits.seconds:g} s (`--timeout` sets the limit)"
    if outcome.state == "memory":
        limit = f", the limit is {limits.memory} MiB (`--memory`)" if limits.memory else ""
        return f"it ran out of memory{limit}"
    if outcome.state == "signal":
        return f"it was killed by {_signal_name(-outcome.code)}"
    failures = outcome.of("failure")
    last = failures[-1]["text"] if failures else (outcome.output.strip().splitlines() or [""])[-1]
    return f"it ended with status {outcome.code}" + (f": {last}" if last else "")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


NO_JAX = "No module named 'jax'"


def missing_jax(python: str, versions: Mapping[str, str], said: Sequence[str]) -> str:
    """What to say where the command could not import JAX; nothing where it could, or did not try. said: its errors."""
    if "jax" in versions or not any(NO_JAX in text for text in said):
        return ""
    return (
        f"{python} has no JAX: install it (`pip install 'flake8-jax[runtime]'`), or name an interpreter with `--python`"
    )


class Launch(msgspec.Struct, frozen=True):
    """How a child is started. python: the interpreter that has JAX. environment: variables besides our own. cwd: None for
    ours."""

    python: str = sys.executable
    limits: Limits = STANDARD
    environment: Mapping[str, str] = {}
    cwd: str | None = None


def run_child(
    task: str,
    request: Message,
    launch: Launch,
    *,
    output: IO[str] | None = None,
    listen: Callable[[Message], None] | None = None,
) -> Outcome:
    """Run ``task`` (a module of ``child``) and wait for its end.

    output: where its standard output and error go; kept, and its end returned, if None. listen: called with every message
    as it comes.

    Raises OSError if the interpreter cannot be started. KeyboardInterrupt ends the child first.
    """
    limits = launch.limits
    with tempfile.TemporaryDirectory(prefix="jaxlint-") as folder:
        channel = Path(folder, "messages")
        channel.touch()
        asked = Path(folder, "request.json")
        asked.write_text(json.dumps({**request, "task": task, "memory": limits.memory}), encoding="utf-8")
        kept = Path(folder, "output")
        with open(kept, "w+", encoding="utf-8", errors="replace") as sink:
            target = output if output is not None else sink
            started = time.monotonic()
            process = subprocess.Popen(
                [
                    *_without_network(limits),
                    launch.python,
                    "-c",
                    _BOOT.format(root=PACKAGE_ROOT),
                    str(asked),
                    str(channel),
                ],
                stdin=subprocess.DEVNULL,
                stdout=target,
                stderr=subprocess.STDOUT if output is None else target,
                env=_environment(launch.environment),
                cwd=launch.cwd,
                start_new_session=os.name == "posix",
            )
            late, messages = _wait(process, channel, started, limits, listen)
            wall = time.monotonic() - started
        text = kept.read_text(encoding="utf-8", errors="replace")[-_TAIL:]
    code = process.returncode
    return Outcome(_state(code, late, text, messages), code, wall, tuple(messages), text)


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Ours, with the wishes on top. An accelerator that is shared should not be taken whole."""
    return {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **os.environ, **extra}


@functools.cache
def can_unshare() -> bool:
    """Whether a child can be started without the network."""
    if shutil.which("unshare") is None:
        return False
    try:
        return subprocess.run(["unshare", "-rn", "true"], capture_output=True, timeout=5, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _without_network(limits: Limits) -> Sequence[str]:
    return ["unshare", "-rn"] if not limits.network and can_unshare() else []


def _wait(
    process: subprocess.Popen[Any],
    channel: Path,
    started: float,
    limits: Limits,
    listen: Callable[[Message], None] | None,
) -> tuple[bool, list[Message]]:
    """Whether it took too long, and what it said."""
    messages: list[Message] = []
    with open(channel, encoding="utf-8") as lines:
        pending = ""
        try:
            while True:
                over = process.poll() is not None
                pending += lines.read()
                *whole, pending = pending.split("\n")
                for line in whole:
                    message: Message = json.loads(line)
                    messages.append(message)
                    if listen is not None:
                        listen(message)
                if over:
                    return False, messages
                if limits.seconds is not None and time.monotonic() - started > limits.seconds:
                    return True, messages
                time.sleep(_POLL_SECONDS)
        finally:
            _end(process)


def _end(process: subprocess.Popen[Any]) -> None:
    """End the child and what it started."""
    if process.poll() is not None:
        return
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        try:
            if os.name == "posix":
                os.killpg(process.pid, number)
            else:
                process.terminate()
        except ProcessLookupError:
            pass
        try:
            process.wait(timeout=2)
            return
        except subprocess.TimeoutExpired:
            continue


def _state(code: int, late: bool, output: str, messages: Sequence[Message]) -> str:
    if late:
        return "timeout"
    if code == 0:
        return "ok"
    said = output + "".join(str(message.get("text", "")) for message in messages if message.get("kind") == "failure")
    if any(sign in said for sign in _OUT_OF_MEMORY):
        return "memory"
    return "signal" if code < 0 else "failed"
