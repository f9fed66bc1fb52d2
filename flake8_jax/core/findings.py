"""What jaxlint says: findings, the evidence for them, and the edits that would fix them.

Vocabulary
----------
finding     one defect at one place. evidence: the path of calls on which it happens, outermost first.
edit        replace the text between two offsets. fix: edits that only make sense together (atomic), *safe* or
            *unsafe*: safe means same values, dtypes and effects.

All offsets are code points into the decoded text of the file, end exclusive; rows and columns are derived from
them at the very end, by ``Positions``.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Literal

import msgspec

Level = Literal["error", "warning", "info"]
Applicability = Literal["safe", "unsafe"]


class Edit(msgspec.Struct, frozen=True, order=True):
    """A change of the text of a file: ``content`` replaces the characters from the offset ``start`` up to, but not including,
    the offset ``end``. Offsets count code points from the beginning of the text."""

    start: int
    end: int
    content: str


class Fix(msgspec.Struct, frozen=True):
    """A fix of a finding.
    - ``message``: what the fix does, in the imperative.
    - ``applicability``: ``safe`` if the fixed code has the same values, dtypes and effects for every caller, else ``unsafe``.
    - ``edits``: the changes of the text. jaxlint applies all of them or none."""

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...]


class Refusal(msgspec.Struct, frozen=True):
    """Why a finding has no fix, where a user may expect one: the end of its message, without a period."""

    reason: str


FIRST_USE = "the key is first used here"
LEADS_TO_USE = "this call leads to that use"
USED_AGAIN = "the key is used again here"
"""Texts of steps of the kind ``use``."""


class Step(msgspec.Struct, frozen=True):
    """One step of a call chain.
    - ``path``, ``start``, ``row``: where the step is: the file, the offset in its text, and the line, counted from 1.
    - ``kind``: what happens there. ``root``: a transform traces ``function``. ``call``: the code calls ``function``.
      ``contract``: a library traces ``function``. ``entry``: the analysis starts here. ``use``: the code uses the value that
      the finding is about.
    - ``text``: the sentence that the output shows, such as "`jax.jit` traces `step`"."""

    path: str
    start: int
    row: int
    kind: str
    function: str
    text: str


class Verdict(msgspec.Struct, frozen=True):
    """What running the code on JAX said of a finding.

    verdict: ``confirmed``, ``confirmed-if-traced`` (nothing recorded says that the argument is), ``confirmed-elsewhere``
    (same defect, another line), ``refuted`` (on these inputs, this version, this backend), ``blocked`` (another error comes
    first), ``inconclusive``, ``unsupported-target``. reason: one sentence with what was seen. mode: ``device``, ``topology``
    or ``lower``. inputs: ``command``, ``recorded``, ``declared`` or ``synthesised``. details: further evidence, as JSON data.

    Of a fix: ``preserved`` (the results are the same), ``enables`` (the original raised, the fix runs), ``differs``,
    ``intended-change`` (the fix is there to change the results), ``blocked``, ``inconclusive``.
    """

    verdict: str
    reason: str
    target: str = ""
    mode: str = "device"
    inputs: str = "command"
    details: dict[str, Any] = {}


class Finding(msgspec.Struct, frozen=True):
    """One defect. ``path`` is absolute; ``code`` is ``JAX101``; ``name`` is ``traced-branch``.

    confidence: ``certain`` (it fails on a path that the program takes), or ``likely`` where a rule for errors lacks part of
    the evidence and so warns. noqa_end: the offset of the end of the logical line, where a
    ``# noqa`` also counts. verdict: of the finding; fix_verdict: of its fix. others: where the defects start that it stands
    for: of the same cause, in the same function.
    """

    code: str
    name: str
    level: Level
    path: str
    start: int
    end: int
    message: str
    evidence: tuple[Step, ...] = ()
    fix: Fix | None = None
    confidence: str = "certain"
    verdict: Verdict | None = None
    fix_verdict: Verdict | None = None
    others: tuple[int, ...] = ()


class Positions:
    """Offsets to 1-based rows and 1-based code-point columns, from a table of line starts."""

    __slots__ = ("line_starts",)

    def __init__(self, line_starts: list[int]) -> None:
        self.line_starts = line_starts

    def row(self, offset: int) -> int:
        return bisect_right(self.line_starts, offset)

    def row_column(self, offset: int) -> tuple[int, int]:
        row = bisect_right(self.line_starts, offset)
        return row, offset - self.line_starts[row - 1] + 1
