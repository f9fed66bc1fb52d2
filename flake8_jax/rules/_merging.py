"""Findings that share one cause become one: the first of a file, a function or a notebook's cell.

Limitations: causes in other functions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable

from flake8_jax.core.registry import Candidate
from flake8_jax.rules._untraceable import annotated_object
from flake8_jax.semantics.domain.signatures import underlying
from flake8_jax.semantics.domain.values import FunctionValue, Value
from flake8_jax.semantics.events.events import CallMismatch, Context, RootMet, TransformCall
from flake8_jax.semantics.events.refused import MissingMember


def place_of(context: Context, start: int) -> Hashable:
    """The function, or at the top level the cell, that stands around an offset."""
    return context.scope.path, id(context.inner) if context.inner is not None else context.scope.cell_of(start)


def first_of_each(candidates: list[Candidate], cause: Callable[[Candidate], Hashable]) -> list[Candidate]:
    """The first candidate of each cause, with a note of how many more there are."""
    groups: dict[Hashable, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda c: (c.path, c.start)):
        groups.setdefault(cause(candidate), []).append(candidate)
    kept: list[Candidate] = []
    for group in groups.values():
        others = tuple(sorted({candidate.start for candidate in group} - {group[0].start}))
        note = _also_on(group[0], others) if others else ""
        kept += [candidate.with_note(note, others) for candidate in group if candidate.start == group[0].start]
    return kept


def earliest(candidates: list[Candidate], cause: Callable[[Candidate], Hashable]) -> list[Candidate]:
    """The first candidate of each cause, without a word about the others."""
    first: dict[Hashable, Candidate] = {}
    for candidate in sorted(candidates, key=lambda c: (c.path, c.start)):
        first.setdefault(cause(candidate), candidate)
    return list(first.values())


def earliest_of_each_file(candidates: list[Candidate]) -> list[Candidate]:
    """The first candidate of each file."""
    return earliest(candidates, lambda candidate: candidate.path)


def earliest_of_each_function(candidates: list[Candidate]) -> list[Candidate]:
    """The first candidate of each function; the code of a file outside functions counts as one."""
    return earliest(candidates, lambda candidate: (candidate.path, id(candidate.event.context.inner)))


def reported_row(candidate: Candidate) -> int:
    """The row of a candidate, counted from 1."""
    return bisect_right(candidate.event.context.scope.tree.line_starts, candidate.start)


def apart_from(
    candidates: list[Candidate], others: list[Candidate], rows: int, cause: Callable[[Candidate], Hashable]
) -> list[Candidate]:
    """The candidates with none of the others of the same cause within so many rows."""
    told: dict[Hashable, list[int]] = {}
    for other in others:
        told.setdefault(cause(other), []).append(reported_row(other))
    return [c for c in candidates if all(abs(reported_row(c) - row) > rows for row in told.get(cause(c), []))]


_NAMED = 3
"""So many further lines are named."""


def _also_on(first: Candidate, others: tuple[int, ...]) -> str:
    """``also on line 12 and line 15``: where the others stand."""
    starts = first.event.context.scope.tree.line_starts
    rows = list(dict.fromkeys(bisect_right(starts, start) for start in others))
    if rows == [bisect_right(starts, first.start)]:
        return f"{len(others)} more on this line"
    lines = [f"line {row}" for row in rows if row != bisect_right(starts, first.start)][:_NAMED]
    more = [f"{len(rows) - len(lines)} more"] if len(rows) > _NAMED else []
    *most, last = [*lines, *more]
    return f"also on {', '.join(most)} and {last}" if most else f"also on {last}"


def report_wrong_argument(candidates: list[Candidate]) -> list[Candidate]:
    """Where one argument of a library call has no array and another one is missing, the first tells more: they are one
    mistake, as ``jax.random.permutation(n)`` without its key is. An annotation tells nothing where a call of the function does,
    or where the class is registered further down. An attribute that an object lacks is told once in each function."""
    called = {id(_function(c.event.operand)) for c in candidates if isinstance(c.event, TransformCall)}
    candidates = [c for c in candidates if not isinstance(c.event, RootMet) or _tells(c.event, called)]
    wrong = {(c.path, c.start) for c in candidates if not isinstance(c.event, (CallMismatch, MissingMember))}

    def holds(mismatch: CallMismatch, path: str) -> bool:
        return any(at == path and mismatch.at.start <= start < mismatch.at.end for at, start in wrong)

    kept = [c for c in candidates if not isinstance(c.event, CallMismatch) or not holds(c.event, c.path)]
    missing = [c for c in kept if isinstance(c.event, MissingMember)]
    return [c for c in kept if not isinstance(c.event, MissingMember)] + first_of_each(missing, _same_attribute)


def _same_attribute(candidate: Candidate) -> Hashable:
    """The function that reads an attribute of an object, the class of the object and the attribute."""
    event = candidate.event
    assert isinstance(event, MissingMember)
    return place_of(event.context, candidate.start), event.cls, event.at.attr


def _tells(event: RootMet, called: set[int]) -> bool:
    return id(_function(event.operand)) not in called and annotated_object(event) is not None


def _function(operand: Value) -> object:
    function = underlying(operand)
    return function.fn if isinstance(function, FunctionValue) else function
