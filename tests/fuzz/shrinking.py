"""Making a failing case small: fewer files, fewer lines, fewer words, as long as it breaks in the same class."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from fuzz.case import Case, Failure
from fuzz.running import TESTS, kind_named

SECONDS = 120.0
_ONE = (
    f"import sys; sys.path[:0] = {[str(TESTS), str(TESTS.parent)]!r}; from fuzz.shrinking import breaks_as; breaks_as()"
)
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


def shrunk(name: str, failure: Failure, seconds: float = SECONDS) -> Failure:
    """The failure with a smaller case; as it is where it does not break twice, or takes too long each time."""
    end = time.monotonic() + seconds
    with _Trier(name, failure.label) as trier:
        if not failure.case.files or not trier(failure.case):
            return failure

        def holds(files: dict[str, bytes]) -> bool:
            return time.monotonic() < end and trier(Case(files, failure.case.note))

        files = dict(failure.case.files)
        for file in list(files):
            rest = {other: data for other, data in files.items() if other != file}
            if rest and holds(rest):
                files = rest
        for _ in range(3):
            before = dict(files)
            for file in files:
                for split in (_lines, _words):

                    def fits(parts: Sequence[bytes], file: str = file) -> bool:
                        return holds({**files, file: b"".join(parts)})

                    files[file] = b"".join(_fewest(split(files[file]), fits))
            if files == before:
                break
    return replace(failure, case=Case(files, failure.case.note))


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _words(data: bytes) -> list[bytes]:
    text = data.decode("utf-8", "surrogateescape")
    return [part.encode("utf-8", "surrogateescape") for part in _WORD.findall(text)]


def _fewest(parts: list[bytes], fits: Callable[[Sequence[bytes]], bool]) -> list[bytes]:
    """Leave out runs of parts, long ones first, while the rest fits."""
    size = max(len(parts) // 2, 1)
    while parts:
        first = 0
        while first < len(parts):
            rest = parts[:first] + parts[first + size :]
            if len(rest) < len(parts) and fits(rest):
                parts = rest
            else:
                first += size
        if size == 1:
            break
        size //= 2
    return parts


class _Trier:
    """Judges cases in a child that is started again after each death."""

    def __init__(self, name: str, label: str) -> None:
        self.name, self.label = name, label
        self.child: subprocess.Popen[str] | None = None

    def __enter__(self) -> _Trier:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.communicate()

    def __call__(self, case: Case) -> bool:
        if self.child is None:
            self.child = subprocess.Popen(
                [sys.executable, "-c", _ONE, self.name],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        assert self.child.stdin is not None and self.child.stdout is not None
        files = {name: base64.b64encode(data).decode() for name, data in case.files.items()}
        try:
            self.child.stdin.write(json.dumps(files) + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            pass
        said = self.child.stdout.readline()
        if said:
            return bool(json.loads(said) == self.label)
        self.child.communicate()
        died, self.child = self.child.returncode, None
        return died < 0 and self.label in ("hang", "the process crashed (SIGSEGV)", "the process died")


def breaks_as() -> None:
    """In the child: a case a line on standard input, its class on standard output, empty where nothing breaks."""
    import resource
    import signal

    from fuzz.case import Broken
    from fuzz.running import judged

    kind = kind_named(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (kind.memory + (3 << 30),) * 2)
    for line in sys.stdin:
        case = Case({name: base64.b64decode(data) for name, data in json.loads(line).items()})
        signal.setitimer(signal.ITIMER_PROF, kind.seconds)
        label = ""
        try:
            judged(kind, case)
        except Broken as error:
            label = error.label
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(label), flush=True)
