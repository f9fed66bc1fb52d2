"""Findings that a project lives with, kept in a file, so that only new ones are reported.

An entry is a file, a rule, the source text that the finding underlines, and how often that occurs: neither the row nor the
layout counts, so entries survive what is written above them, another indentation or line length, and, if the file is gone
under its old name, a new name of it. Changing the text itself makes a new finding of it.

The file is JSON with a ``version``, sorted, with one entry a line, so that its changes can be reviewed. Paths are relative to
its own folder. Invalid syntax is never in it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec

from flake8_jax.core.reading import read_regular
from flake8_jax.core.report import Diagnostic, RunReport, as_text
from flake8_jax.pipeline.cache import write_atomically
from flake8_jax.settings.resolver import parents
from flake8_jax.settings.selection import ALWAYS_ON

VERSION = 1
_SHOWN = 120
_LARGEST = 100_000_000
_REMEDY = "remove it and write it again with `--write-baseline`"

Judged = Callable[[str, str], bool]
"""Whether a run has said something of a rule (by code) in a file (by real path)."""
Key = tuple[str, str, str]
"""Path, code, text."""


class BaselineError(Exception):
    """The file cannot be read, or is no baseline; the message names it and says what to do."""


class Entry(msgspec.Struct, frozen=True, order=True):
    """``count`` findings of a rule on equal text in one file."""

    path: str
    code: str
    text: str
    count: int = 1


class _File(msgspec.Struct, frozen=True):
    version: int
    findings: list[Entry]


def load(path: str) -> Counter[Key]:
    """The entries by key, with absolute paths. Raises BaselineError."""
    try:
        found = msgspec.json.decode(read_regular(path, _LARGEST), type=_File)
    except OSError as error:
        remedy = "; make one with `--write-baseline`" if isinstance(error, FileNotFoundError) else ""
        raise BaselineError(f"{path}: {error.strerror}{remedy}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BaselineError(f"{path}: this is no baseline ({error}); {_REMEDY}") from error
    if found.version != VERSION:
        raise BaselineError(f"{path}: this baseline has version {found.version}, known is {VERSION}; {_REMEDY}")
    folder = os.path.dirname(os.path.realpath(path))
    counts: Counter[Key] = Counter()
    for entry in found.findings:
        counts[os.path.realpath(os.path.join(folder, entry.path)), entry.code, entry.text] += entry.count
    return counts


def without_known(report: RunReport, known: Counter[Key], path: str, judged: Judged) -> RunReport:
    """The report without the findings of the baseline at ``path``; a note says how many of its entries are gone."""
    judged = _of_what_parses(report, judged)
    left = Counter(known)
    others = [item for item in report.diagnostics if item.code in ALWAYS_ON or not _taken(left, key_of(item, report))]
    moved = Counter[tuple[str, str]]()
    for (file, code, text), count in left.items():
        if not os.path.exists(file):
            moved[code, text] += count
    new = [item for item in others if item.code in ALWAYS_ON or not _taken(moved, key_of(item, report)[1:])]
    here = sum(count for key, count in left.items() if os.path.exists(key[0]) and judged(key[0], key[1]))
    gone = here + sum(moved.values())
    notes = report.notes
    if gone:
        plural = ("are", "them") if gone > 1 else ("is", "it")
        remedy = f"run `--write-baseline` again to remove {plural[1]}"
        notes = (*notes, f"{path}: {gone} of its findings {plural[0]} gone; {remedy}")
    hidden = report.known + len(report.diagnostics) - len(new)
    return msgspec.structs.replace(report, diagnostics=tuple(new), notes=notes, known=hidden)


def _taken(counts: Counter[Any], key: object) -> bool:
    """One of them was there, and is used up."""
    there = counts[key] > 0
    counts[key] -= there
    return there


def write(path: str, report: RunReport, judged: Judged) -> int:
    """Write the findings of a report. Entries that the run has not judged stay: of other files and rules, and of files that
    do not parse. Returns how many were written.

    Raises BaselineError for an older file that cannot be read, OSError.
    """
    judged = _of_what_parses(report, judged)
    kept: Counter[Key] = Counter()
    if os.path.exists(path):
        kept = Counter({key: n for key, n in load(path).items() if not judged(*key[:2]) and os.path.exists(key[0])})
    found = Counter(key_of(item, report) for item in report.diagnostics if item.code not in ALWAYS_ON)
    folder = os.path.dirname(os.path.realpath(path))
    entries = sorted(
        Entry(as_text(os.path.relpath(file, folder)).replace(os.sep, "/"), code, text, count)
        for (file, code, text), count in (found + kept).items()
    )
    lines = ",\n".join("  " + msgspec.json.encode(entry).decode() for entry in entries)
    body = (
        f'{{"version": {VERSION}, "findings": [\n{lines}\n]}}\n'
        if entries
        else f'{{"version": {VERSION}, "findings": []}}\n'
    )
    target = os.path.realpath(path)
    mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else 0o644
    write_atomically(target, body.encode())
    os.chmod(target, mode)
    return sum(found.values())


def judged_by(asked: Sequence[str], codes: Collection[str]) -> Judged:
    """Whether a run on these paths, with these rules, says something of a rule in a file."""
    real = {os.path.realpath(one) for one in asked}

    def judged(path: str, code: str) -> bool:
        return code in codes and not real.isdisjoint(parents(path))

    return judged


def _of_what_parses(report: RunReport, judged: Judged) -> Judged:
    broken = {os.path.realpath(item.path) for item in report.diagnostics if item.code in ALWAYS_ON}
    return lambda path, code: path not in broken and judged(path, code)


def key_of(item: Diagnostic, report: RunReport) -> Key:
    """By what a finding is known again."""
    finding = item.finding
    text = "".join(report.texts.get(item.path, "")[finding.start : finding.end].split())
    dense = text.replace(",)", ")").replace(",]", "]").replace(",}", "}")
    mark = hashlib.sha256(dense.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return os.path.realpath(item.path), item.code, dense if len(dense) <= _SHOWN else f"{dense[:_SHOWN]}… #{mark}"
