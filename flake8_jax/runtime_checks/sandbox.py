"""Child processes: started with limits, listened to, and ended, whatever they do.

Vocabulary
----------
request   JSON data that says what the child is to do; message: JSON data that it says back, one a line, in a file that
          only the two know of. So output of the user's code and messages cannot mix.
state     how it ended: ``ok``, ``failed`` (an exception, or an exit status), ``timeout``, ``memory`` (the limit, or an
          allocator that gave up), ``signal``; ``enough`` (it was ended on purpose), ``interrupted`` (the linter was).
partial   what a child says that is still at work, in a file that it replaces every few seconds and whenever it is asked to. So
          nothing that was seen is lost, however the child ends.
keeper    see ``child.keeper``: it ends the child where the linter cannot.

This is no security boundary: it keeps accidents away from the linter and says what happened. Where ``unshare -rn`` works
and ``network`` is off, the child has no network.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Optional

import msgspec

from flake8_jax.core.ending import Terminated
from flake8_jax.runtime_checks.child import keeper

PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
# Python puts the working directory first for ``-c``; the modules there are the user's, and not ours to import. The interpreter
# may have another release of the linter: this one is imported, and its folder goes to the end, because it holds other packages.
_BOOT = (
    "import sys; sys.path[:] = [{root!r}, *filter(None, sys.path)]; import flake8_jax; sys.path.append(sys.path.pop(0)); "
    "from flake8_jax.runtime_checks.child.main import main; main()"
)
_POLL_SECONDS = 0.05
_LOOK_SECONDS = 1.0
_LAST_WORDS_SECONDS = 5.0
"""The time that a child has to say what it saw before it is ended."""
_TAIL = 4000
_OUT_OF_MEMORY = ("MemoryError", "RESOURCE_EXHAUSTED", "std::bad_alloc", "Out of memory")

Message = dict[str, Any]


class Limits(msgspec.Struct, frozen=True):
    """What a child may use. seconds: of wall time; memory: MiB of data beyond what the interpreter has; None: no limit.
    enough: seconds after which it is ended on purpose, with what was seen until then."""

    seconds: float | None = 300.0
    memory: int | None = None
    network: bool = True
    enough: float | None = None


STANDARD = Limits()


class Outcome(msgspec.Struct, frozen=True):
    """How a child ended. code: its exit status; wall: seconds; output: the end of what it wrote, where that was kept.
    partial: the messages hold what it had said before it was at its end."""

    state: str
    code: int
    wall: float
    messages: tuple[Message, ...]
    output: str = ""
    partial: bool = False

    def of(self, kind: str) -> list[Message]:
        """Return the messages of one kind."""
        return [message for message in self.messages if message.get("kind") == kind]

    def result(self) -> Message | None:
        """Return the last message of kind ``result``; None if there is none."""
        found = self.of("result")
        return found[-1] if found else None


def describe(outcome: Outcome, limits: Limits) -> str:
    """Describe in one sentence how a child ended that did not end well."""
    if outcome.state == "timeout":
        return f"it ran longer than {limits.seconds:g} s (`--timeout` sets the limit)"
    if outcome.state == "memory":
        limit = f", the limit is {limits.memory} MiB (`--memory`)" if limits.memory else ""
        return f"it ran out of memory{limit}"
    if outcome.state == "interrupted":
        return "it was interrupted"
    if outcome.state == "enough":
        return "it was ended on purpose" + (f" after {limits.enough:g} s" if limits.enough is not None else "")
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
    """Return what to say if the command could not import JAX; an empty string if it could, or did not try. said: its
    errors.
    """
    if "jax" in versions or not any(NO_JAX in text for text in said):
        return ""
    return (
        f"{python} has no JAX: install it (`pip install 'flake8-jax[runtime]'`), or name an interpreter with `--python`"
    )


Input = Optional[int]
"""What a child reads as its standard input: nothing (None), ours as it is (``AS_IT_IS``), or ours from an offset on."""
AS_IT_IS = -1


def standard_input() -> Input:
    """Return the standard input of jaxlint for a child: a file from its current position, so that every run reads the
    same, and nothing of a pipe, which only one run could read.
    """
    try:
        mode = os.fstat(0).st_mode
        if stat.S_ISREG(mode):
            return os.lseek(0, 0, os.SEEK_CUR)
    except OSError:
        return None
    return None if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else AS_IT_IS


class Launch(msgspec.Struct, frozen=True):
    """How a child is started. python: the interpreter that has JAX; options: its own. environment: variables besides our own,
    None for one to be left out. cwd: None for ours. stdin: see ``Input``."""

    python: str = sys.executable
    limits: Limits = STANDARD
    environment: Mapping[str, str | None] = {}
    cwd: str | None = None
    options: tuple[str, ...] = ()
    stdin: Input = None


class Ears(msgspec.Struct, frozen=True):
    """Who listens while a child is at work. listen: called with every message as it comes. judge: called with what a child
    has seen so far, whenever that is new; whether that is enough."""

    listen: Callable[[Message], None] | None = None
    judge: Callable[[Sequence[Message]], bool] | None = None


class _Stop(msgspec.Struct):
    """Why a child is ended before it ends by itself: a state, or nothing."""

    state: str = ""


@contextlib.contextmanager
def kept_folder(prefix: str) -> Iterator[str]:
    """Make a temporary folder that is removed even if jaxlint is killed."""
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder, _keeping(0, "", folder):
        yield folder


@contextlib.contextmanager
def _keeping(pid: int, mark: str, folder: str) -> Iterator[None]:
    """Have a keeper stand by. Where none can be started, there is none."""
    command = [sys.executable, "-I", "-S", keeper.__file__, str(pid), mark, folder]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=os.name == "posix", **quiet)  # type: ignore[call-overload]
    except OSError:
        yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            process.communicate(b"done\n")


def run_child(
    task: str,
    request: Message,
    launch: Launch,
    *,
    output: tuple[IO[str] | None, IO[str] | None] | None = None,
    ears: Ears = Ears(),  # noqa: B008  it cannot change
    keep: bool = False,
) -> Outcome:
    """Run ``task`` (a module of ``child``) and wait for its end.

    output: where its standard output and error go, None for where ours go; kept, and its end returned, if there is none.
    keep: a signal that ends the linter ends the child, and what it saw until then is the outcome.

    Raises OSError if the interpreter cannot be started. KeyboardInterrupt and Terminated end the child first.
    """
    limits = launch.limits
    mark = secrets.token_hex(8)
    with tempfile.TemporaryDirectory(prefix="jaxlint-", ignore_cleanup_errors=True) as folder:
        channel = Path(folder, "messages")
        channel.touch()
        asked = Path(folder, "request.json")
        asked.write_text(json.dumps({**request, "task": task, "memory": limits.memory, "keep": keep}), encoding="utf-8")
        kept = Path(folder, "output")
        with open(kept, "w+", encoding="utf-8", errors="replace") as sink:
            out, err = output if output is not None else (sink, sink)
            started = time.monotonic()
            if launch.stdin is not None and launch.stdin >= 0:
                os.lseek(0, launch.stdin, os.SEEK_SET)
            process = subprocess.Popen(
                [
                    *_without_network(limits),
                    launch.python,
                    *launch.options,
                    "-c",
                    _BOOT.format(root=PACKAGE_ROOT),
                    str(asked),
                    str(channel),
                ],
                stdin=None if launch.stdin is not None else subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=_environment({**launch.environment, keeper.MARK: mark}),
                cwd=launch.cwd,
                start_new_session=os.name == "posix",
            )
            stop = _Stop()
            with _keeping(process.pid, mark, folder):
                try:
                    messages = _wait(process, channel, limits, ears, stop)
                except (KeyboardInterrupt, Terminated) as error:
                    stop.state = "interrupted"
                    messages = _last_words(process, channel)
                    _end(process, mark, politely=isinstance(error, KeyboardInterrupt))
                    if not keep:
                        raise
                    messages = _messages(channel) or messages
                else:
                    if stop.state:
                        messages = _last_words(process, channel)
                        _end(process, mark)
                        messages = _messages(channel) or messages
                finally:
                    _end(process, mark)
            wall = time.monotonic() - started
        text = kept.read_text(encoding="utf-8", errors="replace")[-_TAIL:]
        part = [] if any(message.get("kind") == "ended" for message in messages) else _partial(channel)
    code = process.returncode
    said = (*messages, *part)
    return Outcome(stop.state or _state(code, text, messages), code, wall, said, text, partial=bool(part))


def _environment(extra: Mapping[str, str | None]) -> dict[str, str]:
    """Ours, with the wishes on top. An accelerator that is shared should not be taken whole."""
    wanted = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **os.environ, **extra}
    return {name: value for name, value in wanted.items() if value is not None}


@functools.cache
def can_unshare() -> bool:
    """Return whether jaxlint can start a child without the network."""
    if shutil.which("unshare") is None:
        return False
    try:
        return subprocess.run(["unshare", "-rn", "true"], capture_output=True, timeout=5, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _without_network(limits: Limits) -> Sequence[str]:
    return ["unshare", "-rn"] if not limits.network and can_unshare() else []


def _wait(process: subprocess.Popen[Any], channel: Path, limits: Limits, ears: Ears, stop: _Stop) -> list[Message]:
    """What a child says until it ends, or until ``stop`` says why it has to."""
    started = time.monotonic()
    messages: list[Message] = []
    looked, seen = started, ""
    with open(channel, encoding="utf-8") as lines:
        pending = ""
        while True:
            over = process.poll() is not None
            pending += lines.read()
            *whole, pending = pending.split("\n")
            for line in whole:
                message: Message = json.loads(line)
                messages.append(message)
                if ears.listen is not None:
                    ears.listen(message)
            now = time.monotonic()
            if over:
                return messages
            if limits.seconds is not None and now - started > limits.seconds:
                stop.state = "timeout"
            elif limits.enough is not None and now - started > limits.enough:
                stop.state = "enough"
            elif ears.judge is not None and now - looked > _LOOK_SECONDS:
                looked, before = now, seen
                seen = _stamp(channel)
                if seen != before and ears.judge([*messages, *_partial(channel)]):
                    stop.state = "enough"
            if stop.state:
                return messages
            time.sleep(_POLL_SECONDS)


def _last_words(process: subprocess.Popen[Any], channel: Path) -> list[Message]:
    """Ask a child for what it has seen, and give it the time to say it."""
    asking = keeper_files(channel)[1]
    asking.touch()
    until = time.monotonic() + _LAST_WORDS_SECONDS
    while asking.exists() and process.poll() is None and time.monotonic() < until and _stamp(channel):
        time.sleep(_POLL_SECONDS)
    return _messages(channel)


def keeper_files(channel: Path) -> tuple[Path, Path]:
    """Return the paths of the file of partial messages and of the file that asks for them (see ``child.main.Channel``)."""
    return Path(f"{channel}.partial"), Path(f"{channel}.asked")


def _stamp(channel: Path) -> str:
    """Which partial messages there are; empty if there are none."""
    with contextlib.suppress(OSError):
        found = keeper_files(channel)[0].stat()
        return f"{found.st_ino} {found.st_mtime_ns}"
    return ""


def _partial(channel: Path) -> list[Message]:
    """What the child said last of what it had seen."""
    with contextlib.suppress(OSError, ValueError):
        return list(json.loads(keeper_files(channel)[0].read_text(encoding="utf-8")))
    return []


def _messages(channel: Path) -> list[Message]:
    """All whole messages."""
    text = channel.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def _end(process: subprocess.Popen[Any], mark: str, *, politely: bool = False) -> None:
    """End the child and what it started. politely: as Ctrl-C would, at first."""
    if politely and process.poll() is None:
        keeper.signal_all(process.pid, mark, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=keeper.GRACE)
    if process.poll() is None:
        keeper.signal_all(process.pid, mark, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=keeper.GRACE)
    if process.poll() is None:
        keeper.signal_all(process.pid, mark, getattr(signal, "SIGKILL", signal.SIGTERM))
        process.wait()
    keeper.end_all(process.pid, mark)


def _state(code: int, output: str, messages: Sequence[Message]) -> str:
    if code == 0:
        return "ok"
    said = output + "".join(str(message.get("text", "")) for message in messages if message.get("kind") == "failure")
    if any(sign in said for sign in _OUT_OF_MEMORY):
        return "memory"
    return "signal" if code < 0 else "failed"
