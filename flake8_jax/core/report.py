"""What a run hands to the reporters: findings with rows and columns, and everything needed to show them.

Vocabulary
----------
diagnostic  a finding that survived suppression and selection, placed: rows and columns instead of offsets.
report      one run: the diagnostics, what was fixed, and what went wrong around them.

Rows and columns are 1-based, columns count code points, ends are exclusive. In a notebook, they count
within the cell.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from flake8_jax.core.findings import Finding, Level, Positions

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n|\r|\n")


class RuleInfo(msgspec.Struct, frozen=True):
    """What the commands need to know of a rule. ``doc`` is its manual page in markdown.

    package: the installed package that the rule comes from, and its version; empty for a rule of jaxlint. file: then the Python
    file with its page, absolute.
    """

    code: str
    name: str
    level: Level
    summary: str
    doc: str = ""
    opt_in: bool = False
    fixable: str = "never"
    package: str = ""
    file: str = ""

    @property
    def shown_level(self) -> str:
        """The level in texts: data formats call a note ``info``."""
        return "note" if self.level == "info" else self.level

    @property
    def needs_preview(self) -> bool:
        """The rule reports nothing without ``--preview``, as its page says."""
        return "is on only with `--preview`" in self.doc

    @property
    def is_previewed(self) -> bool:
        """The rule is opt-in, but ``--preview`` shows some of its findings, as its page says."""
        return self.opt_in and "With `--preview`, the rule is on" in self.doc


class PlacedEdit(msgspec.Struct, frozen=True):
    """An edit with its place: replace what stands between the two ends by ``content``."""

    row: int
    column: int
    end_row: int
    end_column: int
    content: str


class Diagnostic(msgspec.Struct, frozen=True):
    """A finding at its place. ``noqa_row`` is the row whose end a ``# noqa`` comment has to stand at. cell: of a notebook;
    rows are those of the cell then."""

    finding: Finding
    row: int
    column: int
    end_row: int
    end_column: int
    noqa_row: int
    edits: tuple[PlacedEdit, ...] = ()
    cell: int | None = None

    @property
    def path(self) -> str:
        return self.finding.path

    @property
    def code(self) -> str:
        return self.finding.code


class FixCount(msgspec.Struct, frozen=True):
    """``count`` findings of one rule were fixed in one file (``withdrawn``: tried, then reverted)."""

    path: str
    code: str
    name: str
    count: int
    reason: str = ""


class Change(msgspec.Struct, frozen=True):
    """The text of a file before and after the fixes, without byte-order mark."""

    path: str
    before: str
    after: str


class RunReport(msgspec.Struct, frozen=True):
    """The outcome of one run.

    texts: the decoded text of every file that has a diagnostic. rules: every known rule by code.
    messages: troubles that are no findings (a file that cannot be read …), one sentence each. notes: what a user
    should know, without anything being wrong. remarks: the same for ``-v``. missing: paths that do not exist.
    crashes: rule (or ``engine``), path and traceback of each failure inside the analysis.
    unusable: those of the messages that are about rules of installed packages.
    checked: number of files asked for. known: number of findings that a baseline hides.
    counters: what the analysis counted, for ``-v``.
    root: the directory that paths are relative to where a reader has another working directory (a repository's).
    version: ours, for formats that name their author.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    texts: dict[str, str] = {}
    rules: dict[str, RuleInfo] = {}
    fixed: tuple[FixCount, ...] = ()
    withdrawn: tuple[FixCount, ...] = ()
    changes: tuple[Change, ...] = ()
    messages: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    crashes: tuple[tuple[str, str, str], ...] = ()
    unusable: tuple[str, ...] = ()
    checked: int = 0
    known: int = 0
    counters: dict[str, int] = {}
    root: str = ""
    version: str = ""

    def rule(self, finding: Finding) -> RuleInfo:
        """What is known of a finding's rule; its name and level at least."""
        known = self.rules.get(finding.code)
        return known or RuleInfo(finding.code, finding.name, finding.level, finding.name)

    def path_in_repository(self, path: str) -> str:
        """``path`` below ``root``, with forward slashes; an absolute path elsewhere."""
        prefix = self.root.rstrip(os.sep) + os.sep
        relative = path[len(prefix) :] if self.root and path.startswith(prefix) else path
        return relative.replace(os.sep, "/")


def as_text(text: str) -> str:
    """Text that can be written: the bytes of a file name that are no text become U+FFFD."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # surrogates that stand for no byte: some encodings of source files have them
        return _SURROGATE.sub("\ufffd", text)


def data_as_text(data: Any) -> Any:
    """JSON data with all of its texts as ``as_text`` has them."""
    if isinstance(data, str):
        return as_text(data)
    if isinstance(data, dict):
        return {data_as_text(key): data_as_text(value) for key, value in data.items()}
    return [data_as_text(item) for item in data] if isinstance(data, (list, tuple)) else data


def troubles_of(report: RunReport) -> Iterator[tuple[str, str]]:
    """What was asked for and not checked, or not in full: a path or "", and a sentence."""
    yield from (("", message) for message in report.messages)
    yield from ((path, "there is no such file or directory") for path in report.missing)
    for rule, path, trace in report.crashes:
        yield path, f"{rule} failed: {trace.strip().rpartition(chr(10))[2]} ({defect_of(report, rule)})"


def defect_of(report: RunReport, failed: str) -> str:
    """Whose defect it is that a rule, a fixer or the analysis failed, and what to do."""
    package = next((one.package for one in report.rules.values() if one.package and failed.endswith(one.name)), "")
    return f"a defect of {package}; report it to its authors" if package else "a defect of jaxlint; please report it"


def line_starts(text: str) -> list[int]:
    """Offsets at which the lines of ``text`` start: lines end at LF, CR LF or CR, as in Python's tokenizer."""
    if "\r" in text:
        return [0, *(match.end() for match in _LINE_END.finditer(text))]
    # Looking for one character is a hundred times as fast: lines can be long, and have many findings each.
    starts, end = [0], text.find("\n")
    while end >= 0:
        starts.append(end + 1)
        end = text.find("\n", end + 1)
    return starts


def place(finding: Finding, positions: Positions, noqa_row: int) -> Diagnostic:
    """Turn the offsets of a finding and of its fix into rows and columns."""
    row, column = positions.row_column(finding.start)
    end_row, end_column = positions.row_column(max(finding.start, finding.end))
    edits = finding.fix.edits if finding.fix is not None else ()
    placed = tuple(
        PlacedEdit(*positions.row_column(edit.start), *positions.row_column(edit.end), edit.content) for edit in edits
    )
    return Diagnostic(finding, row, column, end_row, end_column, noqa_row, placed)
