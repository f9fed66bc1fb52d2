"""What ``jaxlint check`` prints besides the findings: summary, statistics, diffs, troubles.

Findings and summaries go to standard output, troubles to standard error.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator

import msgspec

from flake8_jax.core.cells import SUFFIX, as_shown, with_magics
from flake8_jax.core.printable import one_line, shown_lines
from flake8_jax.core.report import Change, RunReport, defect_of, troubles_of
from flake8_jax.reporters import View

READERS_FORMATS = frozenset({"full", "concise", "grouped"})
"""Formats that people read: only under these does a summary follow."""


def _counted(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def summary(report: RunReport, view: View) -> str:
    """The closing lines: how much was found, fixed, and could be."""
    left = len(report.diagnostics)
    fixed = sum(item.count for item in report.fixed)
    hidden_by_baseline = f"{hidden_note(report)}\n" if report.known else ""
    if left == 0 and fixed == 0:
        if any(troubles_of(report)):
            return f"Found no problems, but some files or rules were not checked.\n{hidden_by_baseline}"
        return f"All checks passed!\n{hidden_by_baseline}" if report.checked else "Found no files to check.\n"
    if fixed:
        lines = [f"Found {_counted(left + fixed, 'problem')} ({fixed} fixed, {left} remaining)."]
    else:
        lines = [f"Found {_counted(left, 'problem')}."]
    usable = sum(view.would_fix(item.finding) for item in report.diagnostics)
    hidden = sum(item.finding.fix is not None for item in report.diagnostics) - usable
    if usable:
        more = f" ({hidden} more with `--unsafe-fixes`)" if hidden else ""
        lines.append(f"[*] {usable} fixable with the `--fix` option{more}.")
    elif hidden:
        lines.append(f"{_counted(hidden, 'fix', 'fixes')} with `--unsafe-fixes`: they may change values or effects.")
    return "\n".join(lines) + "\n" + hidden_by_baseline


def hidden_note(report: RunReport) -> str:
    """How many findings a baseline hides."""
    return f"{_counted(report.known, 'problem')} in the baseline not shown."


def statistics(report: RunReport, output_format: str, view: View) -> str:
    """How many findings each rule has, the most frequent first."""
    counts = Counter((item.code, item.finding.name) for item in report.diagnostics)
    fixable = Counter(item.code for item in report.diagnostics if view.would_fix(item.finding))
    rows = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    if output_format == "json":
        data = [
            {"code": code, "name": name, "count": count, "fixable": fixable[code] > 0} for (code, name), count in rows
        ]
        return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"
    width = max((len(str(count)) for _, count in rows), default=1)
    return "".join(
        f"{count:>{width}}  {code}  {'[*]' if fixable[code] else '   '} {name}\n" for (code, name), count in rows
    )


def fixes_shown(report: RunReport, view: View) -> str:
    """What was fixed, file by file."""
    lines: list[str] = []
    for path in dict.fromkeys(item.path for item in report.fixed):
        lines.append(f"{view.styled(view.shown(path), 'path')}:")
        lines += [f"    {item.count} × {item.code} ({item.name})" for item in report.fixed if item.path == path]
    if lines:
        total = sum(item.count for item in report.fixed)
        lines.insert(0, f"Fixed {_counted(total, 'problem')}:")
    return "".join(f"{line}\n" for line in lines)


def withdrawn_shown(report: RunReport, view: View) -> Iterator[str]:
    for item in report.withdrawn:
        times = f" ({item.count} times)" if item.count > 1 else ""
        yield f"{view.shown(item.path)}: the fix for {item.code} ({item.name}) was reverted{times}: {one_line(item.reason)}"


def unified_diff(change: Change, view: View) -> str:
    """A change as a patch; newlines are those of the file, as ``patch`` needs them."""
    name = view.relative(change.path)
    out: list[str] = []
    shown = as_shown if change.path.endswith(SUFFIX) else with_magics
    before, after = (_patch_lines(shown(text)) for text in (change.before, change.after))
    for line in difflib.unified_diff(before, after, _quoted(f"a/{name}"), _quoted(f"b/{name}")):
        out.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(out)


def _quoted(name: str) -> str:
    """A file name in the head of a patch; one that would end the line or act on a terminal, as git quotes it."""
    if one_line(name) == name and '"' not in name and "\\" not in name:
        return name
    letters = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(letters.get(c) or (c if c.isprintable() and c.isascii() else _octal(c)) for c in name) + '"'


def _octal(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))


def _patch_lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def troubles(report: RunReport, view: View, verbose: bool) -> Iterator[str]:
    """What went wrong around the findings, a line each."""
    remarks = report.remarks if verbose else ()
    yield from (f"jaxlint: {one_line(message)}" for message in (*report.messages, *report.notes, *remarks))
    yield from (f"jaxlint: {view.shown(path)}: there is no such file or directory" for path in report.missing)
    for rule, path, trace in report.crashes:
        last = one_line(trace.strip().rpartition("\n")[2])
        yield f"jaxlint: {one_line(rule)} failed on {view.shown(path)}: {last} ({defect_of(report, rule)})"
        if verbose:
            yield shown_lines(trace.rstrip())


def counters(report: RunReport) -> str:
    return "".join(f"  {name}: {count}\n" for name, count in sorted(report.counters.items()))
