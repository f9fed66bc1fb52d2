"""What has to be seen for a finding to be true: the functions of which the oracles of the rules are made.

Vocabulary
----------
judge    a function from observations to a verdict.
oracle   a judge, and the way of running that it needs (``mode``, see ``child.observe``); ``oracles`` has one for a rule.
seen     confirmed with a sentence that counts. not seen: the line ran the way the rule means, and nothing happened.

A line that did not run says nothing. Whatever is refuted is so for the inputs of this run alone.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from flake8_jax.core.findings import Verdict
from flake8_jax.runtime_checks.child.comparing import LOST
from flake8_jax.runtime_checks.compiling import (
    FLOWS,
    around,
    explained,
    grouped,
    is_explained_by,
    rows_around_line,
    run_around,
    turns,
)
from flake8_jax.runtime_checks.observations import Observations, Seen, error_in_words, line_in_words

Judge = Callable[[Observations], Verdict]
STAGED = ("abstract", "concrete")


class Oracle(NamedTuple):
    """mode: how the workload is run for it. keeps_old: whether replaced local variables are looked at.
    measures: what it sees depends on the device, not on tracing alone."""

    judge: Judge
    mode: str = "plain"
    keeps_old: bool = False
    measures: bool = False


def _confirmed(reason: str, **details: object) -> Verdict:
    return Verdict("confirmed", reason, details=dict(details))


def _refuted(reason: str) -> Verdict:
    return Verdict("refuted", reason)


def _unclear(seen: str, advice: str) -> Verdict:
    """advice: what the user can do to get an answer."""
    return Verdict("inconclusive", f"{seen}; {advice}")


UNJITTED = "never under `jit`"
"""Said of a line that ran and raised no error of a tracer, where JAX made no tracers without values."""
MORE_ITERATIONS = "use a run with more iterations"
NEVER_RAN: dict[str, object] = {"ran": False}
"""Details of a verdict on a line to which no run came, so that the verdict says nothing of the finding."""
NOT_REACHED = Verdict("inconclusive", "the line did not run; use a command that runs it", details=NEVER_RAN)


def times_in_words(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


# --- exceptions -----------------------------------------------------------------------------------------------


def raises(*types: str, message: str = "", anywhere: str = "", staged: bool = False, named: bool = False) -> Judge:
    """Make a judge that confirms if the line raises an exception of one of these types.

    message: a pattern that its message must contain. anywhere: a pattern for messages of errors that a call of what the
    line defines raises elsewhere, after the line ran. staged: count only exceptions raised while JAX traces. named:
    ignore an exception that says that another name than that of the finding is missing.
    """
    pattern = re.compile(message)
    of_tracers = staged or any(re.search("Tracer|Concret", name) for name in types)

    def fits(seen: Seen, name: str) -> bool:
        found = bool(set(types) & set(seen["bases"])) and bool(pattern.search(seen["message"]))
        found = found and not seen.get("foreign")
        return found and not (staged and seen["state"] == "eager") and not (named and _lacks_another(seen, name))

    def judge(o: Observations) -> Verdict:
        is_it = functools.partial(fits, name=o.name)
        here = [seen for seen in o.through("raised") if is_it(seen)]
        exact = [seen for seen in here if not o.misses(seen)]
        if exact:
            return _raised(exact[0])
        if here:
            return _elsewhere(here[0], here[0]["stack"][0][1], "")
        if anywhere and o.visits():
            others = [
                s for s in o.all.get("raised", ()) if is_it(s) and re.search(anywhere, s["message"], re.IGNORECASE)
            ]
            if others:
                return _raised(others[0])
        near = [seen for seen in o.all.get("raised", ()) if is_it(seen) and o.is_in_function(seen)]
        near = [seen for seen in near if o.precedes(seen) and (message or _is_of_jax(seen))]
        if near and not o.visits():
            return _elsewhere(near[0], near[0]["stack"][0][1])
        other = [*o.here("raised"), *(seen for seen in o.through("raised") if seen.get("foreign"))]
        if other:
            return Verdict("blocked", f"another error comes first: {error_in_words(other[0])}")
        if not o.visits():
            return NOT_REACHED
        if anywhere:
            return _unclear(
                "the line ran, but nothing called what it defines in a way that fails", "use a command that calls it"
            )
        beside = [seen for seen in o.all.get("raised", ()) if is_it(seen) and o.beside(seen) is not None]
        beside = [seen for seen in beside if message or _is_of_jax(seen) or _is_of_statement(o, seen)]
        if beside:
            row = o.beside(beside[0])
            return _elsewhere(beside[0], row, "statement" if row in o.statement else "function")
        states = " and ".join(sorted(o.watch.get("visits", {})))
        unjitted = f", {UNJITTED}," * (of_tracers and not o.visits("abstract"))
        return _refuted(f"the line ran {times_in_words(o.visits())} ({states}){unjitted} and raised nothing")

    return judge


_OF_JAX = re.compile(r"\b(?:jax|flax|optax|equinox|haiku|orbax|chex|ShapedArray)\b|Tracer|\btraced\b", re.IGNORECASE)


def _is_of_jax(seen: Seen) -> bool:
    """Whether JAX or a library for it raised an exception, so that the cause may be what a rule of ours is about: its type says
    so, its message, or the code that raised it (``origin``, where that is known)."""
    if seen["type"] not in _GENERIC or "origin" not in seen:
        return True
    return bool(_OF_JAX.search(seen["origin"]) or _OF_JAX.search(seen["message"]))


def _is_of_statement(o: Observations, seen: Seen) -> bool:
    """Whether Python itself raised an exception in the statement: a call of several rows fails on its first one."""
    return not seen.get("origin") and any(
        place[0] == o.spot.path and place[1] in o.statement for place in seen["stack"][:1]
    )


_LACKING = re.compile(
    r"has no attribute '(\w+)'|cannot import name '(\w+)'|No module named '(?:\w+\.)*(\w+)'"
    r"|^(?:\w+\.)*(\w+) (?:was|is|has been) (?:removed|deprecated)"
)


def _lacks_another(seen: Seen, name: str) -> bool:
    """An exception says which name is missing, and it is no part of this one (empty: of an unknown one)."""
    match = _LACKING.search(seen["message"])
    return bool(name and match and next(filter(None, match.groups())) not in name.split("."))


def _elsewhere(seen: Seen, row: int | None, what: str = "function") -> Verdict:
    found = _raised(seen)
    where = f"line {row} of the same {what}" if what else f"another part of line {row}"
    return Verdict("confirmed-elsewhere", f"{where}: {found.reason}", details=found.details)


def _raised(seen: Seen) -> Verdict:
    place = seen["stack"][0]
    return _confirmed(
        error_in_words(seen),
        exception={"type": seen["type"], "bases": seen["bases"], "message": seen["message"]},
        path=place[0],
        row=place[1],
    )


def unless_it_works(judge: Judge, why: str, state: str = "") -> Judge:
    """Make a judge for errors of other releases of JAX: if nothing is raised here (in a state of tracing), that refutes
    nothing. Its reason quotes warnings that a later release will raise.
    """

    def unclear(o: Observations) -> Verdict:
        verdict = judge(o)
        if verdict.verdict != "refuted" or (state and not o.visits(state)):
            return verdict
        said = [seen["message"] for seen in o.through("warnings") if seen["name"] in _OF_LATER_RELEASES]
        warns = f", and warns: {said[0][:160]}" if said else ""
        return _unclear(f"{verdict.reason}: {why}{warns}", "use --python with another release of JAX")

    return unclear


_OF_LATER_RELEASES = ("DeprecationWarning", "FutureWarning")


_GENERIC = {
    "TypeError", "ValueError", "IndexError", "KeyError", "AttributeError", "AssertionError", "NameError", "RuntimeError",
    "ZeroDivisionError", "NotImplementedError",
}  # fmt: skip
_UNFIT = re.compile(
    r"'(?:float|int|bool|complex|str|NoneType|tuple|list|dict|set)' object|'ArrayImpl' object|required positional|"
    r"unexpected keyword|positional argument|incompatible shapes|got shapes|shapes? .*must|broadcast|dot_general|unpack|"
    r"inconsistent sizes|rank should be at least|not callable|size mismatch|must be equal|out of bounds|division by zero"
)


def is_artefact(verdict: Verdict) -> bool:
    """Return whether made-up inputs may be the cause of a confirmation: an error that a wrong shape or dtype of an
    argument raises, or numbers that are not finite.
    """
    if verdict.details.get("nonfinite"):
        return True
    exception: Any = verdict.details.get("exception") or {}
    return exception.get("type") in _GENERIC and bool(_UNFIT.search(exception.get("message", "")))


# --- what runs while JAX traces ----------------------------------------------------------------------------------


def runs_staged(what: str, mapped: str = "") -> Judge:
    """Make a judge that confirms if the line runs while JAX traces: its effect then happens once per compilation, not
    once per call.

    mapped: what is so even where ``grad`` or ``vmap`` runs the line operation by operation, in every call.
    """

    def judge(o: Observations) -> Verdict:
        visits, mapped_visits = o.visits("abstract"), o.visits("concrete")
        if visits:
            return _confirmed(f"{what}: it ran {times_in_words(visits)} while JAX traced", visits=o.watch["visits"])
        if mapped and mapped_visits:
            said = f"{mapped}: it ran {times_in_words(mapped_visits)} while JAX differentiated or mapped its function"
            return _confirmed(said, visits=o.watch["visits"])
        raised = [seen for seen in o.through("raised") if seen["state"] != "eager" and _is_of_jax(seen)]
        if raised:
            return _raised(raised[0])
        if mapped_visits:
            said = (
                f"the line ran {times_in_words(mapped_visits)} while JAX differentiated or mapped its function"
                " outside of jit, which runs it in every call"
            )
            return _unclear(said, "use a command that compiles its function")
        if o.visits():
            return _refuted(f"the line ran {times_in_words(o.visits())}, never while JAX traced")
        return NOT_REACHED

    return judge


def is_constant(o: Observations) -> Verdict:
    """Confirm if the name in the finding was an array, not a tracer, while JAX traced."""
    size = o.watch.get("constant", 0)
    if size:
        return _confirmed(
            f"while JAX traced, it was an array of {size} bytes and no argument of the program", bytes=size
        )
    if o.watch.get("was_tracer"):
        return _refuted("while JAX traced, it was an argument of the program, or computed from one")
    return runs_staged("the array becomes a constant of the program")(o)


def unless_passed(judge: Judge) -> Judge:
    """Make a judge that asks, of what stands in the default of a parameter, whether calls leave that argument out."""

    def judged(o: Observations) -> Verdict:
        name = o.watch.get("parameter", "")
        if not name or not o.visits():
            return judge(o)
        left_out, given = o.watch["left_out"], o.watch["given"]
        if left_out:
            return _confirmed(f"the function was called {times_in_words(left_out)} without `{name}`", calls=left_out)
        if given:
            return _refuted(f"the function was called {times_in_words(given)}, each time with `{name}`")
        return _unclear(
            f"the function was not called, so the default of `{name}` was not used", "use a command that calls it"
        )

    return judged


def runs(what: str) -> Judge:
    """Make a judge that confirms if the line runs at all, because the rule's claim follows from that."""

    def judge(o: Observations) -> Verdict:
        return (
            _confirmed(f"{what}: it ran {times_in_words(o.visits())}", visits=o.watch["visits"])
            if o.visits()
            else NOT_REACHED
        )

    return judge


def repeats_eagerly(least: int, what: str) -> Judge:
    """Make a judge that confirms if the line runs at least ``least`` times outside tracing and does the same work each
    time.
    """

    def judge(o: Observations) -> Verdict:
        count = o.visits("eager")
        if count >= least:
            return _confirmed(
                f"the line ran {times_in_words(count)} outside of tracing and {what} each time", visits=count
            )
        return (
            _unclear(f"the line ran {times_in_words(count)} outside of tracing", MORE_ITERATIONS)
            if o.visits()
            else NOT_REACHED
        )

    return judge


def either(*judges: Judge) -> Judge:
    """Make a judge that takes the first verdict that confirms; otherwise the first that says more than that the line
    did not run.
    """

    def judge(o: Observations) -> Verdict:
        verdicts = [single(o) for single in judges]
        confirmed = next((v for v in verdicts if v.verdict == "confirmed"), None)
        return confirmed or next((v for v in verdicts if v is not NOT_REACHED), NOT_REACHED)

    return judge


def unrolls(least: int) -> Judge:
    """Make a judge that confirms if the line runs at least ``least`` times in one trace."""

    def judge(o: Observations) -> Verdict:
        count = o.watch.get("inside", 0) or o.most(*STAGED)  # the head of a loop also runs when the loop ends
        went = o.watch.get("turns", 0) or count
        said = f"one trace went through the loop {times_in_words(went)}"
        if went < count:
            said += f", through a loop inside it {times_in_words(count)} in all"
        if count >= least:
            return _confirmed(f"{said}, and holds as many copies", copies=count)
        return _unclear(said, "use inputs that make the loop longer") if count else NOT_REACHED

    return judge


def iterates_tracer(o: Observations) -> Verdict:
    """Confirm if Python iterated over a tracer at the line."""
    found = [seen for seen in o.through("calls") if seen["name"] == "__iter__"]
    if found:
        return _confirmed("Python iterated a tracer here: each element became operations of its own")
    advice = "use a command that traces the line, for example under jit"
    return _unclear("the line iterated no tracer", advice) if o.visits() else NOT_REACHED


def compares_nan(o: Observations) -> Verdict:
    """Confirm if the line compared an array with NaN by ``==`` or ``!=``."""
    found = [seen for seen in o.through("calls") if seen["name"] in ("__eq__", "__ne__")]
    if found:
        return _confirmed("an array was compared with NaN, which is never equal to anything")
    return runs("the comparison with NaN was evaluated")(o)


# --- compilations ------------------------------------------------------------------------------------------------


def compiles_again(
    *,
    what: str,
    traces: bool = False,
    across_runs: bool = False,
    here: bool = False,
    each: bool = False,
    alike: bool = False,
) -> Judge:
    """Make a judge that confirms if JAX compiles the same function more than once, in one run of the function around
    the line or, with across_runs, in several; of a loop, what was compiled before it or after it does not count.

    traces: count traces too. here: tell compilations for another line of the function apart. each: only what the line itself
    has compiled counts, and what it has in less than half of its runs is an operation that met new shapes. Where each or
    alike, compilations count that were for arguments of equal types and in different runs of the line: others say nothing,
    because the code that the rule advises compiles as often.
    """

    def judge(o: Observations) -> Verdict:
        found = around(o, "compilations")
        if traces:  # JAX traces operations for each new shape, too: elsewhere in the function, those say nothing
            found = [*found, *(seen for seen in around(o, "tracings") if o.spot.is_on(seen["stack"]))]
        if each:
            found = [seen for seen in found if o.spot.is_on(seen["stack"])]
        elif o.loop:
            found = [seen for seen in found if not o.loop.isdisjoint(rows_around_line(o, [seen]))]
        if alike:  # a loop of JAX may be compiled for other reasons than its body
            found = [seen for seen in found if seen["name"] not in FLOWS or is_explained_by(o, seen)]
        count = functools.partial(turns, o) if each or alike else len
        groups = grouped(o, found, across_runs=across_runs, typed=each or alike)
        best = max(groups, key=count, default=[])
        visits = o.visits("eager") if across_runs else o.most("eager")
        followed = min(visits, len(o.watch.get("moments", ())) or visits)
        if count(best) >= max(2, followed / 2 if each else 0) and visits >= 2:
            reason = next((seen["reason"] for seen in reversed(best) if seen.get("reason")), "")
            name = best[0]["name"] or "the function"
            seconds = sum(seen["seconds"] for seen in best)
            again = _confirmed(
                f"{what}: {times_in_words(count(best))} `{name}`, {seconds:.3g} s in all", compilations=count(best),
                seconds=seconds, why=reason,
            )  # fmt: skip
            rows = rows_around_line(o, best)
            if here and rows.isdisjoint({*o.statement, *range(o.spot.first, o.spot.last + 1)}):
                elsewhere = f"line {min(rows)} of the same function: {again.reason}"
                return Verdict("confirmed-elsewhere", elsewhere, details=again.details)
            return again
        if not o.visits():
            return NOT_REACHED
        return (_compiled_otherwise(o, found) if alike or each else None) or _compiled_once(o, visits)

    return judge


def _compiled_otherwise(o: Observations, found: Sequence[Seen]) -> Verdict | None:
    """What decides nothing: compilations for other types, and those of a loop of JAX that may run what the line makes."""
    best = max(grouped(o, found, across_runs=True, typed=False), key=functools.partial(turns, o), default=[])
    if turns(o, best) >= 2:
        said = f"JAX compiled `{best[0]['name'] or 'the function'}` in {turns(o, best)} runs of the line"
        types = [seen.get("signature", "") for seen in best]
        if all(types) and len(set(types)) == len(types):
            said += ", and each time for arguments of other types"
        return _unclear(said, "read whether these are needed, or use a run in which the types repeat")
    flows = [
        seen for seen in o.all.get("compilations", ()) if seen["name"] in FLOWS and run_around(o, seen) is not None
    ]
    best = max(grouped(o, flows, across_runs=True, typed=False), key=functools.partial(turns, o), default=[])
    if turns(o, best) < 2:
        return None
    where = ", ".join(map(str, sorted(rows_around_line(o, best))))
    said = f"JAX compiled `{best[0]['name']}` in {turns(o, best)} runs of the line (line {where} of the same function)"
    return _unclear(said, "read whether that runs the function that this line compiles, which then causes it")


def _compiled_once(o: Observations, visits: int) -> Verdict:
    advice = "use inputs that differ as in real use" if visits >= 2 else MORE_ITERATIONS
    return _unclear(f"the line ran {times_in_words(o.visits())}, and JAX compiled nothing again for it", advice)


def lengthens(o: Observations) -> Verdict:
    """Confirm if JAX compiles an operation of the line for arguments of several shapes, in one run of its function."""
    shapes: dict[tuple[int | None, str], set[str]] = {}
    for seen in o.through("compilations"):
        shapes.setdefault((o.run_of(seen), seen["name"]), set()).add(seen.get("signature", ""))
    (_, name), most = max(shapes.items(), key=lambda item: len(item[1]), default=((None, ""), set()))
    if len(most) >= 2:
        shown = f"`{name}` of the line" if name else "an operation of the line"
        return _confirmed(f"JAX compiled {shown} for {len(most)} shapes of its arguments", shapes=len(most))
    advice = "use inputs that differ as in real use"
    return _unclear("JAX compiled nothing of the line for several shapes", advice) if o.visits() else NOT_REACHED


def compiles_operations(least: int, often: int = 16) -> Judge:
    """Make a judge that confirms if JAX compiles at least ``least`` operations of the line one by one; or fewer, where other
    lines had the rest compiled, if the line runs again outside of tracing; or none, if it does so ``often``.
    """

    def judge(o: Observations) -> Verdict:
        found = o.through("compilations")
        names = sorted({seen["name"] for seen in found})
        count = o.visits(*_RUNNING)
        if len(names) >= least and (o.visits("eager") or not count):  # vmap without jit compiles one by one, too
            return _compiled_singly(names)
        if not o.visits():
            return NOT_REACHED
        if not count:
            ran = f"the line ran only under transforms ({times_in_words(o.visits())})"
            said = f"{ran}, and JAX compiled too little of it singly"
            return _unclear(
                said, "read whether jit is among them, or use a command that calls its function outside of jit"
            )
        if _is_compiled_inside(o):
            said = "JAX traced the function that the line calls less often than the line ran, as jit does"
            return _unclear(said, "read whether what it calls is compiled, or use a command that calls it without jit")
        single = sorted({seen["name"] for seen in found if not explained(seen)})
        if single and count >= 2:
            return _compiled_singly(single)
        ran = f"the line ran {times_in_words(count)} outside of jit"
        if count >= often:
            return _confirmed(f"{ran}, and each time its operations were called one by one", visits=count)
        said = f"{ran}, and JAX had compiled its operations for other lines"
        return _unclear(said, f"use a run that comes to it at least {often} times")

    return judge


_RUNNING = ("eager", "concrete")


def _compiled_singly(names: list[str]) -> Verdict:
    count = f"{len(names)} operations" if len(names) > 1 else "an operation"
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return _confirmed(f"JAX compiled {count} of the line one by one: {shown}", operations=len(names))


_SHOWN = 4
"""So many operations are named."""


def _is_compiled_inside(o: Observations) -> bool:
    """Whether the line led to a function while JAX traced, but not each time that it ran: what jit does."""
    calls, runs_ = o.watch.get("entered", 0), o.watch.get("entered_runs", 0)
    return bool(calls) and (calls < o.most(*_RUNNING) or runs_ < o.runs("eager"))


def traces_again(o: Observations) -> Verdict:
    """Confirm if Python runs the traced function again in every iteration, whether or not JAX compiles it again.

    The loop is around the line, or around a call that leads to it.
    """
    count, runs_ = o.watch.get("entered", 0), o.watch.get("entered_runs", 0)
    if count >= 2 and o.most("eager") >= 2:
        around = "the program" if o.watch.get("functions") == ["<module>"] else "the function around the line"
        said = f"JAX traced the function {times_in_words(count)} in one run of {around}"
        return _confirmed(said, traces=count)
    if runs_ >= 2 and runs_ >= o.runs("eager") > 0:
        return _confirmed(f"JAX traced the function in each of {runs_} runs of the line", traces=runs_)
    if o.most("eager") >= 2:
        said = (
            f"the line ran {times_in_words(o.most('eager'))} in one run of its function, and JAX traced nothing again"
        )
        return _unclear(
            said, "read whether the loop makes the transform again, which takes time that jaxlint does not measure"
        )
    return _unclear("JAX traced no function twice", MORE_ITERATIONS) if o.visits() else NOT_REACHED


def compiled_in_region(o: Observations) -> Verdict:
    """Confirm if JAX compiled something at the line, whose run is timed."""
    found = o.through("compilations")
    if found:
        seconds = sum(seen["seconds"] for seen in found)
        count = f"{len(found)} compilations" if len(found) > 1 else "a compilation"
        return _confirmed(f"{count} on the line, {seconds:.3g} s, fell into the time that is measured", seconds=seconds)
    advice = "use a command that does not call the function before"
    return _unclear("JAX compiled nothing on the line", advice) if o.visits() else NOT_REACHED


# --- waits, timers, settings ---------------------------------------------------------------------------------------


def waits_in_loop(o: Observations) -> Verdict:
    """Confirm if the line waited for the device at least twice in one run of the function that has the loop, or, of a finding
    without a loop, in at least two runs of its function. To read an array that is ready is no wait."""
    reads = [seen for seen in o.through("waits") if seen["state"] == "eager"]
    what = "the line"
    if not reads and o.visits():  # Python counts the tests of `a or b` over several lines to the first of these
        reads, what = o.of_statement("waits"), "the statement of the line"
    waits = [seen for seen in reads if seen.get("ready") is not True]
    did = "waited for the device" if all(seen.get("ready") is False for seen in waits) else "read arrays of JAX"
    counts = o.in_one_run(waits)
    busiest = max(counts, key=lambda key: counts[key], default=None)
    most = counts[busiest] if busiest is not None else 0
    if busiest is not None and most >= 2:
        names = (place[2] for seen in waits for place in seen["stack"] if place[3] == busiest[0])
        function = next(names, "")
        where = "the program" if function in ("", "<module>") else f"`{function}`"
        return _confirmed(f"{what} {did} {times_in_words(most)} in one run of {where}", waits=most)
    if not o.visits():
        return NOT_REACHED
    runs_ = {busy[0] for busy in counts}
    if most and len(runs_) >= 2 and not o.loop and not o.chain:  # the finding is about a step that some loop calls
        return _confirmed(f"{what} {did} in {len(runs_)} runs of its function", waits=sum(counts.values()))
    if len(reads) > len(waits):
        most_reads = max(o.in_one_run(reads).values())
        ready = f"the array was ready {times_in_words(len(reads) - len(waits))}" if waits else "each array was ready"
        said = f"{what} read arrays of JAX {times_in_words(most_reads)} in one run of its function, and {ready}"
        return _unclear(said, "use larger inputs, or the device for which the program is meant")
    if most:
        return _unclear(f"{what} {did} once in each run of its function", MORE_ITERATIONS)
    return _unclear(
        "no wait for the device was seen; waits inside NumPy, as in `a[i] = x` or `np.mean(x)`, cannot be seen",
        "read whether the line gives NumPy an array of JAX, or use a run in which it reads one",
    )


def work_is_pending(o: Observations) -> Verdict:
    """Confirm if the device was still computing arrays when the clock was read."""
    if o.watch.get("pending"):
        return _confirmed("arrays were still being computed when the clock was read")
    advice = "use larger inputs, and assign what the timed code computes to variables"
    said = "the arrays that the program still held were ready when the clock was read; results that it had dropped are unknown"
    return _unclear(said, advice) if o.visits() else NOT_REACHED


def set_too_late(o: Observations) -> Verdict:
    """Confirm if JAX was imported, or its backends had started, before the line set an option."""
    if not o.visits():
        return NOT_REACHED
    if o.watch.get("started"):
        return _confirmed("JAX had been imported and its backends started when the line ran")
    if o.watch.get("imported"):
        return _confirmed("JAX had been imported when the line ran")
    return _refuted("the line ran before JAX was imported")


def cut_to_32_bits(o: Observations) -> Verdict:
    """Confirm if 64-bit types are off and the line ran, or JAX warned about a dtype there."""
    warning = warned("UserWarning", "dtype")(o)
    if warning.verdict == "confirmed" or not o.visits():
        return warning
    if o.all.get("x64"):
        return _refuted("64-bit types were switched on in this run")
    return _confirmed(f"64-bit types are off, and the line ran {times_in_words(o.visits())}")


def warned(category: str, message: str = "") -> Judge:
    """Make a judge that confirms if the line itself gives a warning of the category whose text contains the pattern
    ``message`` (if there is none, the name in the finding, or JAX or a library for it).
    """

    def judge(o: Observations) -> Verdict:
        name = o.name.rpartition(".")[2]
        pattern = re.compile(message) if message else re.compile(rf"\b{re.escape(name)}\b") if name else _OF_JAX
        for seen in o.here("warnings"):
            if seen["name"] == category and pattern.search(seen["message"]):
                return _confirmed(f"{category}: {seen['message'][:200]}")
        advice = "use --python with another release of JAX"
        return _unclear("the installed JAX gave no such warning here", advice) if o.visits() else NOT_REACHED

    return judge


def keeps_both(o: Observations) -> Verdict:
    """Confirm if the program replaces a variable by another array of its size while the old one still occupies memory
    (bytes).
    """
    size = o.watch.get("kept", 0)
    if size:
        return _confirmed(f"{size} bytes were replaced by arrays of the same size and not released", bytes=size)
    if not o.visits():
        return NOT_REACHED
    if o.most() < 2:
        return _unclear("the line did not run twice in one call", MORE_ITERATIONS)
    return _unclear("the replaced arrays had been released", "use inputs of real size")


# --- keys ----------------------------------------------------------------------------------------------------------


class Repeat(NamedTuple):
    """A key that the line consumed ``again``: the same bytes from the same construction as ``before``, by the same caller."""

    before: list[Seen]
    again: Seen


def _repeats(o: Observations) -> Iterator[Repeat]:
    used: dict[tuple[int | None, int, str], list[Seen]] = {}
    for seen in o.all.get("draws", ()):
        key = seen["key"] + (f"+{seen['about']}" if seen["name"] == "fold" else "")
        invocation = o.invocation(seen)
        before = used.setdefault((invocation, seen.get("made", 0), key), [])
        if before and invocation is not None and o.spot.is_on(seen["stack"]):
            yield Repeat(list(before), seen)
        before.append(seen)


def key_repeats(least: int = 1) -> Judge:
    """Make a judge that confirms if the line consumes a key that was consumed before, and both uses are those that the finding
    names. least: how often the line has to run in one call before new keys refute the finding.
    """

    def judge(o: Observations) -> Verdict:
        other: Repeat | None = None
        for repeat in _repeats(o):
            named = [use for use in repeat.before if o.first.is_on(use["stack"])]
            if named and o.again.is_on(repeat.again["stack"]):
                return _confirmed(
                    f"the same key was consumed {times_in_words(len(named) + 1)} ({_use(named[0])} on "
                    f"{_line_of(o, named[0])}, then {_use(repeat.again)} here)",
                    first=named[0]["stack"][:3],
                    again=repeat.again["stack"][:3],
                )
            other = other or repeat
        errors = [seen for seen in o.through("raised") if seen["type"] == "KeyReuseError"]
        if errors:
            return _raised(errors[0])
        if other is not None:
            return _other_use(o, other)
        if not o.visits():
            return NOT_REACHED
        if not any(o.spot.is_on(seen["stack"]) for seen in o.all.get("draws", ())):
            if missed := o.all.get("unwatched_draws", 0):
                said = f"{missed} uses of keys in this run were not watched, and none that was is of this line"
                return _unclear(said, "use a run with fewer iterations")
            if not o.visits("eager"):
                seen = "the line ran only while JAX traced, where keys have no values"
                return _unclear(
                    seen, "use a command that calls its function outside of vmap, cond and other transforms"
                )
            return _unclear("the line consumed no key", "use inputs for which it draws random numbers")
        if missed := o.all.get("unwatched_draws", 0):
            said = f"every key consumed here was new, but {missed} further uses of keys in this run were not watched"
            return _unclear(said, "use a run with fewer iterations")
        if o.most() < least:
            return _unclear("the line ran once in each call", MORE_ITERATIONS)
        if not any(o.first.is_on(seen["stack"]) for seen in o.all.get("draws", ())):
            first = line_in_words(*o.first.places[0][:2], o.spot.path)
            return _unclear(
                f"every key consumed here was new, and none was seen to be consumed first on {first}, as the finding says",
                "use a command that runs both lines",
            )
        return _refuted("every key consumed here was new")

    return judge


def _other_use(o: Observations, repeat: Repeat) -> Verdict:
    """The line consumed a key again, but not by the two uses that the finding names."""
    first = repeat.before[0]
    seen = f"{_use(first)} on {_line_of(o, first)}, then {_use(repeat.again)} here"
    named = [line_in_words(path, row, o.spot.path) for path, row, _ in (*o.first.places[:1], *o.again.places[:1])]
    verdict = _unclear(
        f"the same key was consumed twice ({seen}), but not first on {named[0]} as the finding says"
        if not o.first.is_on(first["stack"])
        else f"the same key was consumed twice ({seen}), but not by {named[-1]} as the finding says",
        "use a command in which the lines that it names use the key",
    )
    return msgspec.structs.replace(verdict, details={"first": first["stack"], "again": repeat.again["stack"]})


def _use(seen: Seen) -> str:
    """What consumed a key: the function of ``jax.random`` that was called, which may split inside."""
    return str(seen.get("called") or seen["name"])


def _line_of(o: Observations, seen: Seen) -> str:
    return line_in_words(*(o.place(seen) or (o.spot.path, 0)), o.spot.path)


def shared_by_elements(o: Observations) -> Verdict:
    """Confirm if all batch elements of a vmap used one key."""
    mapped = [seen for seen in o.through("draws") if seen["mapped"] and not seen["shape"]]
    if mapped:
        return _confirmed("under vmap one single key was used for all batch elements: they draw the same numbers")
    advice = "use a command that maps over it with vmap"
    return _unclear("the line used no key that batch elements share", advice) if o.visits() else NOT_REACHED


def returns_nonfinite(o: Observations) -> Verdict:
    """Confirm if the line returned infinities or NaN from its function, whose arguments were finite."""
    count = o.watch.get("nonfinite", 0)
    if count:
        said = f"from finite arguments, the line returned infinities or NaN {times_in_words(count)}"
        return _confirmed(said, nonfinite=count)
    advice = "use inputs at the limits, such as 0 or very large numbers"
    return _unclear("no infinity or NaN came from the line on these inputs", advice) if o.visits() else NOT_REACHED


def loses_digits(o: Observations) -> Verdict:
    """Confirm if the formula and its stable form differ by more than ``LOST`` (relative) on the same values, in a value or a
    gradient that the program goes on with.
    """
    alone, apart, slope = (o.watch.get(name, 0.0) for name in ("alone", "apart", "slope"))
    if apart >= LOST:
        how = (
            "is not finite where the stable one is"
            if apart > 1e30
            else f"differs from the stable one by up to {apart:.1%} of an element"
        )
        return _confirmed(f"on the values of this run the formula {how}", relative_difference=apart)
    if slope >= LOST:
        how = (
            "is not finite where that of the stable one is"
            if slope > 1e30
            else f"differs from that of the stable one by up to {slope:.1%}"
        )
        return _confirmed(f"on the values of this run the gradient of the formula {how}", relative_difference=slope)
    if not o.visits():
        return NOT_REACHED
    if not o.watch.get("compared", 0):
        said = "jaxlint could not compute the formula and its stable form on the values of this run"
        if not o.watch.get("has_formula", True):
            said = "jaxlint knows no stable form of this formula that it could compute on the values of this run"
        return _unclear(said, "use float64 (jax_enable_x64) and compare the results")
    if alone >= LOST:
        how = "not finite where the stable one is" if alone > 1e30 else f"up to {alone:.1%} from the stable one"
        said = f"the formula is {how} in an element, but that changes no value and no gradient that the program uses"
        return _unclear(said, "use a command that uses this value")
    agree = f"on {_many(o.watch['compared'])} the formula and the stable one agree"
    return _unclear(agree, "use inputs at the limits, such as very small or very large numbers")


def _many(count: int) -> str:
    return "the values of one visit" if count == 1 else f"the values of {count} visits"


_FINITE_SLOPE = ("log", "log1p", "atanh")
"""Operations whose derivative is finite where they are NaN."""


def nan_in_gradient(o: Observations) -> Verdict:
    """Confirm if, with ``jax_debug_nans``, the first NaN is of the line: an operation of its gradient, or one of its own whose
    gradient is NaN as well, where JAX differentiates the line.
    """
    advice = "use a command that takes it, with values on both sides of the condition and far from it"
    found = o.all.get("nans", ())
    if o.visits() and not o.watch.get("derived"):
        said = "nothing took the gradient of the line in this run"
        return _unclear(f"{said}{_nan_in_words(o, found)}", advice)
    for seen in found:
        is_proof = seen["kind"] == "gradient" or (
            (seen.get("derived") or o.watch.get("derived")) and seen["name"] not in _FINITE_SLOPE
        )
        if not is_proof:
            continue
        what = "its gradient" if seen["kind"] == "gradient" else "the value that JAX differentiates"
        reason = f"with `jax_debug_nans`, `{seen['name']}` gave NaN in {what}"
        if o.is_of_statement(seen["source"]):
            return _confirmed(reason, operation=seen["name"])
        row = o.row_above(seen["source"])
        if row is not None:
            return Verdict("confirmed-elsewhere", f"line {row} of the same function: {reason}")
    if not o.visits():
        return NOT_REACHED
    if found:
        where = "the line" if o.is_of_statement(found[0]["source"]) else "other code"
        said = f"the first NaN came from {where}{_nan_in_words(o, found)}"
        return _unclear(said, "use inputs for which this NaN does not come first")
    return _unclear(
        "no NaN appeared on these inputs",
        "use a command that takes the gradient, with values on both sides of the condition and far from it",
    )


def gives_nan(o: Observations) -> Verdict:
    """Confirm if, with ``jax_debug_nans``, the first NaN is of an operation of the line."""
    found = o.all.get("nans", ())
    for seen in found:
        if o.is_of_statement(seen["source"]):
            return _confirmed(f"with `jax_debug_nans`, `{seen['name']}` of the line gave NaN", operation=seen["name"])
    if not o.visits():
        return NOT_REACHED
    if found:
        said = f"the first NaN came from other code{_nan_in_words(o, found)}"
        return _unclear(said, "use inputs for which this NaN does not come first")
    return _unclear(
        "no NaN appeared on these inputs", "use inputs at the limits, such as a row that is masked as a whole"
    )


def _nan_in_words(o: Observations, found: Sequence[Seen]) -> str:
    """Where the first NaN came from."""
    if not found:
        return ""
    seen = found[0]
    place = seen["source"][0] if seen["source"] else None
    where = f" on {line_in_words(place[0], place[1], o.spot.path)}" if place else ""
    return f" (`{seen['name']}`{where}, where JAX stopped)"


def replicas_drift(o: Observations) -> Verdict:
    """Confirm if copies that were equal on all devices differ after a run in which the line ran.

    Without ``jit`` around it, ``shard_map`` runs operation by operation and counts as eager.
    """
    if not o.visits():
        return NOT_REACHED
    drifts = o.all.get("drifts", ())
    if drifts:
        worst = max(drifts, key=lambda seen: float(seen["difference"]))
        return _confirmed(
            f"after a step the copies on {worst['devices']} devices differ by up to {worst['difference']:.3g}",
            difference=worst["difference"], devices=worst["devices"],
        )  # fmt: skip
    return _unclear("the copies did not differ", "give each device other data")


ASKS_FOR_BOOL = raises("TracerBoolConversionError", "ConcretizationTypeError")
"""Errors that only tracers raise need no further condition."""
SIGNATURE_ERROR = raises(
    "TypeError",
    "ValueError",
    "AssertionError",
    "AttributeError",
    anywhere=r"argument|in_axes|out_axes|carry|_fun\b|branch|structure|tree|operand|\bj?vjp|rule|size|shape|type|defined",
)
