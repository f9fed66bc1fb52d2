"""Words that the rules on PRNG keys share."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Hashable
from dataclasses import replace

from flake8_jax.core import ir
from flake8_jax.core.cells import SUFFIX, Rows
from flake8_jax.core.findings import FIRST_USE, LEADS_TO_USE, USED_AGAIN, Level, Step
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Candidate, Report
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._meetings import Meetings
from flake8_jax.rules._merging import apart_from, first_of_each, reported_row
from flake8_jax.rules._tracers import LONGEST_QUOTE, quote
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.domain.code import bound_paths, last_name, nodes_around, path_of
from flake8_jax.semantics.domain.values import External, Site, canonical_key
from flake8_jax.semantics.events.events import Context, FileRead, Intent, KeyUse
from flake8_jax.semantics.events.facts import STARTING

ADVICE: dict[str, str] = {
    "": "split it first",
    "fixed": "split it first unless both need equal numbers",
    "constant": "split it first unless you want equal numbers",
    "shared": "split it first unless both must drop the same elements",
    "same-data": "split it first unless you compare both results",
    "paired": "split it first unless both calls must draw equal numbers",
    "mirrored": "split it first unless one must undo or mirror the other",
    "discarded": "split it first unless you throw away one of the two results",
    "template": "split it first unless a file replaces the values",
    "evaluation": "split it first unless every iteration must use equal numbers",
    "alternatives": "split it first unless only one of the two is ever used",
    "apart": "split it first unless you only print, plot or save the results",
    "parts": "split it once unless the slices share no key",
}
"""What to do, by the reason why equal draws may be meant."""
OUTCOMES: dict[str, str] = {
    "numbers": ", so both calls draw the same numbers",
    "bits": ", so both draws use the same random bits",
    "new-keys": ", so both calls may draw the same numbers",
    "unread": ", so both splits return the same keys, though the code uses different ones so far",
    "nothing": ", so the results may be correlated",
    "": ", so the results may be correlated",
}
"""What comes of two uses, by what they share."""


def row_of(site: Site) -> int:
    return bisect_right(site.scope.tree.line_starts, site.start)


def place(site: Site, context: Context) -> str:
    """``line 12``, with the file's name where it is another file than the finding's."""
    if site.scope.path == context.scope.path:
        return f"line {row_of(site)}"
    return f"{posixpath.basename(site.scope.path)}:{row_of(site)}"


def at_place(site: Site, context: Context) -> str:
    """``on line 12``, or ``at`` a line of another file."""
    return f"{'on' if site.scope.path == context.scope.path else 'at'} {place(site, context)}"


def is_near(site: Site, context: Context, at: ir.Node | Site) -> bool:
    """A reader of the finding at ``at`` sees the site: it stands there, or few lines above."""
    starts = context.scope.tree.line_starts
    return site.scope.path == context.scope.path and 0 <= bisect_right(starts, at.start) - row_of(site) <= _NEAR


_NEAR = 3


def name_of_key(event: KeyUse) -> str:
    """The key as the code spells it where the finding stands, or by the call there that uses it."""
    if (name := key_on_line(event)) is not None:
        return name
    user = callee(event.context, event.at, "")
    return f"The key that {user} uses" if user else "This key"


def hidden_key(event: KeyUse, article: str) -> str:
    """``the key `rng` (used on line 12)``: a key that the code at the finding does not spell, with the place of its use."""
    inner = inner_spelling(event)
    return (
        f"{article} `{inner}` (used {at_place(event.last, event.context)})"
        if inner and event.last is not None
        else article
    )


def key_on_line(event: KeyUse) -> str | None:
    """The key in backquotes, where the expression at which the finding stands spells it."""
    if event.key_node is not None:
        return quote(event.context, event.key_node)
    if event.spelled:
        return f"`{event.spelled}`"
    text, line = inner_spelling(event), event.context.scope.text[event.at.start : event.at.end]
    if text and re.search(rf"(?<![\w.]){re.escape(text)}(?!\w)", line):
        return f"`{text}`"
    passed = passed_to_both(event)
    return f"`{passed}`" if passed else None


def inner_spelling(event: KeyUse) -> str:
    """The key as the code spells it where it is used in the end; empty if that is long."""
    last = event.last
    if event.inner_key is None or last is None:
        return ""
    text = " ".join(last.scope.text[event.inner_key.start : event.inner_key.end].split())
    return text if len(text) <= LONGEST_QUOTE else ""


def _identity(event: KeyUse) -> tuple[str, str]:
    """What distinguishes the keys of several reports with one first use: their spelling, and the function that uses them."""
    if event.key_node is not None:
        text = event.context.scope.text[event.key_node.start : event.key_node.end]
        return " ".join(text.split())[:LONGEST_QUOTE], ""
    if event.spelled:
        return event.spelled, ""
    text, function = inner_spelling(event), event.last_in.rpartition("<locals>.")[2]
    return text, function if text and "lambda" not in function else ""


def name_of(function: str, otherwise: str = "this call") -> str:
    """A function by its name, without the functions that it stands in; a special method with its class. otherwise: what to
    say of a lambda, and of a function without a name."""
    name = function.rpartition("<locals>.")[2]
    if "lambda" in name or " " in name:
        return otherwise
    short = name.rpartition(".")[2]
    return f"`{name if short.startswith('__') else short}`"


def user_of(event: KeyUse) -> str:
    """What uses the key at the place of the finding: a function of the project, or one of a library."""
    called = callee(event.context, event.at)
    return name_of(event.through, called) if event.through else called


def first_use(event: KeyUse) -> str:
    """Where the key was used before: the line, or the function and the call that leads there from the code of the finding."""
    reached = event.earlier
    assert reached is not None
    first, when = event.first or reached, " in the previous iteration" if is_iterated(event) else ""
    where = _here_or_at(reached, event)
    if not event.first_in or is_inside(first, reached):
        return f"{where}{when}"
    name = name_of(event.first_in, _called_at(reached))
    if not name:
        return f"by the call {where}{when}"
    called = reached.scope.text[reached.start : reached.end].partition("(")[0]
    leads = "called" if _has_name(called, name.strip("`")) else "through the call"
    same = ", which returns the same key" if _is_returned(event) else ""
    return f"in {name} ({leads} {where}{same}){when}"


def _here_or_at(site: Site, event: KeyUse) -> str:
    """``on line 12``; ``earlier on this line`` if it is that of the finding."""
    at = Site(event.context.scope, event.at.start, event.at.end)
    if site.scope is not at.scope or row_of(site) != row_of(at):
        return at_place(site, event.context)
    return "earlier on this line" if site.start < at.start else "on this line"


def _has_name(called: str, name: str) -> bool:
    """What stands before the parentheses of a call names the function, or the class of a special method."""
    short = name.partition(".__")[0] if ".__" in name else name
    return re.search(rf"(?<!\w){re.escape(short)}(?!\w)", called) is not None or ".__" in name


def _is_returned(event: KeyUse) -> bool:
    """The earlier call returned the key that it used, under the name that the finding is about: ``key, x = f(key)``."""
    site, key = event.earlier, event.key_node
    if site is None or not isinstance(key, ir.Name) or is_iterated(event):
        return False
    around = list(nodes_around(site.scope.tree.body, site.start, site.end))
    statement = next((node for node in reversed(around) if isinstance(node, ir.Assign)), None)
    return statement is not None and key.id in bound_paths(statement)


def is_iterated(event: KeyUse) -> bool:
    """The earlier use is in the previous iteration of a loop around both."""
    reached = event.earlier
    if event.carried or reached is None or reached.scope is not event.context.scope or reached.start < event.at.end:
        return event.carried
    around = nodes_around(reached.scope.tree.body, event.at.start, event.at.end)
    loops = (node for node in around if isinstance(node, (ir.For, ir.While)))
    return bool(event.context.loop) or any(loop.end >= reached.end for loop in loops)


def already(event: KeyUse, verb: str) -> str:
    """``key was already used on line 12``; where the code at the finding does not spell the key, by the call that uses it.

    verb: what was done with it before, such as ``split``.
    """
    user = callee(event.context, event.at, "")
    if key_on_line(event) is not None or not user:
        return f"{name_of_key(event)} was already {verb} {first_use(event)}"
    given = _earlier_spelling(event)
    if given and not is_within_call(event) and not is_iterated(event):
        takes = _takes(event)
        again = f"{user} {'' if takes == 'uses' else f'{takes} it and '}uses it again{_as_inner(event, given)}"
        return f"`{given}` was already {verb} {first_use(event)}, and {again}"
    uses = f"{user} {_takes(event)} {hidden_key(event, 'the key')}"
    is_same = bool(event.first_in) and event.first_in == event.last_in
    if is_same and is_within_call(event) and not is_iterated(event) and event.earlier is not None:
        return f"{uses}, as does the call {at_place(event.earlier, event.context)}"
    return f"{uses}, which was already {verb} {first_use(event)}"


def _takes(event: KeyUse) -> str:
    """How the function called at the finding has a key that the call does not spell."""
    if event.captured:
        return "captures"
    return "holds" if not takes_key(event) and not _default(event) and _holder(event) is not None else "uses"


def _default(event: KeyUse) -> str:
    """The parameter of the called function of which the default is the key; empty if the key is none."""
    site, name = event.last, path_of(event.inner_key) if event.inner_key is not None else None
    if site is None or not isinstance(event.at, ir.Call):
        return ""
    around = [n for n in nodes_around(site.scope.tree.body, site.start, site.end) if isinstance(n, ir.FunctionDef)]
    function = around[-1].function if around else None
    if function is None or function.name != last_name(event.at.func):
        return ""
    given = {argument.keyword for argument in event.at.args}
    return next((p.name for p in function.params if p.name == name and p.default is not None and name not in given), "")


def _holder(event: KeyUse) -> ir.Name | None:
    """The object or function of the project that the call at the finding calls, and that may have been made with a key."""
    func = event.at.func if isinstance(event.at, ir.Call) else None
    made = func.value if isinstance(func, ir.Attribute) else func
    if not isinstance(made, ir.Name) or made.id in ("self", "cls"):
        return None
    return None if isinstance(event.context.scope.slots.get(made.id), External) else made


def passed_to_both(event: KeyUse) -> str:
    """The one name of keys that this call and the earlier one pass, if nothing in between binds it; else empty."""
    site, name = event.earlier, passed_keys(event)
    if site is None or not name or site.scope is not event.context.scope or is_iterated(event):
        return ""
    around = nodes_around(site.scope.tree.body, site.start, site.end)
    earlier = next((n for n in around if isinstance(n, ir.Call) and (n.start, n.end) == (site.start, site.end)), None)
    text = site.scope.text
    between = text[text.rfind("\n", 0, site.start) + 1 : event.at.start]
    is_bound = re.search(
        rf"^[^=#(\n]*(?<![\w.]){re.escape(name)}(?![\w.])[^=(\n]*(?:=(?!=)|\bin\b)", between, re.MULTILINE
    )
    passed = [path_of(argument.value) for argument in earlier.args] if earlier is not None else []
    return name if name in passed and is_bound is None else ""


def passed_keys(event: KeyUse) -> str:
    """The only name of keys that the call at the finding passes; empty if there are several or none."""
    if event.captured or not isinstance(event.at, ir.Call):
        return ""
    names = [name for argument in event.at.args if (name := path_of(argument.value)) and is_key_name(name)]
    return names[0] if len(names) == 1 else ""


def _earlier_spelling(event: KeyUse) -> str:
    """The name of the key at its first use, where that is a call of a library's function; empty if that is unclear."""
    site = event.earlier
    if site is None:
        return ""
    around = nodes_around(site.scope.tree.body, site.start, site.end)
    call = next((n for n in around if isinstance(n, ir.Call) and (n.start, n.end) == (site.start, site.end)), None)
    named = [path_of(argument.value) for argument in call.args] if call is not None else []
    keys = [name for name in named if name and is_key_name(name)]
    return keys[0] if len(keys) == 1 else ""


def _as_inner(event: KeyUse, given: str) -> str:
    """`` (as `key` on line 12)``: under which name the function uses it."""
    inner = inner_spelling(event)
    if not inner or event.last is None:
        return ""
    name = "" if inner == given else f"as `{inner}` "
    return f" ({name}{at_place(event.last, event.context)})"


def unless(intent: Intent, what: str = "") -> str:
    """`` unless both need equal numbers``: when nothing has to be done. what: if nothing says that it may be meant."""
    _, known, reason = ADVICE[intent].partition(" unless ")
    return f"{known}{reason}" if known else what


def unless_unused(event: KeyUse) -> str:
    """When a use by an unknown function is none."""
    earlier, function = event.callees
    if event.intent or "fold_in" in (earlier, function):
        return ""
    return f" unless `{function or earlier}` does not use the key"


def own_keys(event: KeyUse) -> str:
    """What to do where two calls use one key: each gets its own, or the seed that it makes the key of."""
    if key_on_line(event) is not None:
        return "pass each call its own key"
    line = event.context.scope.text[event.at.start : event.at.end]
    if "seed" in line:
        return "give each call its own key or seed"
    if takes_key(event) and not event.captured:
        return "pass a new key from jax.random.split here"
    func = event.at.func if isinstance(event.at, ir.Call) else None
    if event.captured and isinstance(func, ir.Name):
        return f"make the key a parameter of `{func.id}`"
    default = _default(event)
    if default:
        return f"pass `{default}` to each call"
    made = _holder(event)
    return f"make `{made.id}` with a new key" if made is not None else "give each call its own key"


def takes_key(event: KeyUse) -> bool:
    """The call at the finding passes something that is named like a key."""
    parts = walk(event.at) if isinstance(event.at, ir.Call) else ()
    passed = [part for part in parts if part is not getattr(event.at, "func", None)]
    names = [path_of(part) for part in passed if isinstance(part, (ir.Name, ir.Attribute))]
    return any(map(is_key_name, names))


def is_key_name(name: str) -> bool:
    """``key``, ``rngs``, ``state.sample_key``."""
    return re.search(r"(^|_)(key|rng|prng)s?(_|$)", name.rpartition(".")[2].lower()) is not None


def next_key(event: KeyUse) -> str:
    """What to do about a use of a key after its split in the same function."""
    key = (key_on_line(event) or "").strip("`")
    if event.key_node is None and ("." in key or "[" in key):
        return f"store one of the new keys in `{key}` after that split"
    if not key and not takes_key(event):
        return own_keys(event)
    site = event.earlier
    assert site is not None
    around = list(nodes_around(site.scope.tree.body, site.start, site.end))
    statement = next((node for node in reversed(around) if isinstance(node, ir.Assign)), None)
    is_unpacked = statement is not None and isinstance(statement.targets[0], (ir.Tuple, ir.List))
    if is_unpacked or is_iterated(event):
        return "take one more key from that split and use it here"
    if event.effect == "split" and not event.through:
        return "first make two keys of it, one for each split"
    return "split off one more key before that split and use it here"


def passed_before(event: KeyUse) -> str | None:
    """``In the previous iteration, line 75 passed this `key` to `body` ``; None if the key was used otherwise, or if this use
    is no split."""
    key, earlier = event.key_node, event.earlier
    if key is None or earlier is None or event.effect != "split" or event.through:
        return None
    function = name_of(event.first_in, "")
    if not function or not is_iterated(event) or not is_within_call(event):
        return None
    line, name = place(earlier, event.context), quote(event.context, key)
    return f"In the previous iteration, {line} passed this {name} to {function}"


def new_name(key: str) -> str:
    """The name of the key that is split off."""
    return "new_key" if key == "subkey" else "subkey"


def _called_at(site: Site) -> str:
    """The name in front of the arguments of a call, in backquotes; empty where that is longer than a name."""
    name, paren, _ = site.scope.text[site.start : site.end].partition("(")
    return f"`{name}`" if paren and name.replace(".", "").isidentifier() else ""


def is_within_call(event: KeyUse) -> bool:
    """The first use is in a function that is called from the code of the finding."""
    first, reached = event.first, event.earlier
    return first is not None and reached is not None and bool(event.first_in) and not is_inside(first, reached)


def is_inside(site: Site, around: Site) -> bool:
    """The place is in the expression ``around``, or is that."""
    return site.scope is around.scope and around.start <= site.start and site.end <= around.end


def uses_of(event: KeyUse) -> tuple[Step, ...]:
    """Both uses, for the evidence, and the call that leads to the first."""
    first, last, reached = event.first or event.earlier, event.last, event.earlier
    steps = [] if first is None else [_step(first, FIRST_USE)]
    if first is not None and reached is not None and not event.in_loop and not is_inside(first, reached):
        steps.append(_step(reached, LEADS_TO_USE))
    if last is not None and not event.in_loop:
        steps.append(_step(last, USED_AGAIN))
    return tuple(steps)


def _step(site: Site, text: str) -> Step:
    return Step(site.scope.path, site.start, row_of(site), "use", "", text)


def by_convention(event: KeyUse, message: str) -> Report | None:
    """A report on two uses of which one is that of an unknown function: a preview."""
    if event.in_loop and not event.loop_kind:
        return None  # two arguments of one call
    level: Level = "info" if event.intent else "warning"
    return Report(event.at, message, level, preview=True, given=event.given, uses=uses_of(event))


def start_alike(event: KeyUse) -> bool:
    """Two networks of Flax get one key for their first parameters."""
    return not event.in_loop and all(callee in STARTING for callee in event.callees)


def gets_again(event: KeyUse) -> str:
    """What becomes of a key that one of two functions uses by convention, at its second use."""
    earlier, function = event.callees
    if "fold_in" in (earlier, function):
        if earlier:
            return f"{already(event, 'passed to `fold_in`')}, so the split may return the same keys"
        return f"{already(event, 'split')}, so `fold_in` may return one of the same keys"
    if start_alike(event):
        before = already(event, f"passed to `{earlier}`")
        return f"{before}, so layers of equal names and shapes in the two networks start with equal parameters"
    by = f"`{function}`" if function and not event.through else user_of(event)
    if event.was_split:
        return f"{already(event, 'split')}, so {by} may draw numbers correlated with those of the new keys"
    before = already(event, f"passed to `{earlier}`" if earlier else "used")
    if event.effect == "split" and not event.through and not function:
        used = f"`{earlier}` may use" if earlier else "its draws may be correlated with"
        return f"{before}, so {used} the keys that this split returns"
    return f"{before}, so {by} may draw the same numbers"


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
    walked = [candidate for candidate in candidates if isinstance(candidate.event, FileRead)]
    walked = _without_known(walked, [c for c in candidates if not isinstance(c.event, FileRead)])
    calls = [candidate for candidate in candidates if not isinstance(candidate.event, (KeyUse, FileRead))]
    candidates = [candidate for candidate in candidates if isinstance(candidate.event, KeyUse)]
    collisions = {(candidate.path, candidate.start) for candidate in candidates}
    calls = [candidate for candidate in calls if (candidate.path, candidate.start) not in collisions]
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
    left = [c for c in left if not meetings.are_compared(c.event)]
    apart = [replace(c, preview=True) for c in left if meetings.never_meet(c.event, c.start)]
    events = {id(c.event) for c in apart}
    met = [c for c in left if id(c.event) not in events]
    apart = [c for c in apart if c.event.intent in _LIKELY_OVERLOOKED]
    return [*walked, *calls, *_one_for_each_key(met, by_cell=True), *_one_for_each_key(apart, by_cell=False)]


def _without_known(walked: list[Candidate], others: list[Candidate]) -> list[Candidate]:
    """Of what the code of a file shows, what no other report near it tells of the same function or cell: the first of each."""
    left = apart_from(walked, others, _STRETCH, _block_of)
    clusters: dict[Hashable, list[int]] = {}
    for one in sorted(left, key=lambda c: c.start):
        rows = clusters.setdefault((one.code, _block_of(one)), [])
        if not rows or reported_row(one) - rows[-1] > _APART:
            rows.append(reported_row(one))

    def cluster(candidate: Candidate) -> Hashable:
        rows = clusters[candidate.code, _block_of(candidate)]
        return candidate.code, _block_of(candidate), bisect_right(rows, reported_row(candidate))

    return first_of_each(left, cluster)


def _block_of(candidate: Candidate) -> Hashable:
    """The function around a report, or its cell; of a script, all of it."""
    scope, start = candidate.event.context.scope, candidate.start
    around = [n for n in nodes_around(scope.tree.body, start, start + 1) if isinstance(n, ir.FunctionDef)]
    return candidate.path, around[-1].start if around else -scope.cell_of(start)


_STRETCH = 20
_APART = 8
"""So many lines further down, a reader looks for another report."""


_LIKELY_OVERLOOKED = frozenset({"", "fixed", "constant"})
"""What may say that equal draws are meant, and does not excuse a further use of the key in another cell."""


def _one_for_each_key(candidates: list[Candidate], *, by_cell: bool) -> list[Candidate]:
    """Of reports on further uses of one key, keep the first of a file, or of a cell of a notebook: of the errors, if there are
    any, because two equal draws may be meant, and the split that follows them not.

    Keys are distinguished by name and first use.
    """
    groups: dict[tuple[object, ...], list[Candidate]] = {}
    cells: dict[str, Rows] = {}
    # What is no preview, and no note, comes first: it stands for the others.
    for candidate in sorted(candidates, key=lambda one: (*_rank(one.event), one.path, one.start)):
        event: KeyUse = candidate.event
        earlier = event.earlier
        if earlier is None or event.in_loop or event.same_call:
            groups[id(candidate),] = [candidate]
            continue
        scope, cell = event.context.scope, 0
        origin: tuple[object, ...] = (earlier.scope.path, earlier.start)
        if candidate.path.endswith(SUFFIX):
            origin = (id(canonical_key(event.key)),)
            if by_cell:
                if candidate.path not in cells:
                    cells[candidate.path] = Rows(scope.text)
                cell = cells[candidate.path].place(bisect_right(scope.tree.line_starts, candidate.start))[0]
        groups.setdefault((candidate.path, cell, candidate.code, origin, *_identity(event)), []).append(candidate)
    kept: list[Candidate] = []
    rows: dict[str, list[int]] = {}
    for first, *_ in groups.values():
        rows.setdefault(first.path, []).append(reported_row(first))
    for first, *others in groups.values():
        kept += _far_from(rows[first.path], others)
        known = {(step.path, step.start) for step in first.uses}
        again = [step for other in others[:MAX_USES] for step in _again(other)]
        more = [step for step in again if (step.path, step.start) not in known]
        kept.append(replace(first, uses=(*first.uses, *dict.fromkeys(more))) if more else first)
    return kept


def _far_from(rows: list[int], others: list[Candidate]) -> list[Candidate]:
    """Some of the further uses that are far from all rows with a report on a key: a preview shows them as well."""
    found: list[Candidate] = []
    for other in sorted(others, key=lambda one: one.start):
        is_far = all(abs(reported_row(other) - row) > _APART for row in rows)
        if is_far and len(found) < _FURTHER and not is_test(other.event.context):
            rows.append(reported_row(other))
            found.append(replace(other, preview=True))
    return found


_FURTHER = 2


def _rank(event: KeyUse) -> tuple[bool, bool]:
    """How little a report says for certain: the lowest stands for the others of its key."""
    return any(event.callees), level_of_use(event) is not None


def _again(candidate: Candidate) -> list[Step]:
    """A further use of a key: where the report on it stands."""
    site = Site(candidate.event.context.scope, candidate.start, candidate.start)
    return [_step(site, USED_AGAIN)]
