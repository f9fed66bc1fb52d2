"""Words that the rules on PRNG keys share."""

from __future__ import annotations

import posixpath
from bisect import bisect_right

from flake8_jax.core.registry import Candidate
from flake8_jax.semantics.domain.values import Site, canonical_key
from flake8_jax.semantics.events.events import Context, KeyUse


def place(site: Site, context: Context) -> str:
    """``line 12``, with the file's name where it is another file than the finding's."""
    row = bisect_right(site.scope.tree.line_starts, site.start)
    if site.scope.path == context.scope.path:
        return f"line {row}"
    return f"{posixpath.basename(site.scope.path)}:{row}"


PICKING = frozenset({"jax.random.permutation", "jax.random.choice", "jax.random.shuffle"})
"""Two calls of one of these with one key pick the same elements of two arrays, which may be meant."""


def is_common_pick(event: KeyUse) -> bool:
    """Both uses are the same sampler of indices."""
    return event.sampler in PICKING and event.sampler == event.earlier_sampler


def is_loop_reuse(event: KeyUse) -> bool:
    """The earlier use is the same expression in the previous iteration, not another argument of the same call."""
    return event.in_loop and bool(event.loop_kind) and not event.same_call


def by_callee(event: KeyUse) -> str:
    """`` in `dropout` `` where the key is used up inside a called function, else nothing."""
    return f" in `{event.through}`" if event.through else ""


def report_where_given(candidates: list[Candidate]) -> list[Candidate]:
    """Drop reports on an object that was given a key that collides, if the place that gave it the key has a report.

    That the object uses the key again is the same defect.
    """
    first: dict[int, Candidate] = {}
    for candidate in sorted(candidates, key=lambda one: (one.path, one.start)):
        if candidate.event.key_node is not None:
            first.setdefault(id(canonical_key(candidate.event.key)), candidate)

    def is_superseded(candidate: Candidate) -> bool:
        event: KeyUse = candidate.event
        if event.key_node is not None or event.in_loop:
            return False
        giving = first.get(id(canonical_key(event.key)))
        return giving is not None and giving.path == candidate.path

    return [candidate for candidate in candidates if not is_superseded(candidate)]
