"""``full``, the default: the line with carets under it, the chain of calls that leads there, the fix as a diff."""

from __future__ import annotations

import difflib
import itertools
import unicodedata
from collections.abc import Iterator

from flake8_jax.core.cells import SUFFIX, cells_of, with_magics
from flake8_jax.core.findings import Edit, Verdict
from flake8_jax.core.report import Diagnostic, RunReport, line_starts
from flake8_jax.reporters._view import View, one_line
from flake8_jax.reporters.concise import head

_CONTEXT_ROWS = 2
_LONGEST_DIFF = 40
_LONGEST_LINE = 400
"""Characters of a source line that are shown."""


def _lines(text: str) -> list[str]:
    starts = line_starts(text)
    if starts[-1] != len(text):
        starts.append(len(text))
    return [text[start:end].rstrip("\r\n") for start, end in itertools.pairwise(starts)]


def _width(text: str) -> int:
    """Columns on a terminal, tabs shown as four blanks."""
    wide = sum(4 if c == "\t" else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
    return wide - sum(1 for c in text if unicodedata.combining(c))


def _shown(line: str) -> str:
    """A source line for a terminal: no tabs, and no control characters that would act on it."""
    return "".join(c if c.isprintable() else "�" for c in line.replace("\t", "    ").replace("\f", ""))


def _cut(line: str) -> str:
    """As much of a line as anyone reads."""
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"


def _around(line: str, start: int, end: int) -> tuple[str, str, str]:
    """What stands before a place in a line, at it and behind it; of a very long line, what is near to it."""
    if len(line) <= _LONGEST_LINE:
        return line[:start], line[start:end], line[end:]
    first, last = max(0, start - _LONGEST_LINE // 2), min(len(line), start + _LONGEST_LINE // 2)
    end = min(end, last)
    return (
        ("…" if first else "") + line[first:start],
        line[start:end],
        line[end:last] + ("…" if last < len(line) else ""),
    )


def _snippet(item: Diagnostic, lines: list[str], view: View) -> list[str]:
    if item.row > len(lines):
        return []
    gutter = len(str(min(item.row + _CONTEXT_ROWS, len(lines))))

    def row(number: str, content: str) -> str:
        return f"{view.styled(f'{number:>{gutter}} |', 'gutter')} {content}".rstrip()

    out = [row("", "")]
    for number in range(max(1, item.row - _CONTEXT_ROWS), min(len(lines), item.row + _CONTEXT_ROWS) + 1):
        line = lines[number - 1]
        if number != item.row:
            out.append(row(str(number), _shown(_cut(line))))
        else:
            end = item.end_column if item.end_row == item.row else len(line) + 1
            before, marked, after = _around(line, item.column - 1, max(end, item.column) - 1)
            out.append(row(str(number), _shown(before + marked + after)))
            carets = "^" * max(1, _width(marked.rstrip()))
            blanks = " " * _width(before.replace("\f", ""))
            out.append(row("", f"{blanks}{view.styled(f'{carets} {item.code}', item.finding.level)}"))
    out.append(row("", ""))
    return out


def _chain(item: Diagnostic, view: View) -> list[str]:
    return [
        f"  {view.styled('=', 'gutter')} {view.shown(step.path)}:{step.row}: {one_line(step.text)}"
        for step in item.finding.evidence
    ]


def _verdict(verdict: Verdict | None, view: View) -> list[str]:
    if verdict is None:
        return []
    where = f" [{verdict.target}]" if verdict.target else ""
    return [f"  {view.styled(f'{verdict.verdict}{where}:', 'note')} {_shown(verdict.reason)}"]


def _edited(text: str, edits: tuple[Edit, ...]) -> str:
    parts: list[str] = []
    position = 0
    for edit in sorted(edits):
        parts += [text[position : edit.start], edit.content]
        position = max(position, edit.end)
    return "".join((*parts, text[position:]))


def _fix(item: Diagnostic, text: str, view: View) -> list[str]:
    fix = item.finding.fix
    if fix is None:
        return []
    kind = "fix" if fix.applicability == "safe" else "unsafe fix"
    out = [f"  {view.styled(f'{kind}:', 'note')} {one_line(fix.message)}"]
    for line in itertools.islice(_changed_lines(text, fix.edits), _LONGEST_DIFF):
        if line.startswith("@@"):
            continue
        style = "removed" if line.startswith("-") else "added"
        out.append(f"    {view.styled(f'{line[0]} {_shown(_cut(line[1:]))}', style)}")
    return out


def _changed_lines(text: str, edits: tuple[Edit, ...]) -> Iterator[str]:
    """The hunks of a diff. Only the lines that edits touch are compared: a file may be long, and have many findings."""
    for together in _touching(text, sorted(edits)):
        start = text.rfind("\n", 0, together[0].start) + 1
        end = text.find("\n", max(edit.end for edit in together))
        part = text[start : end + 1 if end >= 0 else len(text)]
        moved = tuple([Edit(edit.start - start, edit.end - start, edit.content) for edit in together])
        yield from itertools.islice(
            difflib.unified_diff(_lines(part), _lines(_edited(part, moved)), n=0, lineterm=""), 2, None
        )


def _touching(text: str, edits: list[Edit]) -> Iterator[list[Edit]]:
    """The edits in groups that have no line in common."""
    group: list[Edit] = []
    for edit in edits:
        if group and "\n" in text[max(e.end for e in group) : edit.start]:
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _block(item: Diagnostic, text: str, lines: list[str], view: View) -> str:
    parts = [head(item, view), *_snippet(item, lines, view), *_chain(item, view),
             *_verdict(item.finding.verdict, view), *_fix(item, text, view),
             *_verdict(item.finding.fix_verdict, view)]  # fmt: skip
    return "\n".join(parts) + "\n"


def render(report: RunReport, view: View) -> str:
    by_place: dict[tuple[str, int | None], list[str]] = {}
    for path, text in report.texts.items():
        by_place[path, None] = _lines(text)
        by_place.update(
            {(path, cell): _lines(with_magics(source)) for cell, source in cells_of(text) if path.endswith(SUFFIX)}
        )
    blocks = [
        _block(item, report.texts.get(item.path, ""), by_place.get((item.path, item.cell), []), view)
        for item in report.diagnostics
    ]
    return "\n".join(blocks)
