"""Which finding an exception or a compilation belongs to, where several findings stand at its place.

Vocabulary
----------
span     where code stands: first row, first column, last row, last column; rows from 1, columns in bytes from 0.
foreign  what another finding is about, and this one is not.

Limitation: Python says columns from 3.11 on. Before, all findings of a row share what happens there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from flake8_jax.runtime_checks.compiling import FLOWS
from flake8_jax.runtime_checks.observations import Observations, Seen, Spot
from flake8_jax.runtime_checks.oracles import all_oracles

Span = tuple[int, int, int, int]


class Claim(Protocol):
    """What a finding says, as far as it matters here. words: of the statement that it stands in."""

    @property
    def rule(self) -> str: ...
    @property
    def spot(self) -> Spot: ...
    @property
    def statement(self) -> frozenset[int]: ...
    @property
    def span(self) -> Span | None: ...
    @property
    def words(self) -> frozenset[str]: ...


def without_foreign(number: int, claims: Sequence[Claim], seen: Seen) -> Seen:
    """Return what a run showed, as the finding ``number`` may use it: exceptions of others are marked, and compilations of
    others are left out."""
    if len(claims) < 2:
        return seen
    raised = [
        {**one, "foreign": True} if _is_foreign_error(number, claims, one, seen) else one for one in seen["raised"]
    ]
    found: Seen = {**seen, "raised": raised}
    for kind in ("compilations", "tracings"):
        if kind in seen:
            found[kind] = [one for one in seen[kind] if not _is_foreign_compilation(claims[number], claims, one)]
    return found


def _is_foreign_error(number: int, claims: Sequence[Claim], raised: Seen, seen: Seen) -> bool:
    mine = claims[number]
    if not raised["stack"] or not mine.spot.is_on(raised["stack"]) or _is_at(mine, raised):
        return False
    return any(
        _is_at(other, raised) and _explains(other, raised, seen["watches"][position])
        for position, other in enumerate(claims)
        if position != number
    )


def _is_at(claim: Claim, raised: Seen) -> bool:
    """Whether the code that raised, in the innermost of the user's frames, is that of the finding."""
    if not claim.spot.holds(raised["stack"][0]):
        return False
    span = raised.get("span")
    return claim.span is None or span is None or _overlap(claim.span, (span[0], span[1], span[2], span[3]))


def _overlap(one: Span, other: Span) -> bool:
    return one[:2] < other[2:] and other[:2] < one[2:]


def _explains(claim: Claim, raised: Seen, watch: Seen) -> bool:
    """Whether the error is one that the rule predicts."""
    oracle = all_oracles().get(claim.rule)
    if oracle is None:
        return False
    verdict = oracle.judge(Observations(claim.spot, watch, {"raised": [raised]}))
    return verdict.verdict == "confirmed" and "exception" in verdict.details


_COMPILING = frozenset(
    ("jit-in-loop", "jit-per-call", "transform-in-loop", "static-arg-in-loop", "varying-shape-in-loop")
)


def _is_foreign_compilation(mine: Claim, claims: Sequence[Claim], seen: Seen) -> bool:
    """Whether another finding names what was compiled, or the line for which it was, and this one does neither."""
    if mine.rule not in _COMPILING or _names(mine, seen):
        return False
    if seen["name"] in FLOWS and mine.rule in (
        "jit-in-loop",
        "jit-per-call",
    ):  # its body may be what the finding is about
        return False
    return any(other.rule in _COMPILING and other is not mine and _names(other, seen) for other in claims)


def _names(claim: Claim, seen: Seen) -> bool:
    name = seen["name"].removeprefix("jit(").removesuffix(")")
    on_it = any(place[0] == claim.spot.path and place[1] in claim.statement for place in seen["stack"])
    return on_it or claim.spot.is_on(seen["stack"]) or (name or "?") in claim.words
