"""Fixes for the findings of an analysis.

Vocabulary
----------
proposal   the fix that the first fixer of a rule makes of a finding's event; later fixers are asked if it makes none.
refused    a proposal that is nested too deeply to be made.
refusal    why a fixer makes no fix; it goes into the finding's message.
shared     a fix that several findings have, such as all operands of ``a and b and …``. Each of them carries it, unless that
           makes very long output.
joined     a finding may stand for others of the same cause. Its fix changes those places too, if they have a fix of the same
           kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.collector import collector_paused
from flake8_jax.core.findings import Edit, Finding, Fix, Refusal
from flake8_jax.core.registry import DEFECTS, Fixer, traceback_of
from flake8_jax.core.stack import run_deep
from flake8_jax.core.style import CodeStyle
from flake8_jax.fixers import all_fixers
from flake8_jax.fixers._callers import Program
from flake8_jax.fixers._layout import laid_out
from flake8_jax.fixers._source import FixSource
from flake8_jax.semantics.events.node_facts import NodeReported
from flake8_jax.syntax.errors import OverlapError

MAX_REPEATED = 1 << 20
"""Characters that a shared fix may take in all of its findings together. Further findings go without it."""


@dataclass
class Proposals:
    """The findings, with fixes where there are any. crashes: (fixer, path, traceback). refused: (path, reason). laid_out:
    the fixes as the project lays out its code, by path and as the fixer made them."""

    findings: list[Finding] = field(default_factory=list)
    crashes: list[tuple[str, str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    laid_out: dict[tuple[str, Fix], Fix] = field(default_factory=dict)


def propose_fixes(
    reported: Iterable[tuple[Finding, Any]],
    files: Iterable[tuple[str, str, ir.Module]],
    fixers: Mapping[str, tuple[Fixer, ...]] | None = None,
    styles: Mapping[str, CodeStyle] | None = None,
    required: Callable[[str], Mapping[str, str]] = lambda path: {},
    beside: Mapping[int, tuple[Any, ...]] | None = None,
) -> Proposals:
    """Make fixes of findings and their events. ``files``: path, text and tree of each file of the program; styles: how they
    are laid out, by path. required: by path, the versions of libraries that the project supports, by import name. beside: by
    the identity of an event, those of the reports that its finding stands for."""
    program = Program(files, styles, required)
    known = all_fixers() if fixers is None else fixers
    made = Proposals()
    repeated: dict[tuple[str, Fix], int] = {}

    def work() -> None:
        with collector_paused():
            for finding, event in reported:
                events = (event, *(beside or {}).get(id(event), ()))
                fix = _proposal(finding, events, program, known.get(finding.name, ()), made)
                if isinstance(fix, Refusal):
                    message = f"{finding.message}; {fix.reason}"
                    made.findings.append(msgspec.structs.replace(finding, message=message))
                    continue
                if fix is not None and not _has_room(repeated, finding.path, fix):
                    fix = None
                made.findings.append(finding if fix is None else msgspec.structs.replace(finding, fix=fix))

    run_deep(work)
    return made


def _has_room(repeated: dict[tuple[str, Fix], int], path: str, fix: Fix) -> bool:
    """Whether one more finding may carry a fix; the first may. repeated: characters that findings carry, by fix."""
    before = repeated.get((path, fix), 0)
    after = before + sum(len(edit.content) for edit in fix.edits)
    if before and after > MAX_REPEATED:
        return False
    repeated[path, fix] = after
    return True


def _proposal(
    finding: Finding, events: tuple[Any, ...], program: Program, fixers: tuple[Fixer, ...], made: Proposals
) -> Fix | Refusal | None:
    """The fix of the first fixer that has one; else the last reason why there is none. A rule on nodes makes its own."""
    event, *others = events
    if isinstance(event, NodeReported):
        return event.fix
    if not fixers:
        return None
    source = program.source(finding.path)
    refusal: Refusal | None = None
    for fixer in fixers:
        try:
            fix = fixer.build(event, source)
            if isinstance(fix, Fix) and fix.applicability == "unsafe" and program.is_retired(finding.path):
                return None
            if isinstance(fix, Fix):
                fix = _joined(source, fix, [fixer.build(other, source) for other in others])
                if (finding.path, fix) not in made.laid_out:
                    made.laid_out[finding.path, fix] = laid_out(source, fix)
                return made.laid_out[finding.path, fix]
        except RecursionError:
            made.refused.append((finding.path, f"a fix of {finding.code} is nested too deeply"))
            continue
        except (*DEFECTS, OverlapError) as error:
            made.crashes.append((f"fixer of {finding.name}", finding.path, traceback_of(error)))
            continue
        refusal = fix or refusal
    return refusal


def _joined(source: FixSource, fix: Fix, others: Iterable[Fix | Refusal | None]) -> Fix:
    """The fix with those of other places that do the same, as far as no edits overlap and no ``# noqa`` stands there."""
    edits, places = set(fix.edits), 1
    for other in others:
        if not isinstance(other, Fix) or (other.message, other.applicability) != (fix.message, fix.applicability):
            continue
        new = set(other.edits) - edits
        if new and not any(_is_barred(source, edit, edits) for edit in new):
            edits |= new
            places += 1
    if places == 1:
        return fix
    what, *announced = fix.message.split("; ")
    return Fix("; ".join([f"{what} in {places} places", *announced]), fix.applicability, tuple(sorted(edits)))


def _is_barred(source: FixSource, edit: Edit, edits: Iterable[Edit]) -> bool:
    if "noqa" in source.text[source.line_start(edit.start) : source.line_end(edit.end)]:
        return True
    return any((edit.start < one.end and one.start < edit.end) or edit.start == one.start for one in edits)
