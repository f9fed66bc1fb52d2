"""``full``, the default: the line with carets under it, the chain of calls that leads there, the fix as a diff."""

from __future__ import annotations

import difflib
import itertools
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from flake8_jax.core.cells import SUFFIX, as_shown, cells_of, with_magics
from flake8_jax.core.findings import Edit, Fix, Verdict
from flake8_jax.core.printable import one_line
from flake8_jax.core.report import Diagnostic, RunReport, line_starts
from flake8_jax.reporters._view import View
from flake8_jax.reporters.concise import head

_CONTEXT_ROWS = 2
_LONGEST_DIFF = 40
_UNCHANGED = 3
"""So many unchanged lines between two changed ones are shown."""
_LONGEST_LINE = 400
"""Characters of a source line that are shown."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


@dataclass(frozen=True)
class _Source:
    """The text of a file, and the offsets at which its lines start."""

    text: str
    starts: list[int]


_NO_SOURCE = _Source("", [0])


def _lines(text: str) -> list[str]:
    starts = line_starts(text)
    if starts[-1] != len(text):
        starts.append(len(text))
    return [text[start:end].rstrip("\r\n") for start, end in itertools.pairwise(starts)]


def _width(text: str) -> int:
    """Columns on a terminal, tabs shown as four blanks."""
    special = _NOT_ASCII.findall(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in special)
    return len(text) + 3 * text.count("\t") + wide - sum(unicodedata.combining(c) > 0 for c in special)


def _shown(line: str) -> str:
    """A source line for a terminal: no tabs, and nothing that would act on it or on a CI service."""
    plain = line.replace("\t", "    ").replace("\f", "")
    return one_line(plain if plain.isprintable() else "".join(c if c.isprintable() else "�" for c in plain))


def _cut(line: str) -> str:
    """As much of a line as anyone reads."""
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"


def _around(line: str, start: int, end: int) -> tuple[str, str, str]:
    """What stands before a place in a line, at it and after it; of a very long line, what is near to it."""
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
    where = f" [{one_line(verdict.target)}]" if verdict.target else ""
    return [f"  {view.styled(f'{verdict.verdict}{where}:', 'note')} {_shown(verdict.reason)}"]


def _edited(text: str, start: int, end: int, edits: list[Edit]) -> str:
    """A part of the text with the edits made that lie in it."""
    parts: list[str] = []
    position = start
    for edit in edits:
        parts += [text[position : edit.start], edit.content]
        position = max(position, edit.end)
    return "".join((*parts, text[position:end]))


def _changed_parts(source: _Source, edits: tuple[Edit, ...]) -> Iterator[tuple[str, str]]:
    """The lines that edits touch, before and after: what is far apart is compared by itself, whatever lies between. Of a
    very long line, what is near to the edits."""
    text, starts = source.text, source.starts
    groups: list[tuple[int, int, list[Edit]]] = []  # first row, last row, edits
    for edit in sorted(edits):
        first, last = bisect_right(starts, edit.start) - 1, bisect_right(starts, edit.end) - 1
        if groups and first <= groups[-1][1] + 1 + _UNCHANGED:
            groups[-1] = (groups[-1][0], max(last, groups[-1][1]), [*groups[-1][2], edit])
        else:
            groups.append((first, last, [edit]))
    for first, last, within in groups:
        start, end = starts[first], starts[last + 1] if last + 1 < len(starts) else len(text)
        if first == last and end - start > _LONGEST_LINE:
            begin = max(start, within[0].start - _LONGEST_LINE // 2)
            stop = min(end, max(within[-1].end, begin) + _LONGEST_LINE + 1)
            mark = "…" if begin > start else ""
            yield mark + text[begin:stop], mark + _edited(text, begin, stop, within)
        else:
            yield text[start:end], _edited(text, start, end, within)


def _fix(fix: Fix, source: _Source, view: View) -> list[str]:
    kind = "fix" if fix.applicability == "safe" else "unsafe fix"
    out = [f"  {view.styled(f'{kind}:', 'note')} {one_line(fix.message)}"]
    diff: list[str] = []
    for before, after in _changed_parts(source, fix.edits):
        diff += _hunks(_lines(before), _lines(after))
    for line in diff[:_LONGEST_DIFF]:
        text = f"{line[0]} {_shown(_cut(line[1:]))}".rstrip()
        style = {"-": "removed", "+": "added"}.get(line[0])
        out.append(f"    {view.styled(text, style) if style else text}" if text else "")
    return out


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    """The lines that differ, with those between them: ``…`` where that are many."""
    between: list[str] = []
    is_hidden = True  # what stands before the first line that differs
    for line in itertools.islice(difflib.unified_diff(before, after, n=_UNCHANGED, lineterm=""), 2, None):
        if line.startswith("@@"):
            between, is_hidden = between and [" …"], True
        elif not line.startswith(" "):
            yield from between
            yield line
            between, is_hidden = [], False
        elif not is_hidden:
            between.append(line)


def _block(item: Diagnostic, fix: list[str], lines: list[str], view: View, report: RunReport) -> str:
    parts = [head(item, view, report, item.finding.name), *_snippet(item, lines, view), *_chain(item, view),
             *_verdict(item.finding.verdict, view), *fix,
             *_verdict(item.finding.fix_verdict, view)]  # fmt: skip
    return "\n".join(parts) + "\n"


def render(report: RunReport, view: View) -> str:
    by_place: dict[tuple[str, int | None], list[str]] = {}
    sources: dict[str, _Source] = {}
    for path, text in report.texts.items():
        sources[path] = _Source(text, line_starts(text))
        by_place[path, None] = _lines(with_magics(text))
        by_place.update(
            {(path, cell): _lines(as_shown(source)) for cell, source in cells_of(text) if path.endswith(SUFFIX)}
        )
    fixes: dict[int, list[str]] = {id(None): []}  # by identity: many findings may share one
    blocks: list[str] = []
    for item in report.diagnostics:
        fix = item.finding.fix
        if fix is not None and id(fix) not in fixes:
            fixes[id(fix)] = _fix(fix, sources.get(item.path, _NO_SOURCE), view)
        blocks.append(_block(item, fixes[id(fix)], by_place.get((item.path, item.cell), []), view, report))
    return "\n".join(blocks)
