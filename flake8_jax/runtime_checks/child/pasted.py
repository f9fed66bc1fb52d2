"""The error in a pasted text: its class, its message, and the frames of its traceback.

Python, IPython and pytest print tracebacks in three ways; colors and the prefixes of ``torchrun`` are removed first. Of
chained exceptions the last one counts, because the program ended with it. If the message holds a traceback itself, as that of
a callback does, the error in it counts.

Limitations: the frames of IPython and pytest are not read. A log prefix other than ``[rank0]:`` stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_RANK = re.compile(r"^\[rank\d+\]: ?", re.MULTILINE)
_IPYTHON = "Traceback (most recent call last)"
_HEADER = f"{_IPYTHON}:"
_PYTEST = re.compile(r"^E {2,}(.*)$")
_FRAME = re.compile(r'File "([^"]+)", line (\d+)(?:, in (\S+))?')
_NAMED = re.compile(r"(?:[A-Za-z_]\w*\.)*([A-Z]\w*)(?::(?:\s+|$)|$)")
_BUILT_IN = re.compile(r"\w+(?:Error|Exception|Warning|Interrupt|Exit|Iteration)$")
_NOT_THE_MESSAGE = (
    "--------------------",
    "For simplicity, JAX has removed",
    "The stack trace below excludes",
    "See https://",
    "The above exception was the direct cause",
    "During handling of the above exception",
    "This exception is a direct result",
)


@dataclass(frozen=True)
class Frame:
    """A line of a traceback. path: as it was pasted."""

    path: str
    line: int
    function: str


@dataclass(frozen=True)
class Pasted:
    """error: the name of the class without its module, empty where the text names none. frames: the innermost last."""

    error: str
    message: str
    frames: tuple[Frame, ...] = ()


def read_pasted(text: str) -> Pasted:
    """Find the last error of a text. A text without an error class is a message."""
    lines = _RANK.sub("", _COLOR.sub("", text)).expandtabs().splitlines()
    from_pytest = [match.group(1) if (match := _PYTEST.match(line)) else None for line in lines]
    if any(line is not None for line in from_pytest):
        return _error(_last_run(from_pytest), ())
    headers = [number for number, line in enumerate(lines) if _HEADER in line]
    if headers:
        return _after_header(lines, headers[-1])
    for number, line in enumerate(lines):
        if line.rstrip().endswith(_IPYTHON):
            return _from_ipython(lines[number:])
    return _error(_dedented([line for line in lines if line.strip()][:1]) + lines[1:], ())


def _last_run(lines: Sequence[str | None]) -> list[str]:
    """The last lines in a row that are there."""
    found: list[str] = []
    for line in reversed(lines):
        if line is None and found:
            break
        if line is not None:
            found.append(line)
    return found[::-1]


def _after_header(lines: Sequence[str], header: int) -> Pasted:
    """Read the block under a header of CPython: indented frames, then the error at the header's own column."""
    margin = len(lines[header]) - len(lines[header].lstrip())
    body = header + 1
    while body < len(lines) and (not lines[body].strip() or lines[body][: margin + 1].isspace()):
        body += 1
    frames = tuple(
        Frame(match.group(1), int(match.group(2)), match.group(3) or "")
        for line in lines[header:body]
        if (match := _FRAME.search(line))
    )
    return _error([line[margin:] for line in lines[body:]], frames)


def _from_ipython(lines: Sequence[str]) -> Pasted:
    """Read what IPython prints: the name of the class in the header, and again before the message."""
    name = lines[0].split()[0]
    starts = [number for number, line in enumerate(lines) if number and line.startswith(f"{name}:")]
    return _error(lines[starts[-1] :] if starts else [name], ())


def _dedented(lines: list[str]) -> list[str]:
    return [line.lstrip() for line in lines]


def _error(lines: Sequence[str], frames: tuple[Frame, ...]) -> Pasted:
    """Split the class from the message, and drop what Python and JAX print after it."""
    kept: list[str] = []
    for line in lines:
        if line.lstrip().startswith(_NOT_THE_MESSAGE):
            break
        kept.append(line)
    first = kept[0] if kept else ""
    match = _NAMED.match(first)
    # `Expected: x` begins a message; a class of one's own ends in Error too, or has a module before it.
    if match is None or not (_BUILT_IN.match(match.group(1)) or "." in first[: match.start(1)]):
        return Pasted("", "\n".join(kept).strip(), frames)
    return Pasted(match.group(1), "\n".join([first[match.end() :], *kept[1:]]).strip(), frames)
