"""How much of a program is run: depths, counts and budgets, and what ends when one is spent.

Measured on JAX, Flax, Brax and NumPyro where a number is not obvious; see each.
"""

from __future__ import annotations

import msgspec

MAX_CALL_DEPTH = 40

MAX_RESOLVING = 8
"""Names that lead to names, in modules that import each other; behind so many they lead nowhere."""

MAX_FORWARDED = 4
"""Objects whose ``__call__`` is another object, or leads to one without a call of a function in between."""

MAX_SETTLED_LOOPS = 2
"""In loops that are nested more deeply, one pass alone goes before the last, so that what they carry may not have settled."""

MAX_STEPS_PER_ENTRY = 30_000

MAX_STATEMENTS_PER_ENTRY = 100_000
"""An entry that has run so many statements, and as many again as its file has lines, ends. Those of JAX, Flax, Brax and
NumPyro run 3,200 at most."""

MAX_ENTRIES_PER_FILE = 4
"""A file whose entries have run as many statements as so many of them may is analyzed no further."""


class BudgetSpentError(Exception):
    """The running entry has run as many statements as one may."""


class Cut(msgspec.Struct, frozen=True):
    """Code that was not analyzed to its end. function: where the analysis had started, empty at the top level."""

    path: str
    function: str
    reason: str


class Caps(msgspec.Struct, frozen=True):
    """How often one function is run on other inputs before what it gives is unknown: staged, eager, and without generalising
    its arguments, as an entry or apart (on keys that are used: each pass over a loop brings others). unreported_staged,
    unreported_eager: the same for a function none of whose runs has made a report or used a key, in a program that took more
    than ``generous`` runs in all. last: so many more in the last passes over loops, the only ones that rules get events of."""

    staged: int
    eager: int
    entries: int
    apart: int
    unreported_staged: int
    unreported_eager: int
    generous: int
    last: int = 2


LINT_CAPS = Caps(5, 4, 12, 24, 2, 2, 300)
"""Findings of real packages are the same as with twice as many, in two thirds of the time."""

PRESUMED_CAPS = Caps(8, 4, 12, 24, 8, 4, 0)
"""What a library's users may stage is little code, and its numbers count: ``epsilon=0.0``."""

INSPECT_CAPS = Caps(40, 40, 60, 60, 40, 40, 0)
"""``inspect`` tells what callers pass, so it wants to see more of them; it finds 3 to 6 % more than with 8."""
