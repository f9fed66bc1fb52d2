"""What to show of a text that only a focused analysis has seen.

Vocabulary
----------
then   the last text that was analyzed whole. now: the present one.

A focused analysis misses what only entries elsewhere show, so by itself it would make findings flicker. What it says of
the two texts differs by what the user typed; that difference is applied to the last whole answer. Findings are the same
if they have the same code at the same place; a place inside what was typed over is no place any more.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

import msgspec

from flake8_jax.core.findings import Edit, Finding, Fix, Step
from flake8_jax.core.report import line_starts

_LONG = 20_000
"""Characters from which an analysis of a text may take so long that it pays to give it up."""

_MOST_LINES = 20_000
"""Texts beyond this are replaced in one piece: finding the lines that differ would take longer than anything else."""


def difference(then: str, now: str) -> Edit:
    """The one edit that makes the second text of the first: everything between what they begin and end with."""
    shorter = min(len(then), len(now))
    start = _equal_length(then[:shorter], now[:shorter])
    rest = shorter - start
    end = _equal_length(then[len(then) - rest :][::-1], now[len(now) - rest :][::-1])
    return Edit(start, len(then) - end, now[start : len(now) - end])


def line_edits(before: str, after: str) -> list[Edit]:
    """Edits that make the second text of the first, and leave alone what is the same in both."""
    old, new = line_starts(before), line_starts(after)
    if len(old) > _MOST_LINES:
        return [difference(before, after)] if before != after else []
    old_lines, new_lines = _lines(before, old), _lines(after, new)
    edits: list[Edit] = []
    matcher = difflib.SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag != "equal":
            start = sum(map(len, old_lines[:first]))
            small = difference("".join(old_lines[first:last]), "".join(new_lines[new_first:new_last]))
            edits.append(Edit(start + small.start, start + small.end, small.content))
    return edits


def _lines(text: str, starts: Sequence[int]) -> list[str]:
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)])]


def replaced(then: str, now: str) -> bool:
    """Whether most of a long text is gone: nothing that is known of it helps with the other one."""
    if len(then) < _LONG:
        return False
    edit = difference(then, now)
    return edit.end - edit.start > len(then) // 2


def _equal_length(one: str, other: str) -> int:
    """How many characters two texts of the same length have in common from their start."""
    low, high = 0, len(one)
    while low < high:  # comparing slices is quick, comparing characters one by one is not
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _moved(offset: int, edit: Edit) -> int | None:
    """Where an offset is after an edit; None where its character was typed over."""
    if offset < edit.start:
        return offset
    if offset >= edit.end:
        return offset + len(edit.content) - (edit.end - edit.start)
    return None


def rows_added(then: str, edit: Edit) -> int:
    """How many more lines a text has after an edit."""
    return len(line_starts(edit.content)) - len(line_starts(then[edit.start : edit.end]))


def moved_finding(finding: Finding, edit: Edit, rows: int) -> Finding | None:
    """A finding after an edit somewhere in its file, which added so many ``rows``.

    Its fix goes where the edit touches it. Lines that the message names move if they are among the steps of the evidence.
    """
    start = _moved(finding.start, edit)
    if start is None:
        return None
    end = _moved(max(finding.end - 1, finding.start), edit)
    fix = finding.fix
    if fix is not None:
        places = [(_moved(part.start, edit), _moved(max(part.end - 1, part.start), edit)) for part in fix.edits]
        parts = [
            Edit(first, first + part.end - part.start, part.content)
            for part, (first, last) in zip(fix.edits, places)
            if first is not None and last == first + max(part.end - 1 - part.start, 0)
        ]
        fix = Fix(fix.message, fix.applicability, tuple(parts)) if len(parts) == len(fix.edits) else None
    evidence = tuple(_moved_step(step, edit, rows) if step.path == finding.path else step for step in finding.evidence)
    end = start if end is None else end + 1
    others = tuple([moved for other in finding.others if (moved := _moved(other, edit)) is not None])
    own = [steps for steps in zip(finding.evidence, evidence) if steps[0].path == finding.path]
    message = _renumbered(finding.message, own)
    return msgspec.structs.replace(
        finding, start=start, end=end, message=message, fix=fix, evidence=evidence, others=others
    )


_LINE = re.compile(r"\bline ([0-9]+)\b")


def _renumbered(message: str, steps: Iterable[tuple[Step, Step]]) -> str:
    """A message with the lines of steps as they are now."""
    rows = {then.row: now.row for then, now in steps}
    return _LINE.sub(lambda found: f"line {rows.get(int(found[1]), found[1])}", message)


def _moved_step(step: Step, edit: Edit, rows: int) -> Step:
    start = _moved(step.start, edit)
    if start is None or step.start < edit.start:
        return step
    return msgspec.structs.replace(step, start=start, row=step.row + rows)


def _keys(findings: Iterable[Finding]) -> set[tuple[str, int]]:
    return {(finding.code, finding.start) for finding in findings}


def merged(
    edit: Edit,
    rows: int,
    whole_then: Sequence[Finding],
    focused_then: Sequence[Finding],
    focused_now: Sequence[Finding],
) -> list[Finding]:
    """The findings to show: the last whole answer, changed by what the focused answers say of the edit."""
    before = [moved for finding in focused_then if (moved := moved_finding(finding, edit, rows)) is not None]
    carried = [moved for finding in whole_then if (moved := moved_finding(finding, edit, rows)) is not None]
    seen_before, seen_now, known = _keys(before), _keys(focused_now), _keys(carried)
    gone = seen_before - seen_now
    doubted = seen_before - known
    shown = [finding for finding in focused_now if (finding.code, finding.start) not in doubted]
    fresh = _keys(shown)
    shown += [finding for finding in carried if (finding.code, finding.start) not in gone | fresh]
    return sorted(shown, key=lambda finding: (finding.start, finding.code))
