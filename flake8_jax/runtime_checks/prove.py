"""Verdicts for fixes: the command is run with and without them, and what the functions around them return is compared.

Vocabulary
----------
base        the fixes without which the original raises: found by running, fixing what raised, and running again.
reference   the project with the base alone. again: the same once more, which shows what is noise.
rest        the other fixes that are to change nothing. They run all together; only where that differs, in halves.
intended    fixes that are there to change results. Each has a contract (see ``contracts``): runs of another way show that it
            changes what it is to change, and nothing else.

Where results are not the same to the last bit, both programs run in float64 too: rounding shrinks there, and a change does not.
Fixes of lines that did not run are not judged. What a command writes to files is not compared, nor what it prints under pytest.
A fix whose lines run in other threads or processes is compared through what the main one gets from them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from flake8_jax.core.findings import Verdict
from flake8_jax.runtime_checks import fix_verdicts as say
from flake8_jax.runtime_checks.contracts import Contract, Fix
from flake8_jax.runtime_checks.replays import AS_IT_IS, Compared, Meant, Pair, Place, Replay, Runner, Variant, Way
from flake8_jax.runtime_checks.sandbox import Message
from flake8_jax.runtime_checks.speed import Speed, compile_time, confirmed, run_time, speed_of, unclaimed

PROVED = ("preserved", "enables", "intended-change")
_MOST_EAGER = 3

Build = Callable[[frozenset[int]], Variant]


class Proof(msgspec.Struct, frozen=True):
    """verdicts: by number of the fix. safe: the fixes that may be written: proved, and run together. runs: of the command."""

    verdicts: dict[int, Verdict]
    safe: frozenset[int]
    speeds: tuple[Speed, ...]
    versions: dict[str, str]
    notes: tuple[str, ...] = ()
    runs: int = 0
    refused: str = ""


class _Ran(msgspec.Struct, frozen=True):
    """A variant that ran in some way."""

    applied: frozenset[int]
    way: Way
    replay: Replay


class _Tried(msgspec.Struct, frozen=True):
    """A variant that ran, compared with the reference."""

    applied: frozenset[int]
    replay: Replay
    compared: Compared


def prove(
    fixes: Sequence[Fix],
    build: Build,
    runner: Runner,
    progress: Callable[[str], None] = lambda text: None,
    attempts: int = 8,
    impure: Mapping[int, str] = {},
) -> Proof:
    """Judge every fix. build: makes the variant with some of the fixes. attempts: the number of runs beyond the first
    three. impure: by number of a function, a finding in it because of which it behaves differently without jit.

    Raises OSError and CopyError.
    """
    return _Proving(fixes, build, runner, progress, attempts, impure).prove()


class _Proving:
    """One proof on its way."""

    def __init__(
        self,
        fixes: Sequence[Fix],
        build: Build,
        runner: Runner,
        progress: Callable[[str], None],
        attempts: int,
        impure: Mapping[int, str],
    ) -> None:
        self.fixes = {fix.number: fix for fix in fixes}
        self.build = build
        self.runner = runner
        self.progress = progress
        self.attempts = attempts
        self.impure = impure
        self.verdicts: dict[int, Verdict] = {}
        self.errors: dict[int, Message] = {}
        self.notes: list[str] = []
        self.tried: list[_Tried] = []
        self.printed: tuple[Replay, str] | None = None
        self.wide: dict[tuple[frozenset[int], Way], Replay] = {}
        self.blind: Replay | None = None
        self.changed: dict[frozenset[int], Replay] = {}

    def prove(self) -> Proof:
        before = self.run(frozenset(), "as it is")
        if before.trouble:
            verdict = Verdict("unsupported-target" if before.absent else "inconclusive", before.trouble)
            verdicts = dict.fromkeys(self.fixes, verdict)
            return Proof(verdicts, frozenset(), (), {}, (), self.runner.count, before.trouble * before.refused)
        self.base, self.reference = self.enabled(before)
        if self.reference.trouble:
            self.finish(self.fixes, say.inconclusive(f"with the fixes of what raised, {self.reference.trouble}"))
            return self.proof(before)
        self.again = self.run(self.base, "the same again, to see what is noise")
        if self.again.trouble:
            self.again = self.reference
            self.notes.append("the second run of the same program failed: nothing is known of its noise")
        open_ = [fix for number, fix in self.fixes.items() if number not in self.base]
        for fix in open_:
            if not self.reference.visits.get(fix.number):
                command = self.runner.workload.given or self.runner.workload.command
                self.verdicts[fix.number] = say.not_reached(fix, self.reference, self.runner.functions, command)
        reached = [fix for fix in open_ if fix.number not in self.verdicts]
        self.judge_rest([fix for fix in reached if not fix.is_intended])
        self.judge_enabling()
        self.judge_intended([fix for fix in reached if fix.is_intended])
        return self.proof(before)

    # --- runs -----------------------------------------------------------------------------------------------

    def run(self, applied: frozenset[int], what: str, way: Way = AS_IT_IS) -> Replay:
        self.progress(f"running {self.runner.workload.title()} ({what})")
        return self.runner.run(self.build(applied), way)

    def in_float64(self, ran: _Ran) -> Replay:
        """The same in float64; without results where it ends in another way there."""
        key = ran.applied, ran.way
        if key not in self.wide:
            replay = self.run(ran.applied, "in float64", msgspec.structs.replace(ran.way, wide=True))
            ended = bool(replay.trouble) or replay.status != ran.replay.status
            self.wide[key] = Replay() if ended else replay
        return self.wide[key]

    def compare(self, one: _Ran, two: _Ran, allowed: Collection[str] = ()) -> Compared:
        """The comparison, with as many further runs as it takes to be sure."""
        noise = self.reference, self.again
        pair = Pair(one.replay, two.replay, allowed=tuple(sorted(allowed)), noise=noise)
        if one.replay is self.reference:
            pair = msgspec.structs.replace(pair, again=self.again)
        found = self.runner.compare(pair)
        if say.is_unsure(found):
            pair = msgspec.structs.replace(pair, wide=(self.in_float64(one), self.in_float64(two)))
            found = self.runner.compare(pair)
        if pair.again is None and not say.same_at_all(found, one.replay, two.replay):
            again = self.run(one.applied, "the same again, to see what is noise", one.way)
            pair = msgspec.structs.replace(pair, again=None if again.trouble else again)
            found = self.runner.compare(pair)
        if found.printed["status"] == "differs" and not any(map(say.is_different, found.functions.values())):
            other = self.run(two.applied, "the same again, to see what is noise in what it prints", two.way)
            pair = msgspec.structs.replace(pair, other_again=None if other.trouble else other)
            found = self.runner.compare(pair)
        return found

    def allowed(self, applied: Collection[int]) -> frozenset[str]:
        """What the fixes allow. What they are to print is compared with a run without jit."""
        fixes = [self.fixes[number] for number in applied]
        text = {"text"} if any(fix.contract == "shown" for fix in fixes) else set()
        return frozenset(text).union(*(fix.allowed for fix in fixes if not fix.is_intended))

    def try_(self, applied: frozenset[int], what: str) -> _Tried | None:
        """Run a variant and compare it with the reference; None where the runs are used up."""
        known = next((one for one in self.tried if one.applied == applied), None)
        if known is not None:
            return known
        if self.attempts <= 0:
            return None
        self.attempts -= 1
        replay = self.run(applied, what)
        reference, ran = _Ran(self.base, AS_IT_IS, self.reference), _Ran(applied, AS_IT_IS, replay)
        compared = Compared() if replay.trouble else self.compare(reference, ran, self.allowed(applied))
        self.tried.append(_Tried(applied, replay, compared))
        return self.tried[-1]

    def is_same(self, tried: _Tried) -> bool:
        return say.same_at_all(tried.compared, self.reference, tried.replay)

    # --- what raised ----------------------------------------------------------------------------------------

    def enabled(self, before: Replay) -> tuple[frozenset[int], Replay]:
        """The fixes without which the command raises, and the run with them."""
        base: frozenset[int] = frozenset()
        current = before
        while (further := self.further(base, current)) is not None:
            base, current = further
        return base, current

    def further(self, base: frozenset[int], current: Replay) -> tuple[frozenset[int], Replay] | None:
        """One step of that: more fixes, and a run in which the errors are gone; None where there is no such step."""
        found = {
            number: raised
            for number, raised in raised_at(current, self.build(base).places).items()
            if number not in self.verdicts
        }
        culprits = _regressing_fixes(found, self.fixes)
        guesses = [culprits] if culprits else [{n: raised} for n, raised in self.related(current, base).items()]
        for guess in guesses:
            helped = self.helped(base, guess, sure=bool(culprits))
            if helped is not None:
                return helped
        return None

    def helped(
        self, base: frozenset[int], guess: Mapping[int, Message], *, sure: bool
    ) -> tuple[frozenset[int], Replay] | None:
        """The base with those of the fixes after which their errors are gone. sure: the errors were raised at them."""
        applied = self.build(base | frozenset(guess)).applied
        if self.attempts <= 0 or not applied > base:
            return None
        self.attempts -= 1
        following = self.run(applied, f"with the fix{'es' * (len(guess) > 1)} of what raised")
        if following.trouble:
            if sure:  # it went further than the original did: nothing says that this is wrong
                self.finish(guess, say.inconclusive(f"the original raises here; with the fix, {following.trouble}"))
            return None
        cured = _cured(following, guess)
        if sure:
            useless = [number for number in guess if number not in cured]
            self.finish(useless, say.inconclusive("the same error is raised with the fix; fix the line by hand"))
        if not cured:
            return None
        self.errors.update(cured)
        if len(cured) == len(guess):
            return applied, following
        alone = base | frozenset(cured)
        return alone, self.run(alone, "without the fixes that did not help")

    def related(self, current: Replay, base: frozenset[int]) -> dict[int, Message]:
        """Fixes in the functions on the way to an error: a wrong definition raises where it is called."""
        found: dict[int, Message] = {}
        if current.status == 0:  # errors without effect
            return found
        for raised in current.raised:
            around = {(path, name.rpartition(".")[2]) for path, _, name in raised["stack"]}
            for number, fix in self.fixes.items():
                names = [self.runner.functions[f] for f in fix.functions]
                mine = {(path, name.rpartition(".")[2]) for path, name in names}
                if number not in base and number not in self.verdicts and mine & around and not fix.is_intended:
                    found.setdefault(number, raised)
        return found

    def judge_enabling(self) -> None:
        """Compare with the original without jit; what that cannot run either goes without a reference."""
        waiting = {number for number in self.base if number in self.errors}
        helped: frozenset[int] = frozenset()
        for _ in range(_MOST_EAGER):
            if not waiting or self.attempts <= 0:
                break
            self.attempts -= 1
            way = Way(eager=True, meant=self.meant(waiting))
            eager = self.run(helped, "without jit, as reference", way)
            if eager.trouble:
                self.enable(waiting, None, f"under jax_disable_jit, {eager.trouble}")
                return
            raising = set(raised_at(eager, self.build(helped).places)) & waiting
            if raising:
                self.enable(raising, None, "the original does not run under jax_disable_jit either")
                waiting -= raising
                helped |= raising
                continue
            ran = _Ran(self.base, AS_IT_IS, self.reference)
            self.enable(waiting, self.compare(_Ran(helped, way, eager), ran, ("kinds", "unordered")), "")
            return
        self.enable(waiting, None, "there was no run left for it (`--attempts`)")

    def meant(self, numbers: Collection[int]) -> tuple[Meant, ...]:
        """What was meant at these findings, where anything but the fix says it."""
        found = (self.fixes[number].meaning() for number in sorted(numbers))
        return tuple(meaning for meaning in found if meaning is not None)

    def enable(self, numbers: Collection[int], compared: Compared | None, missing: str) -> None:
        for number in numbers:
            fix = self.fixes[number]
            impure = next((self.impure[f] for f in fix.functions if f in self.impure), "")
            self.verdicts[number] = say.enables(
                fix, self.errors[number], compared, self.runner.functions, missing, impure
            )

    # --- what is to change nothing --------------------------------------------------------------------------

    def judge_rest(self, fixes: list[Fix]) -> None:
        if not fixes:
            return
        self.attempts += 1  # this run always takes place
        tried = self.with_fixes(fixes)
        assert tried is not None
        if self.is_same(tried):
            self.all_preserved(fixes, tried)
        else:
            self.split(fixes, tried)

    def with_fixes(self, fixes: Sequence[Fix]) -> _Tried | None:
        wanted = self.base | {fix.number for fix in fixes}
        return self.try_(wanted, f"with {len(fixes)} fix{'es' * (len(fixes) > 1)}")

    def all_preserved(self, fixes: Sequence[Fix], tried: _Tried) -> None:
        for fix in fixes:
            others = [other for other in fixes if other is not fix and set(other.functions) & set(fix.functions)]
            verdict = say.preserved(fix, tried.compared, self.runner.functions, others)
            self.verdicts[fix.number] = self.shown(verdict, tried) if fix.contract == "shown" else verdict

    def shown(self, verdict: Verdict, tried: _Tried) -> Verdict:
        """The verdict on a fix that prints what the original would print without jit."""
        if verdict.verdict != "preserved":
            return verdict
        if self.printed is None:
            eager = self.run(self.base, "without jit, for what it prints", Way(eager=True))
            ended = eager.trouble or ("the original fails there" if eager.status != self.reference.status else "")
            self.printed = eager, ended
        eager, ended = self.printed
        if not ended:
            noise = self.reference, self.again
            pair = Pair(eager, tried.replay, allowed=("kinds", "unordered"), noise=noise)
            found = self.runner.compare(pair).printed
            if found["status"] == "differs":
                return say.inconclusive(f"{found['what']}, compared with the original under jax_disable_jit")
            ended = {"same": "", "unseen": "it goes elsewhere"}.get(found["status"], "it differs from run to run")
        note = (
            f"; what it prints could not be compared: {ended}"
            if ended
            else "; it prints what the original prints without jit"
        )
        return msgspec.structs.replace(verdict, reason=verdict.reason + note)

    def split(self, fixes: list[Fix], tried: _Tried) -> None:
        """These fixes together differ: find out which of them do."""
        if len(fixes) == 1:
            self.verdicts[fixes[0].number] = say.differs(
                fixes[0], tried.compared, self.runner.functions, self.reference, tried.replay
            )
            return
        suspects = [fix for fix in fixes if say.stands_out(fix, tried.compared)]
        others = [fix for fix in fixes if fix not in suspects]
        halves = [suspects, others] if suspects and others else [fixes[: len(fixes) // 2], fixes[len(fixes) // 2 :]]
        for half in halves:
            single = self.with_fixes(half)
            if single is None:
                reason = (
                    "together with other fixes the results differ, and no run was left to tell which; raise --attempts"
                )
                self.finish([fix.number for fix in half], say.inconclusive(reason))
            elif self.is_same(single):
                self.all_preserved(half, single)
            else:
                self.split(half, single)
        if all(self.verdicts[fix.number].verdict == "preserved" for fix in fixes):
            verdict = say.differs(fixes[0], tried.compared, self.runner.functions, self.reference, tried.replay)
            only = msgspec.structs.replace(verdict, reason=f"only together with other fixes: {verdict.reason}")
            for fix in fixes:
                self.verdicts[fix.number] = only

    # --- what is to change results --------------------------------------------------------------------------

    def judge_intended(self, fixes: list[Fix]) -> None:
        """By contract; those of one contract together, and only where that does not hold, each alone."""
        for contract in dict.fromkeys(fix.contract for fix in fixes):
            group = [fix for fix in fixes if fix.contract == contract]
            if self.judge_group(contract, group) or len(group) == 1:
                continue
            if contract == "draws" and self.blind is not None and self.blind.trouble:
                continue  # the original is the same for each of them
            for fix in group:
                if self.attempts <= 0:
                    reason = "together with others it changes more than it may, and no run was left; raise --attempts"
                    self.verdicts[fix.number] = say.inconclusive(reason)
                    continue
                self.attempts -= 1
                self.judge_group(contract, [fix])

    def judge_group(self, contract: Contract, fixes: list[Fix]) -> bool:
        """Whether they keep to the contract; the verdicts are those of each fix then, or of the first difference."""
        applied = self.base | {fix.number for fix in fixes}
        plural = "es" * (len(fixes) > 1)
        replay = self.run(applied, f"with {len(fixes)} fix{plural} that change results")
        plain = _Ran(applied, AS_IT_IS, replay)
        self.changed[applied] = replay
        reference = _Ran(self.base, AS_IT_IS, self.reference)
        if plain.replay.trouble or plain.replay.status != self.reference.status:
            for fix in fixes:
                self.verdicts[fix.number] = say.differs(
                    fix, Compared(), self.runner.functions, self.reference, plain.replay
                )
            return False
        allowed = (
            () if contract == "draws" else ("finite", "nearer")
        )  # other draws print other numbers, which is a change
        seen = self.runner.compare(Pair(self.reference, plain.replay, self.again, allowed=allowed))
        if contract == "unknown" and not say.is_changed(seen):
            for fix in fixes:
                self.verdicts[fix.number] = say.preserved(fix, seen, self.runner.functions)
            return True
        refused = say.restructured(seen, self.runner.functions)
        one, two, proof, missing = self.witnesses(contract, fixes, reference, plain)
        if refused or missing:
            for fix in fixes:
                self.verdicts[fix.number] = refused or say.inconclusive(missing)
            return False
        compared = self.compare(one, two, frozenset().union(*(fix.allowed for fix in fixes)))
        holds = say.same_at_all(compared, one.replay, two.replay)
        for fix in fixes:
            if holds:
                verdict = self.kept(fix, seen, compared, proof)
            else:
                verdict = say.differs(fix, compared, self.runner.functions, one.replay, two.replay)
                verdict = msgspec.structs.replace(verdict, reason=f"{proof}: {verdict.reason}")
            self.verdicts[fix.number] = verdict
        return holds

    def witnesses(
        self, contract: Contract, fixes: list[Fix], reference: _Ran, plain: _Ran
    ) -> tuple[_Ran, _Ran, str, str]:
        """The two runs that have to be the same, what that shows, and why there are none."""
        if contract in ("finite", "nearer"):
            proof = "where the original is finite" if contract == "finite" else "measured by float64"
            return reference, plain, proof, ""
        if contract == "draws":
            way, proof = Way(blind=True), "with the same key everywhere"
            self.blind = self.blind or self.run(self.base, proof, way)
            first = _Ran(self.base, way, self.blind)
            if first.replay.trouble:
                return first, first, proof, f"{proof}, {first.replay.trouble}"
            second = _Ran(plain.applied, way, self.run(plain.applied, f"with the fix, {proof}", way))
            trouble = first.replay.trouble or second.replay.trouble
            return first, second, proof, f"{proof}, {trouble}" * bool(trouble)
        if contract == "meant":
            way, proof = (
                Way(meant=self.meant({fix.number for fix in fixes})),
                "with what was meant put into the original",
            )
            first = _Ran(self.base, way, self.run(self.base, proof, way))
            trouble = first.replay.trouble
            if not trouble and not {fix.number for fix in fixes} <= set(first.replay.put):
                trouble = "which could not be done here"
            return first, plain, proof, f"{proof}, {trouble}" * bool(trouble)
        return (
            reference,
            plain,
            "",
            ("the results may change, and nothing but the fix says what they should be; check them yourself"),
        )

    def kept(self, fix: Fix, seen: Compared, compared: Compared, proof: str) -> Verdict:
        """The verdict on a fix that keeps to its contract."""
        lacking = say.unwitnessed(fix, compared)
        if lacking:
            return say.inconclusive(f"{proof}: {lacking}")
        if say.is_changed(seen):
            return say.intended(fix, seen, self.runner.functions, proof, compared)
        if fix.contract == "draws":
            return say.inconclusive(
                "the fix is there to change random numbers, and no result changed; print what depends on them"
            )
        return say.preserved(fix, compared, self.runner.functions)

    # --- the end --------------------------------------------------------------------------------------------

    def finish(self, numbers: Collection[int], verdict: Verdict) -> None:
        for number in numbers:
            self.verdicts.setdefault(number, verdict)

    def proved(self) -> frozenset[int]:
        return frozenset(number for number, verdict in self.verdicts.items() if verdict.verdict in PROVED)

    def proof(self, before: Replay) -> Proof:
        """What may be written ran in exactly that combination."""
        self.finish(
            self.fixes,
            say.inconclusive("it could not be run together with the other fixes; prove it alone, with --select"),
        )
        safe = self.proved()
        final: _Tried | None = None
        if safe and safe != self.base:
            meant = any(self.verdicts[number].verdict == "intended-change" for number in safe)
            final = self.changed_as_meant(safe) if meant else self.unchanged(safe)
            same = say.restructured(final.compared, self.runner.functions) is None
            same = same and (final.replay.status == self.reference.status if meant else self.is_same(final))
            if final.replay.trouble or not same:
                self.notes.append(self.why_not_written([self.fixes[number] for number in sorted(self.base - safe)]))
                safe, final = frozenset(), None
        target = before.versions.get("backend", "")
        speeds = () if final is None else self.speeds(final)
        verdicts = {
            number: msgspec.structs.replace(verdict, target=target, details=self.with_speeds(number, verdict, speeds))
            for number, verdict in sorted(self.verdicts.items())
        }
        if self.reference.left_out:
            self.notes.append(f"{self.reference.left_out} results were too large or too many to be compared")
        return Proof(verdicts, safe, speeds, dict(before.versions), tuple(self.notes), self.runner.count)

    def why_not_written(self, needed: Sequence[Fix]) -> str:
        """What to say where the proved fixes by themselves fail. needed: fixes that are not proved, without which an error
        comes first."""
        if not needed:
            return (
                "no fix can be written: each is proved, but with all of them together the program does not do the same"
            )
        one = len(needed) == 1
        named = f"the fix{'es' * (not one)} of {say.listed(needed)}"
        return (
            f"no fix can be written: the program needs {named}, too, and {'this is' if one else 'these are'} not proved; "
            f"apply {'it' if one else 'them'} yourself, then run `jaxlint prove` again"
        )

    def unchanged(self, applied: frozenset[int]) -> _Tried:
        self.attempts += 1
        final = self.try_(applied, "with all that is proved")
        assert final is not None
        return final

    def changed_as_meant(self, applied: frozenset[int]) -> _Tried:
        """All together; what the results should be was asked of each contract before. Where they are those of one contract,
        they have run."""
        replay = self.changed.get(applied) or self.run(applied, "with all that is proved")
        compared = Compared() if replay.trouble else self.runner.compare(Pair(self.reference, replay, self.again))
        return _Tried(applied, replay, compared)

    def with_speeds(self, number: int, verdict: Verdict, speeds: Sequence[Speed]) -> dict[str, Any]:
        """The details of a verdict, with the times of the functions of the fix."""
        names = {self.runner.functions[f][1] for f in self.fixes[number].functions}
        mine = [msgspec.to_builtins(speed) for speed in speeds if speed.name in names]
        return {**verdict.details, "speed": mine} if mine and verdict.verdict in PROVED else verdict.details

    def speeds(self, final: _Tried) -> tuple[Speed, ...]:
        """How fast it is. What looks like a difference has to show in two more runs as well; the second is left out where the
        first shows none."""
        first = self.timed(self.reference, self.again, final.replay)
        if not any(speed.claimed for speed in first):
            return first
        second = self.run(final.applied, "once more with the fixes, for the time it takes")
        if second.trouble:
            return tuple(map(unclaimed, first))
        shown = tuple(map(confirmed, first, self.timed(self.reference, self.again, second)))
        if not any(speed.claimed for speed in shown):
            return shown
        third = self.run(self.base, "once more without them")
        if third.trouble:
            return tuple(map(unclaimed, first))
        return tuple(map(confirmed, shown, self.timed(self.again, third, second)))

    def timed(self, before: Replay, again: Replay, after: Replay) -> tuple[Speed, ...]:
        runs = (before, again, after)
        numbers = sorted({f for number in self.proved() for f in self.fixes[number].functions})
        named = [(self.runner.functions[number][1], number) for number in numbers]
        found = [speed_of(name, number, *runs) for name, number in named if name != "<module>"]
        return (*(speed for speed in found if speed is not None), run_time(*runs), compile_time(*runs))


def raised_at(replay: Replay, places: Mapping[int, Place]) -> dict[int, Message]:
    """Return the findings at which exceptions were raised: those at the innermost frame that has one."""
    found: dict[int, Message] = {}
    for raised in replay.raised:
        for path, row, _ in raised["stack"]:
            here = [n for n, place in places.items() if place.path == path and place.row <= row <= place.last_row]
            if here:
                for number in here:
                    found.setdefault(number, raised)
                break
    return found


def _regressing_fixes(culprits: dict[int, Message], fixes: Mapping[int, Fix]) -> dict[int, Message]:
    """Without fixes that merely change results, where another one stands at the same error."""
    serious = {id(raised) for number, raised in culprits.items() if not fixes[number].is_intended}
    return {
        number: raised
        for number, raised in culprits.items()
        if id(raised) not in serious or not fixes[number].is_intended
    }


def _cured(after: Replay, culprits: Mapping[int, Message]) -> dict[int, Message]:
    """Those whose error is not raised any more."""
    left = {_identity(raised) for raised in after.raised}
    return {number: raised for number, raised in culprits.items() if _identity(raised) not in left}


def _identity(raised: Message) -> tuple[str, str, str]:
    """Rows move, and messages may name them: an error is the same by its type, its first words and its function."""
    function = raised["stack"][0][2] if raised["stack"] else ""
    return raised["type"], raised["message"][:40], function
