"""The process around a command: its standard streams, and the signals that end it.

Vocabulary
----------
closed stream   a standard stream that the caller closed (``<&-``). Its number would go to the next file that is opened, and
                output would land in that file, so the null device takes its place.
grace           the time in which the command may end its children and remove its temporary files after a signal.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from typing import IO, Any, NoReturn

from flake8_jax.core.ending import Terminated
from flake8_jax.core.printable import shown_lines

_LARGEST_INPUT = 100_000_000
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


class OutputError(Exception):
    """A standard stream takes no more output; the message says why."""

    def __init__(self, name: str, reason: OSError) -> None:
        super().__init__(f"{name} cannot be written: {reason.strerror or reason}")
        self.is_reader_gone = isinstance(reason, BrokenPipeError)


class InputError(Exception):
    """Standard input gives nothing; the message says why."""


class _Output(io.BufferedIOBase):
    """A standard stream whose failures can be told from those of other files."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def write(self, data: Any) -> int:
        left = memoryview(data).cast("B")
        while left:
            try:
                count = self._stream.write(left)
            except BlockingIOError as error:  # another process made the terminal or the pipe non-blocking
                count = error.characters_written
                self._wait(error)
            except OSError as error:
                raise OutputError(self._name, error) from error
            left = left[count or 0 :]
        return len(data)

    def flush(self) -> None:
        while True:
            try:
                return self._stream.flush()
            except BlockingIOError as error:
                self._wait(error)
            except OSError as error:
                raise OutputError(self._name, error) from error

    def _wait(self, error: BlockingIOError) -> None:
        try:
            select.select([], [self._stream.fileno()], [])
        except (OSError, ValueError):
            raise OutputError(self._name, error) from error


class _Log(io.TextIOWrapper):
    """Standard error: no text on it acts on a terminal or starts a command of a CI service."""

    def write(self, text: str) -> int:
        super().write(shown_lines(text))
        return len(text)


def prepare_streams() -> None:
    """Put the null device in place of closed streams, and have failures of the others raise OutputError.

    ``sys.stdin`` stays None where it was closed.
    """
    number = -1
    while number <= 2:
        number = os.open(os.devnull, os.O_RDWR)
        if number <= 2:
            os.set_inheritable(number, True)
    os.close(number)
    sys.stdout = _checked(sys.stdout, 1, "standard output", io.TextIOWrapper)
    sys.stderr = _checked(sys.stderr, 2, "standard error", _Log)


def _checked(stream: Any, number: int, name: str, kind: Callable[..., io.TextIOWrapper]) -> Any:
    if stream is None:
        null = open(number, "wb", closefd=False)  # noqa: SIM115  open as long as the process lives
        return kind(_Output(null, name), encoding="utf-8", errors="backslashreplace")
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    return kind(
        _Output(stream.buffer, name),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def read_input() -> bytes:
    """What stands on standard input. Raises InputError."""
    if sys.stdin is None:
        raise InputError("standard input is closed")
    try:
        data = sys.stdin.buffer.read(_LARGEST_INPUT + 1)
    except OSError as error:
        raise InputError(f"standard input cannot be read: {error.strerror}") from error
    if len(data) > _LARGEST_INPUT:
        raise InputError(f"standard input holds more than {_LARGEST_INPUT:,} bytes")
    return data


def exact_log() -> Any:
    """Standard error for what draws on a terminal."""
    stream = sys.stderr
    return sys.__stderr__ if isinstance(stream, _Log) and sys.__stderr__ is not None else stream


def end_on_signals(*, grace: float = 1.0) -> list[int]:
    """Have signals end the command: KeyboardInterrupt or Terminated is raised in the main thread.

    Python drops the exception where it meets a destructor or a hook. So a command that is not over within the grace (seconds)
    is ended as it stands, with all processes that ``multiprocessing`` started. Returns the list of the signals that came.
    """
    came: list[int] = []

    def end(number: int, frame: object) -> None:
        came.append(number)
        if not grace:
            _abandon(128 + number)
        timer = threading.Timer(grace, _abandon, (128 + number,))
        timer.daemon = True
        timer.start()
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)

    for name in _SIGNALS:
        number = getattr(signal, name, None)
        # A signal that the caller has us ignore (`nohup`) stays ignored.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
    return came


def _abandon(status: int) -> NoReturn:
    if "multiprocessing" in sys.modules:  # importing it takes time, and who has not has no children
        import multiprocessing

        for child in multiprocessing.active_children():
            child.kill()
    os._exit(status)


def run_to_the_end(main: Callable[[], int], *, grace: float = 1.0) -> NoReturn:
    """Run a command as the whole process: with its streams and signals, and straight to the end. grace: see there.

    Taking apart what an analysis of a large project has built costs a twentieth of its time, for nothing. (mypy ends in the
    same way.)
    """
    try:
        prepare_streams()
        came = end_on_signals(grace=grace)
        status = _status(main)
        # A library may have made an interrupt of the exception that another signal raised.
        status = next((128 + number for number in came if number != signal.SIGINT), status)
    except KeyboardInterrupt:
        status = 130
    except Terminated as error:
        status = error.status
    os._exit(status)


def _status(main: Callable[[], int]) -> int:
    try:
        try:
            status = main()
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else int(error.code is not None)
            if isinstance(error.code, str):
                print(error.code, file=sys.stderr)
        except (OutputError, KeyboardInterrupt, Terminated):
            raise
        except MemoryError as error:
            print(f"jaxlint: there is not enough memory{f': {error}' if str(error) else ''}", file=sys.stderr)
            status = 2
        except BaseException:  # the outermost boundary: a defect of ours
            import traceback

            traceback.print_exc()
            print("jaxlint: this is a defect of jaxlint; please report it", file=sys.stderr)
            status = 2
        sys.stdout.flush()
        sys.stderr.flush()
        return status
    except OutputError as error:
        if error.is_reader_gone:
            return 1
        with contextlib.suppress(OutputError):  # it may be standard error itself
            print(f"jaxlint: {error}", file=sys.stderr, flush=True)
        return 2
