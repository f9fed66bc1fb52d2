"""Lays out what a fix writes, in the lines that the project's formatter would give it.

Vocabulary
----------
region        the logical lines that edits touch, next to each other.
laid out      as ``syntax.layout`` breaks it. Where the author's line was not, the new one stays as the fix wrote it, unless it
              became too long; only rows that were aligned with an opening bracket move with it.
directive     a comment that is read by a program (``# noqa``); it stays at the end of its line, but for those of type
              checkers, which look for it in the first row.

A comment that makes its line too long goes above it.

Limitations: what ``syntax.layout`` does not know is not laid out. A tab counts as four columns.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._imports import in_order
from flake8_jax.fixers._logical_lines import LogicalLine, innermost_brackets, logical_lines, logical_spans
from flake8_jax.fixers._parentheses import without_parentheses
from flake8_jax.fixers._source import FixSource
from flake8_jax.syntax.edits import apply_edits
from flake8_jax.syntax.layout import lay_out

_DIRECTIVE = re.compile(r"#\s*(?:noqa|nosec|fmt:|yapf:|isort:|[\w-]+\s*[:=])", re.IGNORECASE)
_OF_FIRST_ROW = re.compile(r"#\s*(?:type|pyright|mypy|ty|pyrefly):")
"""Type checkers report a statement at its first row."""
_A_NAME = 16
"""So much longer may a line become that was too long before: a project that has it does not break such lines."""
_TAB = "    "
"""What a tab counts as."""
_DEFINITION = re.compile(r"(?:async\s+)?def\s|class\s|@")


def laid_out(source: FixSource, fix: Fix) -> Fix:
    """The fix with its new lines laid out for the project."""
    edits: list[Edit] = []
    ordered = in_order(source, without_parentheses(source, fix.edits))
    changed = ordered != fix.edits
    for region, inside in _regions(source, ordered):
        new = _laid_out_region(source, region, inside)
        changed = changed or new is not None
        edits += inside if new is None else [new]
    return msgspec.structs.replace(fix, edits=tuple(edits)) if changed else fix


def _with_comments_above(source: FixSource, start: int) -> int:
    """Where the comment lines directly above a line begin."""
    while start:
        above = source.line_start(start - 1)
        if not source.text[above:start].lstrip(" \t").startswith("#"):
            break
        start = above
    return start


def _regions(source: FixSource, edits: Iterable[Edit]) -> list[tuple[tuple[int, int], list[Edit]]]:
    """The edits by the rows that they are about."""
    spans = logical_spans(source)
    found: list[tuple[tuple[int, int], list[Edit]]] = []
    for edit in sorted(edits):
        start, end = _around(spans, edit)
        if found and start < found[-1][0][1]:
            (begin, stop), inside = found.pop()
            found.append(((begin, max(stop, end)), [*inside, edit]))
        else:
            found.append(((start, end), [edit]))
    return found


def _around(spans: Sequence[tuple[int, int]], edit: Edit) -> tuple[int, int]:
    """The rows of the logical lines that an edit touches; the edit itself where it touches none."""
    at = bisect_left(spans, edit.start, key=lambda span: span[1] - 1)
    start, end = edit.start, edit.end
    while at < len(spans):
        first, last = spans[at]
        if first > edit.start and first >= edit.end:
            break
        if first == edit.start == edit.end:
            break
        start, end = min(start, first), max(end, last)
        at += 1
    return start, end


def _laid_out_region(source: FixSource, region: tuple[int, int], edits: list[Edit]) -> Edit | None:
    """One edit for a region whose new lines have another layout; None where they stay."""
    start, end = region
    if start == source.line_start(start):
        start = _with_comments_above(source, start)
    before = source.text[start:end].replace("\r\n", "\n")
    after = apply_edits(source.text[start:end], [Edit(e.start - start, e.end - start, e.content) for e in edits])
    after = after.replace("\r\n", "\n")
    if start != source.line_start(start):
        return None
    old, new = logical_lines(before), logical_lines(after)
    texts = _Lines(source, before.split("\n"), old)
    rows = after.split("\n")
    out: list[str] = []
    done = 0
    for at, line in enumerate(new):
        out += rows[done : line.first]
        if _needs_empty_line(source, start, rows[line.first], out, texts.first):
            out.insert(_without_comments(out), "")
        out += texts.laid_out(rows[line.first : line.last], follows=len(old) == 1 and at == len(new) - 1)
        done = line.last
    out += rows[done:]
    text = "\n".join(out)
    return None if text == after else _smallest(source, Edit(start, end, text))


def _smallest(source: FixSource, edit: Edit) -> Edit:
    """The edit without the text that it leaves as it is at both ends."""
    before, content = source.text[edit.start : edit.end], edit.content.replace("\n", source.newline)
    head = 0
    while head < min(len(before), len(content)) and before[head] == content[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(content)) - head and before[-1 - tail] == content[-1 - tail]:
        tail += 1
    return Edit(edit.start + head, edit.end - tail, content[head : len(content) - tail])


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of a region before the fix."""

    source: FixSource
    rows: list[str]
    logical: list[LogicalLine]

    @property
    def first(self) -> str:
        return self._texts()[0] if self.logical else ""

    def _texts(self) -> list[str]:
        return ["\n".join(self.rows[line.first : line.last]) for line in self.logical]

    def laid_out(self, rows: list[str], *, follows: bool) -> list[str]:
        """A new logical line as rows. follows: it takes the place of the only old one; others are in front of it at most."""
        width = self.source.line_length
        text = "\n".join(rows)
        longest = max(map(_width, rows))
        is_moved = len(rows) > 1 and text in self.source.text.replace("\r\n", "\n")
        if (len(rows) == 1 and longest <= width) or is_moved or text in self._texts():
            return rows
        if follows and not self._is_laid_out(self._texts()[0]):
            rows = _aligned(self._texts()[0].split("\n"), rows)
            before = max(map(_width, self.rows))
            is_free = len(rows) > 1 and not self.source.style.is_asked
            if max(map(_width, rows)) <= (max(width, before) + _A_NAME if is_free or before > width else width):
                return rows
        if follows and len(rows) == 1 and longest <= width + _A_NAME and self.source.has_long_lines:
            return rows
        new = self._in_width(text)
        return rows if new is None else self._with_comment_above(new, text, moved=not follows)

    def _with_comment_above(self, new: str, text: str, *, moved: bool) -> list[str]:
        """The rows of a line that is laid out. Its comment goes above it if only that makes it fit into one row, and in any
        case if the fix moved the comment there."""
        comment = re.search(r"  (#[^\n]*)\Z", new)
        if comment is None or "\n" not in new:
            return new.split("\n")
        if _DIRECTIVE.match(comment[1]):
            first, *rest = new[: comment.start()].split("\n")
            to_first = _OF_FIRST_ROW.match(comment[1]) and first.endswith(("(", "[", "{"))
            return [f"{first}{comment[0]}", *rest] if to_first else new.split("\n")
        below = self._in_width(text.replace(comment[0], ""))
        if below is None or not (moved or "\n" not in below):
            return new.split("\n")
        return [text[: len(text) - len(text.lstrip())] + comment[1], *below.split("\n")]

    def _in_width(self, text: str) -> str | None:
        bare = text.lstrip()
        indent = text[: len(text) - len(bare)]
        unit = self.source.remember("continuation", self.source.module, lambda: _continuation(self.source))
        if "\t" in indent + unit:
            found = lay_out(bare, width=self.source.line_length, indent=indent.replace("\t", _TAB), unit=_TAB)
            return None if found is None else indent + re.sub(r"(?<=\n)(?:    )+", _as_tabs, found)
        found = lay_out(bare, width=self.source.line_length, indent=indent, unit=unit)
        return None if found is None else indent + found

    def _is_laid_out(self, text: str) -> bool:
        return self._in_width(text) == text


def _as_tabs(margin: re.Match[str]) -> str:
    return margin[0].replace(_TAB, "\t")


def _continuation(source: FixSource) -> str:
    """One step of indentation inside brackets: the most frequent one in the file, which may be deeper than that of blocks."""
    steps: Counter[int] = Counter()
    for start, end in logical_spans(source):
        first, _, rest = source.text[start:end].partition("\n")
        if rest and first.rstrip().endswith(("(", "[", "{")):
            steps[_indentation(rest.partition("\n")[0]) - _indentation(first)] += 1
    step = next((found for found, _ in steps.most_common() if found > 0), 0)
    return " " * step if step else source.indent_unit


def _aligned(before: list[str], after: list[str]) -> list[str]:
    """The new rows, with those that began under an opening bracket under that bracket again."""
    if len(before) != len(after):
        return after
    old, new = innermost_brackets(before), innermost_brackets(after)
    if len(old) != len(new) or [at and at[0] for at in old] != [at and at[0] for at in new]:
        return after
    shifts = [0] * len(after)
    for row, (was, now) in enumerate(zip(old, new)):
        if was is not None and now is not None and _indentation(before[row]) == was[1] + 1:
            shifts[row] = now[1] + shifts[now[0]] + 1 - _indentation(after[row])
    return [_shifted(row, shift) for row, shift in zip(after, shifts)]


def _shifted(row: str, columns: int) -> str:
    return " " * columns + row if columns >= 0 else row[-columns:]


def _indentation(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


def _width(row: str) -> int:
    """The columns of a row, without a directive after it."""
    code = re.sub(
        r"\s+#\s*(?:noqa\b|type:|pyright:|pylint:|pyrefly:|ty:|flake8:|ruff:).*", "", row, flags=re.IGNORECASE
    )
    return len(code.replace("\t", _TAB))


def _needs_empty_line(source: FixSource, start: int, row: str, above: list[str], was: str) -> bool:
    """Whether a fix puts a definition, of which ``row`` is the first, directly behind a line that was not followed by one.

    start: of the region. above: the rows of the region in front. was: the first old line of the region.
    """
    indent = row[: len(row) - len(row.lstrip())]
    if not indent or not _DEFINITION.match(row.lstrip()) or _DEFINITION.match(was.lstrip()):
        return False
    rest = _without_comments(above)
    previous = above[rest - 1] if rest else _line_above(source, start)
    code = previous.strip()
    return bool(code) and not code.startswith(("#", "@")) and not _opens_block(previous, indent)


def _without_comments(rows: list[str]) -> int:
    """How many rows there are without the comments at their end."""
    end = len(rows)
    while end and rows[end - 1].lstrip().startswith("#"):
        end -= 1
    return end


def _line_above(source: FixSource, start: int) -> str:
    return source.text[source.line_start(start - 1) : start].rstrip("\r\n") if start else ""


def _opens_block(row: str, indent: str) -> bool:
    """Whether the row ends the header of the block that is indented so."""
    code = row.partition("  #")[0].rstrip()
    return code.endswith(":") and len(row) - len(row.lstrip()) < len(indent)
