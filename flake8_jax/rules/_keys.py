"""Words that the rules on PRNG keys share."""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from dataclasses import replace

from flake8_jax.core.cells import SUFFIX, Rows
from flake8_jax.core.findings import Level, Step
from flake8_jax.core.registry import Candidate, Report
from flake8_jax.rules._meetings import Meetings
from flake8_jax.rules._tracers import LONGEST_QUOTE, quote
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.domain.values import Site, canonical_key
from flake8_jax.semantics.events.events import Context, KeyUse

ADVICE: dict[str, str] = {
    "": "split it first",
    "fixed": "split it first unless both runs need equal numbers",
    "constant": "split it first unless equal numbers are intended, as in synthetic data",
    "shared": "split it first unless both must drop the same elements",
    "same-data": "split it first unless you compare both results",
    "paired": "split it first unless both must change in the same way",
    "discarded": "split it first unless this is a warm-up",
    "template": "split it first unless a file replaces the values",
    "evaluation": "split it first unless every iteration must use equal numbers",
    "alternatives": "split it first unless only one of the two is ever used",
    "parts": "split it once unless the slices share no key",
}
"""What to do, by the reason why equal draws may be meant."""
OUTCOMES: dict[str, str] = {
    "numbers": ", so both calls draw the same numbers",
    "bits": ", so both draws use the same random bits",
    "new-keys": ", so both may use the same new keys",
    "nothing": ", so the results may not be independent",
    "": ", so the results may not be independent",
}
"""What comes of two uses, by what they share."""


def row_of(site: Site) -> int:
    return bisect_right(site.scope.tree.line_starts, site.start)


def place(site: Site, context: Context) -> str:
    """``line 12``, with the file's name where it is another file than the finding's."""
    if site.scope.path == context.scope.path:
        return f"line {row_of(site)}"
    return f"{posixpath.basename(site.scope.path)}:{row_of(site)}"


def name_of_key(event: KeyUse) -> str:
    """The key as the code spells it where the finding stands; else where it is used in the end, or what uses it."""
    if event.key_node is None and _spelling(event) == "this key":
        function = name_of(event.through) if event.through else callee(event.context, event.at, "")
        return f"The key of {function}" if function else "This key"
    suffix = f" in {name_of(event.last_in)}" if event.last_in and event.last_in == event.first_in else ""
    return _spelling(event).removesuffix(suffix)


def _spelling(event: KeyUse) -> str:
    if event.key_node is not None:
        return quote(event.context, event.key_node, "this key")
    if event.spelled:
        return f"`{event.spelled}`"
    last = event.last
    if event.inner_key is None or last is None:
        return "this key"
    text = " ".join(last.scope.text[event.inner_key.start : event.inner_key.end].split())
    if not text or len(text) > LONGEST_QUOTE:
        return "this key"
    return f"`{text}` in {name_of(event.last_in)}" if event.last_in and "lambda" not in event.last_in else f"`{text}`"


def name_of(function: str) -> str:
    """A function by its qualified name, without the functions that it stands in."""
    name = function.rpartition("<locals>.")[2]
    return "the lambda" if "lambda" in name else f"`{name}`"


def user_of(event: KeyUse) -> str:
    """What uses the key at the place of the finding: a function of the project, or one of a library."""
    return name_of(event.through) if event.through else callee(event.context, event.at)


def first_use(event: KeyUse) -> str:
    """Where the key was used before: the place itself, and the call that leads there from the code of the finding."""
    reached = event.earlier
    assert reached is not None
    first, later = event.first or reached, reached.scope is event.context.scope and reached.start >= event.at.end
    when = " in the previous iteration" if event.carried or (later and event.context.loop) else ""
    if not event.first_in or _is_inside(first, reached):
        return f"on {place(reached, event.context)}{when}"
    where = place(first, event.context)
    return f"in {name_of(event.first_in)} ({where}, reached from {place(reached, event.context)}){when}"


def is_within_call(event: KeyUse) -> bool:
    """The first use is in a function that is called from the code of the finding."""
    first, reached = event.first, event.earlier
    return first is not None and reached is not None and bool(event.first_in) and not _is_inside(first, reached)


def _is_inside(site: Site, around: Site) -> bool:
    """The place is in the expression ``around``, or is that."""
    return site.scope is around.scope and around.start <= site.start and site.end <= around.end


def uses_of(event: KeyUse) -> tuple[Step, ...]:
    """Both uses, for the evidence, and the call that leads to the first."""
    first, last, reached = event.first or event.earlier, event.last, event.earlier
    steps = [] if first is None else [_step(first, "the key is first used here")]
    if first is not None and reached is not None and not event.in_loop and not _is_inside(first, reached):
        steps.append(_step(reached, "this call leads to that use"))
    if last is not None and not event.in_loop:
        steps.append(_step(last, "the key is used again here"))
    return tuple(steps)


def _step(site: Site, text: str) -> Step:
    return Step(site.scope.path, site.start, row_of(site), "use", "", text)


def by_convention(event: KeyUse, message: str) -> Report | None:
    """A report on two uses of which one is that of an unknown function: a preview."""
    if event.in_loop and not event.loop_kind:
        return None  # two arguments of one call
    level: Level = "info" if event.intent else "warning"
    return Report(event.at, message, level, preview=True, given=event.given, uses=uses_of(event))


def gets_again(event: KeyUse) -> str:
    """What becomes of a key that one of two functions uses by convention, at its second use."""
    earlier, function = event.callees
    if "fold_in" in (earlier, function):
        first, then = ("folded in", "the split returns") if earlier else ("split", "`fold_in` returns")
        return f"{name_of_key(event)} was already {first} {first_use(event)}, so {then} the same keys again"
    before = f"passed to `{earlier}`" if earlier else "split" if event.was_split else "used"
    uses = "splits it" if event.effect == "split" and not event.through and not function else "uses it"
    by = name_of(event.through) if event.through else f"`{function}`" if function else user_of(event)
    again = " again" if uses == "uses it" or event.was_split else ""
    return f"{name_of_key(event)} was already {before} {first_use(event)}, and {by} {uses}{again}"


def level_of_use(event: KeyUse) -> Level | None:
    """The level of a report on a further use, where it is not the rule's own. What is likely meant is a note (of such
    reuses that readers judged in unseen repositories, one in seven was worth their time), and so is what only some path may
    show (8 of 20)."""
    return "info" if event.intent or not event.certain else None


MAX_USES = 20
"""So many further uses of a key are named in the evidence."""
PICKING = frozenset({"jax.random.permutation", "jax.random.choice", "jax.random.shuffle"})
"""Two calls of one of these with one key pick the same elements of two arrays, which may be meant."""


def is_common_pick(event: KeyUse) -> bool:
    """Both uses are the same sampler of indices."""
    return event.sampler in PICKING and event.sampler == event.earlier_sampler


def is_loop_reuse(event: KeyUse) -> bool:
    """The earlier use is the same expression in the previous iteration, not another argument of the same call."""
    return event.in_loop and bool(event.loop_kind) and not event.same_call


def report_where_given(candidates: list[Candidate]) -> list[Candidate]:
    """One finding for one key: at its second use, with the others in the evidence.

    A report on an object that was given a key that collides is dropped if the place that gave it the key has a report: that
    the object uses the key again is the same defect.
    """
    first: dict[int, Candidate] = {}
    for candidate in sorted(candidates, key=lambda one: (one.path, one.start)):
        event = candidate.event
        if event.key_node is not None and not event.within and not any(event.callees):
            first.setdefault(id(canonical_key(candidate.event.key)), candidate)

    def is_superseded(candidate: Candidate) -> bool:
        event: KeyUse = candidate.event
        if event.key_node is not None or event.in_loop:
            return False
        giving = first.get(id(canonical_key(event.key)))
        return giving is not None and giving.path == candidate.path

    left = [candidate for candidate in candidates if not is_superseded(candidate)]
    meetings = Meetings()
    return _one_for_each_key(
        [c for c in left if not meetings.never_meet(c.event, c.start) and not meetings.are_compared(c.event)]
    )


def _one_for_each_key(candidates: list[Candidate]) -> list[Candidate]:
    """Of reports on further uses of one key, keep the first of a file, or of a cell of a notebook.

    Keys are distinguished by name and first use.
    """
    groups: dict[tuple[object, ...], list[Candidate]] = {}
    cells: dict[str, Rows] = {}
    # What is no preview comes first: it stands for the others.
    for candidate in sorted(candidates, key=lambda one: (any(one.event.callees), one.path, one.start)):
        event: KeyUse = candidate.event
        earlier = event.earlier
        if earlier is None or event.in_loop or event.same_call:
            groups[id(candidate),] = [candidate]
            continue
        scope, cell = event.context.scope, 0
        origin: tuple[object, ...] = (earlier.scope.path, earlier.start)
        if candidate.path.endswith(SUFFIX):
            origin = (id(canonical_key(event.key)),)
            if candidate.path not in cells:
                cells[candidate.path] = Rows(scope.text)
            cell = cells[candidate.path].place(bisect_right(scope.tree.line_starts, candidate.start))[0]
        groups.setdefault((candidate.path, cell, candidate.code, origin, _spelling(event)), []).append(candidate)
    kept: list[Candidate] = []
    for first, *others in groups.values():
        known = {(step.path, step.start) for step in first.uses}
        again = [step for other in others[:MAX_USES] for step in _again(other)]
        more = [step for step in again if (step.path, step.start) not in known]
        kept.append(replace(first, uses=(*first.uses, *dict.fromkeys(more))) if more else first)
    return kept


def _again(candidate: Candidate) -> list[Step]:
    """A further use of a key: where the report on it stands."""
    site = Site(candidate.event.context.scope, candidate.start, candidate.start)
    return [_step(site, "the key is used again here")]
