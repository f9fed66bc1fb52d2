"""One input of the fuzz suite, and one kind of them.

Vocabulary
----------
case     the files of a small project by relative name, made from (kind, seed, number) alone.
outcome  how often something came out of a case: ``{"findings": 1}``, or ``{"clean": 24, "not Python": 1}``.
broken   what must never come out. A *class* of it names the exception and the function that raised it.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

CPU_SECONDS = 20
"""For one case; what needs more is a hang."""
MEMORY_BYTES = 2 << 30

Outcome = Counter[str]


class Broken(AssertionError):
    """An input did what none may. ``details``: a traceback, or the two results that differ."""

    def __init__(self, reason: str, details: str = "") -> None:
        super().__init__(reason if not details else f"{reason}\n{details}")
        self.reason = reason
        self.details = details

    @property
    def label(self) -> str:
        return class_of(self.reason, self.details)


@dataclass(frozen=True)
class Case:
    """``files`` by name below the folder of the case; ``note`` says how it was made."""

    files: Mapping[str, bytes]
    note: str = ""

    def write(self, folder: Path) -> None:
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


@dataclass(frozen=True)
class Kind:
    """How cases are made and judged. ``judge`` raises Broken. ``seconds``: of CPU for a case; ``wall``: in all."""

    name: str
    generate: Callable[[random.Random, int], Case]
    judge: Callable[[Case], Outcome]
    seconds: int = CPU_SECONDS
    wall: int = 15 * CPU_SECONDS
    memory: int = MEMORY_BYTES

    def case(self, seed: int, number: int) -> Case:
        return self.generate(random.Random(f"{self.name}:{seed}:{number}"), number)


@dataclass(frozen=True)
class Failure:
    """A case that was broken, and its class."""

    number: int
    label: str
    reason: str
    case: Case


@dataclass
class Tally:
    """What came out of many cases."""

    counts: Outcome = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)


_FRAME = re.compile(r'File "[^"]*?flake8_jax/([^"]+)", line \d+, in (\w+)')
_ERROR = re.compile(r"^([\w.]+(?:Error|Exception|Interrupt|Refused|Exit))\b", re.MULTILINE)


def class_of(reason: str, details: str) -> str:
    """A short name for what broke: failures of one class have one cause, most of the time."""
    frames, errors = _FRAME.findall(details), _ERROR.findall(details)
    if frames and errors:
        place, function = frames[-1]
        if errors[-1] == "RecursionError":  # where the stack ends is chance
            place, function = frames[len(frames) // 2][0], "…"
        return f"{errors[-1]} in {place}:{function}"
    return re.sub(r"\W+", " ", re.sub(r"`.*?`|'[^']*'|\d+|/\S+", "", reason.partition("\n")[0])).strip()[:70]
