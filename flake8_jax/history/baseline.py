"""Store the findings that a project accepts for now, so that jaxlint reports only new findings.

An entry contains a file, a rule, the source text of the finding, and the number of such findings. It contains neither the row
nor the layout. So an entry stays valid if the code above it, the indentation, the line length or the name of the file changes.
If the source text itself changes, the finding is new.

The file is sorted JSON with a ``version`` and one entry on each line, so that a reviewer can read its changes. Paths are
relative to the folder of the file. The file never contains invalid syntax.
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
"""Return whether a run checked a rule (given by its code) in a file (given by its real path)."""
Key = tuple[str, str, str]
"""The path, the code of the rule, and the source text."""


class BaselineError(Exception):
    """The file cannot be read, or is not a baseline. The message names the file and says what to do."""


class Entry(msgspec.Struct, frozen=True, order=True):
    """A number of findings of one rule on equal source text in one file."""

    path: str
    code: str
    text: str
    count: int = 1


class _File(msgspec.Struct, frozen=True):
    version: int
    findings: list[Entry]


def load(path: str) -> Counter[Key]:
    """Read the entries of a baseline, with absolute paths. Raises BaselineError."""
    try:
        found = msgspec.json.decode(read_regular(path, _LARGEST), type=_File)
    except OSError as error:
        remedy = "; make one with `--write-baseline`" if isinstance(error, FileNotFoundError) else ""
        raise BaselineError(f"{path}: {error.strerror}{remedy}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BaselineError(f"{path}: this is not a baseline ({error}); {_REMEDY}") from error
    if found.version != VERSION:
        raise BaselineError(f"{path}: this baseline has version {found.version}, known is {VERSION}; {_REMEDY}")
    folder = os.path.dirname(os.path.realpath(path))
    counts: Counter[Key] = Counter()
    for entry in found.findings:
        counts[os.path.realpath(os.path.join(folder, entry.path)), entry.code, entry.text] += entry.count
    return counts


def without_known(report: RunReport, known: Counter[Key], path: str, judged: Judged) -> RunReport:
    """Remove the findings of the baseline at ``path`` from a report. A note counts the entries that no longer occur."""
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
    """Use up one entry of this key. Return whether there was one."""
    there = counts[key] > 0
    counts[key] -= there
    return there


def write(path: str, report: RunReport, judged: Judged) -> int:
    """Write the findings of a report to a baseline. Return their number.

    Entries about files and rules that this run did not check stay, as do entries about files that do not parse.
    Raises OSError, and BaselineError if the old file cannot be read.
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
    """Return a function that says whether a run on these paths, with these rules, checks a rule in a file."""
    real = {os.path.realpath(one) for one in asked}

    def judged(path: str, code: str) -> bool:
        return code in codes and not real.isdisjoint(parents(path))

    return judged


def _of_what_parses(report: RunReport, judged: Judged) -> Judged:
    broken = {os.path.realpath(item.path) for item in report.diagnostics if item.code in ALWAYS_ON}
    return lambda path, code: path not in broken and judged(path, code)


def key_of(item: Diagnostic, report: RunReport) -> Key:
    """Return the key that identifies a finding in a later run."""
    finding = item.finding
    text = "".join(report.texts.get(item.path, "")[finding.start : finding.end].split())
    dense = text.replace(",)", ")").replace(",]", "]").replace(",}", "}")
    mark = hashlib.sha256(dense.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return os.path.realpath(item.path), item.code, dense if len(dense) <= _SHOWN else f"{dense[:_SHOWN]}… #{mark}"
