"""The text of a notebook and the cells in it.

Vocabulary
----------
text    the code cells one after the other, each under a heading with its number (see ``notebooks``).
number  of a cell: its place among all cells of the notebook, markdown too, from 1.
raising a cell whose saved output is an exception, or that has the tag for it: its reader is shown what goes wrong.
broken  a cell that is no Python. In the text it is comments, from which it comes back as it was; its heading says why.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

import msgspec

from flake8_jax.core.findings import Finding, Positions, Step
from flake8_jax.core.report import Diagnostic, PlacedEdit, RunReport, line_starts

SUFFIX = ".ipynb"
HEADING = "# %% [jaxlint: cell {}]"
RAISING = "# %% [jaxlint: cell {}, raises]"
BROKEN = "# %% [jaxlint: cell {}, {}:{} {}]"
MAGIC = "# [jaxlint: magic] "
"""The text after it is a magic: a line for IPython, replaced by something harmless."""
TIMING = frozenset({"_timeit", "_time"})
"""Such a variable gets what ``%timeit`` or ``%time`` measures, on the line of the magic."""
_HEADINGS = re.compile(r"^# %% \[jaxlint: cell (\d+)(, raises)?(?:, (\d+):(\d+) (.*))?\]$", re.MULTILINE)
_CELLS = re.compile(r"^# ?%%", re.MULTILINE)
_MAGICS = re.compile(r"(?:pass  |get_ipython\(\)  |_time(?:it)? *=.*?  |)" + re.escape(MAGIC))
_LINE = re.compile(r"\bline (\d+)\b")
_LINES = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_FORM_FEEDS = re.compile(r"^\f+", re.MULTILINE)


def cells_of(text: str) -> Iterator[tuple[int, str]]:
    """The cells: number, and the part of the text without the heading."""
    headings = list(_HEADINGS.finditer(text))
    for heading, following in zip(headings, [*headings[1:], None]):
        yield int(heading[1]), text[heading.end() + 1 : following.start() if following else len(text)]


def code_cells(text: str) -> Iterator[tuple[int, str, bool]]:
    """Of each cell the row of the text at which it begins, its part of the text, and whether it raises."""
    headings = list(_HEADINGS.finditer(text))
    for heading, (_, part) in zip(headings, cells_of(text)):
        yield text.count("\n", 0, heading.end()) + 2, part, heading[2] is not None


def cell_starts(text: str) -> list[int]:
    """Where the heading of each cell begins, of a notebook that is written as a script too (``# %%``)."""
    return [heading.start() for heading in _CELLS.finditer(text)]


def is_raising(text: str, start: int) -> bool:
    """Whether the heading at the offset is that of a raising cell."""
    heading = _HEADINGS.match(text, start)
    return heading is not None and heading[2] is not None


def broken_cell(text: str) -> tuple[int, int, str] | None:
    """Of the broken cells the first one that holds more than a word, if there is one (``broken_cells``)."""
    return min(broken_cells(text), key=lambda found: is_one_word(text, found[0]), default=None)


def broken_cells(text: str) -> Iterator[tuple[int, int, str]]:
    """Row and column of the text, and what is wrong there, for each broken cell. Lines that this names are the text's, too."""
    for heading in _HEADINGS.finditer(text):
        if heading[5] is not None:
            top = text.count("\n", 0, heading.start()) + 1
            problem = _LINE.sub(lambda found, top=top: f"line {top + int(found[1])}", heading[5])
            yield top + int(heading[3]), int(heading[4]), problem


def is_one_word(text: str, row: int) -> bool:
    """The cell around a row of the text holds a single word."""
    found = [heading for heading in _HEADINGS.finditer(text) if text.count("\n", 0, heading.start()) < row]
    part = text[found[-1].end() :] if found else ""
    following = _HEADINGS.search(part)
    source = with_magics(part[: following.start() if following else len(part)])
    return source.strip().isidentifier()


def is_mark(line: str) -> bool:
    """A line as only this module and ``notebooks`` write it."""
    return MAGIC in line or _HEADINGS.fullmatch(line) is not None


def lines_of(text: str) -> list[str]:
    """The lines of a text, with their ends; a form feed ends none."""
    return _LINES.findall(text)


def with_magics(text: str) -> str:
    """A part of the text as it stands in the notebook."""
    return "".join(_MAGICS.sub("", line, count=1) if MAGIC in line else line for line in lines_of(text))


def as_shown(part: str) -> str:
    """A cell as it stands in the notebook, with its magics and its indentation (``notebooks``)."""
    return with_magics(_FORM_FEEDS.sub(lambda found: " " * len(found[0]), part))


def as_written(part: str) -> str:
    """A cell with its indentation, or without any if a fix wrote a line that has none."""
    if all(line.startswith("\f") for line in lines_of(part) if line.strip()):
        return _FORM_FEEDS.sub(lambda found: " " * len(found[0]), part)
    return _FORM_FEEDS.sub("", part)


class Rows:
    """Rows of a text as rows of its cells."""

    def __init__(self, text: str) -> None:
        positions = Positions(line_starts(text))
        found = [(positions.row(heading.start()), int(heading[1])) for heading in _HEADINGS.finditer(text)]
        self._first = [row for row, _ in found]
        self._numbers = [number for _, number in found]

    def place(self, row: int) -> tuple[int, int]:
        """Number of the cell, and row in it from 1; a heading is row 1 of its cell."""
        index = max(bisect_right(self._first, row) - 1, 0)
        return (self._numbers[index], max(row - self._first[index], 1)) if self._numbers else (1, row)

    def row(self, cell: int, row: int) -> int:
        """The row of the text that is this row of that cell."""
        return self._first[self._numbers.index(cell)] + row if cell in self._numbers else row


def in_cell(item: Diagnostic, rows: Rows) -> Diagnostic:
    """A diagnostic of a notebook's text with the rows of its cell. It has no edits where they are not all in that cell."""
    cell, row = rows.place(item.row)
    shift = item.row - row
    edits = [(rows.place(edit.row), rows.place(edit.end_row), edit) for edit in item.edits]
    alone = all(start[0] == end[0] == cell for start, end, _ in edits)
    return msgspec.structs.replace(
        item,
        finding=_finding(item.finding, rows),
        cell=cell,
        row=row,
        end_row=item.end_row - shift,
        noqa_row=item.noqa_row - shift,
        edits=tuple(
            PlacedEdit(start[1], edit.column, end[1], edit.end_column, edit.content)
            for start, end, edit in edits
            if alone
        ),
    )


def in_words(text: str, rows: Rows) -> str:
    """A sentence with the lines of a notebook's text that it names as lines of cells."""

    def named(found: re.Match[str]) -> str:
        cell, row = rows.place(int(found[1]))
        return f"line {row} of cell {cell}"

    return _LINE.sub(named, text)


def _finding(finding: Finding, rows: Rows) -> Finding:
    """With the places in its words."""
    steps = tuple(_step(step, rows) if step.path == finding.path else step for step in finding.evidence)
    return msgspec.structs.replace(finding, message=in_words(finding.message, rows), evidence=steps)


def evidence_in_cells(item: Diagnostic, rows_of: Callable[[str], Rows | None]) -> Diagnostic:
    """A diagnostic whose evidence passes other notebooks, with the rows of their cells there and in the message."""
    steps = []
    message = item.finding.message
    for step in item.finding.evidence:
        rows = rows_of(step.path) if step.path != item.path and step.path.endswith(SUFFIX) else None
        steps.append(step if rows is None else _step(step, rows))
        message = message if rows is None else _named_in_cell(message, posixpath.basename(step.path), rows)
    if steps == list(item.finding.evidence):
        return item
    finding = msgspec.structs.replace(item.finding, message=message, evidence=tuple(steps))
    return msgspec.structs.replace(item, finding=finding)


def _named_in_cell(message: str, notebook: str, rows: Rows) -> str:
    """``run.ipynb:74`` as ``run.ipynb, line 14 of cell 3``."""

    def named(found: re.Match[str]) -> str:
        cell, row = rows.place(int(found[1]))
        return f"{notebook}, line {row} of cell {cell}"

    return re.sub(rf"(?<![\w./]){re.escape(notebook)}:(\d+)\b", named, message)


def _step(step: Step, rows: Rows) -> Step:
    cell, row = rows.place(step.row)
    return msgspec.structs.replace(step, row=row, text=f"cell {cell}: {step.text}")


def without_cells(report: RunReport) -> RunReport:
    """For formats that know files and their lines alone: what is in a notebook is at its beginning, and says its cell."""
    return msgspec.structs.replace(report, diagnostics=tuple(_of_file(item) for item in report.diagnostics))


def _of_file(item: Diagnostic) -> Diagnostic:
    steps = tuple(_of_notebook(step) if step.path.endswith(SUFFIX) else step for step in item.finding.evidence)
    finding = msgspec.structs.replace(item.finding, evidence=steps)
    if item.cell is None:
        return msgspec.structs.replace(item, finding=finding)
    message = f"cell {item.cell}, line {item.row}: {finding.message}"
    return Diagnostic(msgspec.structs.replace(finding, message=message, fix=None), 1, 1, 1, 1, 1)


def _of_notebook(step: Step) -> Step:
    """A step that says its cell already."""
    return msgspec.structs.replace(step, row=1, text=f"line {step.row} of {step.text}")
