"""The manual page of a rule: its docstring, taken apart into prose and examples.

Vocabulary
----------
page      a rule's docstring: markdown whose first line is the summary.
section   a heading (``## Why is this bad?``, ``## Example`` …) and the text below it.
example   a fenced ``python`` block of the section Example (bad), Use instead (good) or Not reported (also good). It is a
          complete program of one file, or of several, each of which starts with a line ``# file: name.py``.
label     a comment ``# expect: rule-name[, rule-name]`` on the line that a finding stands on.
oracle    ``def demonstrate()`` in a bad example: it shows the defect on JAX. Where the example holds a comment
          ``# raises: ExceptionName``, calling it raises that; else it returns, having asserted what is wrong.

Limitations: nested fences, other languages than Python, examples outside the three sections.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import Literal

Kind = Literal["bad", "good", "also good"]

MAIN_FILE = "example.py"
"""The name of the file of an example that does not name its files."""

_TITLE = re.compile(r"^## (\S.*)$", re.MULTILINE)
_FENCE = re.compile(r"^( *)```python\n(.*?)^ *```[ \t]*$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^# file: *(\S+)[ \t]*$", re.MULTILINE)
_EXPECT = re.compile(r"#\s*expect:\s*([a-z0-9-]+(?:\s*,\s*[a-z0-9-]+)*)\s*$")
_RAISES = re.compile(r"#\s*raises:\s*(\w+)")
_ORACLE = re.compile(r"^def demonstrate\(", re.MULTILINE)
_KINDS: dict[str, Kind] = {"Example": "bad", "Use instead": "good", "Not reported": "also good"}


@dataclass(frozen=True, slots=True)
class Label:
    """A line of ``file`` (1-based ``row``) on which the rule called ``rule`` must report."""

    file: str
    row: int
    rule: str


@dataclass(frozen=True, slots=True)
class ExampleFile:
    """One file of an example, without its ``# file:`` line."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """One program of a page. ``raises``: the exception's name that its oracle raises, None where it returns."""

    kind: Kind
    files: tuple[ExampleFile, ...]
    raises: str | None

    @property
    def labels(self) -> frozenset[Label]:
        """Every finding that linting the example must give."""
        return frozenset(label for file in self.files for label in labels_of(file.name, file.text))

    @property
    def oracle_file(self) -> str | None:
        """The file that defines ``demonstrate``, None where there is no oracle."""
        return next((file.name for file in self.files if _ORACLE.search(file.text)), None)


@dataclass(frozen=True, slots=True)
class Section:
    """``title`` is empty for the text before the first heading; ``text`` leaves the heading out."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A rule's manual page."""

    summary: str
    sections: tuple[Section, ...]
    examples: tuple[Example, ...]

    def section(self, title: str) -> str | None:
        """The text of the first section of that title."""
        return next((section.text for section in self.sections if section.title == title), None)


def parse_page(doc: str) -> Page:
    """Take a rule's docstring apart. Never raises: what is no section stays prose of the one before."""
    summary, _, rest = doc.strip().partition("\n")
    sections = tuple(_sections(rest))
    examples = tuple(
        _example(_KINDS[section.title], textwrap.dedent(block))
        for section in sections
        if section.title in _KINDS
        for _, block in _FENCE.findall(section.text)
    )
    return Page(summary.strip(), sections, examples)


def labels_of(file: str, text: str) -> list[Label]:
    """The labels of one file's text, in order."""
    found = []
    for row, line in enumerate(text.splitlines(), 1):
        match = _EXPECT.search(line)
        if match:
            found += [Label(file, row, name.strip()) for name in match[1].split(",")]
    return found


def _sections(text: str) -> list[Section]:
    """The sections; a heading inside a fence does not count."""
    prose = _FENCE.sub(lambda fence: " " * len(fence[0]), text)
    starts = [(match.start(), match.end(), match[1]) for match in _TITLE.finditer(prose)]
    if not starts:
        return [Section("", text.strip())] if text.strip() else []
    found = []
    if text[: starts[0][0]].strip():
        found.append(Section("", text[: starts[0][0]].strip()))
    for (_, end, title), following in zip(starts, [*(start for start, _, _ in starts[1:]), len(text)], strict=True):
        found.append(Section(title, text[end:following].strip()))
    return found


def _example(kind: Kind, block: str) -> Example:
    raises = _RAISES.search(block)
    return Example(kind, tuple(_split_files(block)), raises[1] if raises else None)


def _split_files(block: str) -> list[ExampleFile]:
    marks = list(_FILE.finditer(block))
    if not marks:
        return [ExampleFile(MAIN_FILE, block)]
    ends = [*(mark.start() for mark in marks[1:]), len(block)]
    return [ExampleFile(mark[1], block[mark.end() + 1 : end]) for mark, end in zip(marks, ends, strict=True)]
