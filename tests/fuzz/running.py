"""Cases in child processes, so that a hang or a death of the process costs one case and is known by its number.

The child prints a line before and after each case. The kernel ends a child that used up its CPU time (SIGPROF) or asks
for too much memory; the parent ends one that says nothing for too long, and starts another behind the case.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fuzz.case import Broken, Case, Failure, Kind, Tally

TESTS = Path(__file__).resolve().parents[1]
_STACKS = 3 << 30
"""Address space that the large stacks of analysis and parser may take on top; their pages are mostly never used."""
_START = f"import sys; sys.path[:0] = {[str(TESTS), str(TESTS.parent)]!r}; from fuzz.running import child; child()"


def kind_named(name: str) -> Kind:
    """The kind that a module makes: one of this package, or any by its full name."""
    kind: Kind = importlib.import_module(name if "." in name else f"fuzz.{name}").KIND
    return kind


def run(name: str, seed: int, count: int) -> dict[str, int]:
    """Judge cases 0 to ``count`` of a kind. Raises Broken with the first that is, made small."""
    from fuzz.shrinking import shrunk

    tally = Tally()
    for failure in cases(name, seed, range(count), tally):
        failure = shrunk(name, failure)
        texts = {file: data.decode("utf-8", "backslashreplace") for file, data in failure.case.files.items()}
        files = "\n".join(f"#### {file}\n{text}" for file, text in texts.items())
        raise Broken(f"{name} {failure.number} of seed {seed}: {failure.reason}", f"{failure.case.note}\n{files}")
    return dict(tally.counts)


def cases(
    name: str, seed: int, numbers: range, tally: Tally, stop: Callable[[], bool] = lambda: False
) -> Iterator[Failure]:
    """The broken ones of the numbered cases, as they are met; what came out of all goes into ``tally``."""
    kind = kind_named(name)
    left = numbers
    while left and not stop():
        done, failure = _some(kind, name, seed, left, tally, stop)
        if failure is not None:
            tally.failures.append(failure)
            tally.counts["BROKEN"] += 1
            yield failure
        left = range(left.start + left.step * done, left.stop, left.step)


def _some(
    kind: Kind, name: str, seed: int, numbers: range, tally: Tally, stop: Callable[[], bool]
) -> tuple[int, Failure | None]:
    """Cases up to the first broken one, in one child: how many, and that one."""
    request = json.dumps({"kind": name, "seed": seed, "numbers": [numbers.start, numbers.stop, numbers.step]})
    process = subprocess.Popen(
        [sys.executable, "-c", _START, request], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    done = 0
    current: int | None = None
    try:
        for line in _lines(process, kind.wall):
            if line is None:
                break
            message = json.loads(line)
            if "start" in message:
                current = message["start"]
                continue
            current = None
            done += 1
            if "broken" in message:
                files = {file: base64.b64decode(data) for file, data in message["files"].items()}
                return done, Failure(
                    message["number"], message["broken"], message["reason"], Case(files, message["note"])
                )
            tally.counts.update(message["outcome"])
            if stop():
                return len(numbers), None
        else:
            process.wait()
            if current is None and done == len(numbers):
                return done, None
        if current is None:
            raise RuntimeError(f"the child of {name} did not start: {_said(process)}")
        silent = process.poll() is None
        _kill(process)
        return done + 1, _dead(kind, seed, current, "hang" if silent else "", process)
    finally:
        _kill(process)


def _dead(kind: Kind, seed: int, number: int, why: str, process: subprocess.Popen[bytes]) -> Failure:
    names = {
        -signal.SIGPROF: f"hang: more than {kind.seconds} s of CPU",
        -signal.SIGSEGV: "the process crashed (SIGSEGV)",
    }
    said = _said(process)
    died = names.get(process.returncode, f"the process died: {process.returncode}")
    reason = f"hang: more than {kind.wall} s" if why else died
    label = "memory" if "MemoryError" in said else reason.partition(":")[0]
    return Failure(number, label, f"{reason}\n{said}", kind.case(seed, number))


def _said(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    return process.stderr.read().decode("utf-8", "backslashreplace")[-3000:]


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _lines(process: subprocess.Popen[bytes], wall: float) -> Iterator[bytes | None]:
    """What the child prints, line by line; None after ``wall`` seconds of silence."""
    assert process.stdout is not None
    handle = process.stdout.fileno()
    held = b""
    while True:
        if not select.select([handle], [], [], wall)[0]:
            yield None
            return
        data = os.read(handle, 1 << 16)
        if not data:
            return
        *lines, held = (held + data).split(b"\n")
        yield from lines


# --- in the child -----------------------------------------------------------------------------------------


def child() -> None:
    request = json.loads(sys.argv[1])
    kind = kind_named(request["kind"])
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    resource.setrlimit(resource.RLIMIT_AS, (kind.memory + _STACKS, kind.memory + _STACKS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def send(**message: Any) -> None:
        stream.write(json.dumps(message) + "\n")
        stream.flush()

    for number in range(*request["numbers"]):
        case = kind.case(request["seed"], number)
        send(start=number)
        signal.setitimer(signal.ITIMER_PROF, kind.seconds)  # its signal ends the process, wherever that is
        try:
            outcome = judged(kind, case)
        except Broken as error:
            files = {name: base64.b64encode(data).decode() for name, data in case.files.items()}
            send(number=number, broken=error.label, reason=str(error)[:6000], files=files, note=case.note)
            return
        signal.setitimer(signal.ITIMER_PROF, 0)
        send(number=number, outcome=outcome)


def judged(kind: Kind, case: Case) -> Counter[str]:
    """What comes out of a case. Raises Broken, also for memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        outcome = kind.judge(case)
    except MemoryError as error:
        raise Broken("memory: the limit of address space was hit") from error
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if peak > before and peak * 1024 > kind.memory:
        raise Broken(f"memory: {peak >> 10} MB")
    return outcome
