"""The machine that runs the IR: its state, the journal that makes branches cheap, and the way rules hear of events.

Vocabulary
----------
mode        how code runs right now: staged, ambient, which trace.
journal     the list of all writes to run-time slots, with the old contents: an arm of a branch is run, its writes are
            taken back and kept aside, the next arm is run, and then the arms that go on are merged.
arm         one alternative of a branch; its *writes* are what it would leave behind.
emission    a rule's report with the call stack at that moment.
entry       where the interpreter starts: a module body, or a function with arguments that nobody knows.

Not modelled: threads, signals, garbage collection, monkey-patching across modules, the order of evaluation where
Python leaves none.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.call_graph import CallGraph, FunctionName
from flake8_jax.core.registry import Report, Rule
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.stack import Lane, Link, LoopState, Mode, Watched, Writes
from flake8_jax.semantics.domain.values import (
    MISSING,
    NONE,
    Array,
    Const,
    Deferred,
    External,
    FunctionValue,
    Instance,
    Opaque,
    PartialValue,
    Site,
    TransformedValue,
    Tree,
    UnionValue,
    Unknown,
    Value,
    canonical_key,
)
from flake8_jax.semantics.events.events import Context, Discarded, NameUse, Timed
from flake8_jax.semantics.trackers.variation import vary_joined

if TYPE_CHECKING:
    from flake8_jax.knowledge import Knowledge
    from flake8_jax.semantics.domain.scopes import ModuleScope
    from flake8_jax.semantics.domain.varying import Variation
    from flake8_jax.semantics.machine.program import Modules
    from flake8_jax.semantics.models.transform_signatures import Product
    from flake8_jax.semantics.trackers.captures import Capture
    from flake8_jax.semantics.trackers.clocks import Log
    from flake8_jax.semantics.trackers.presumption import Presumption
    from flake8_jax.semantics.trackers.process import Settings
    from flake8_jax.semantics.trackers.records import Records
    from flake8_jax.semantics.trackers.replicas import Replica
    from flake8_jax.semantics.trackers.steps import Steps
    from flake8_jax.semantics.trackers.versions import Versions


IMPORTED, STARTED = "imported", "started"
TAKEN = Const(True)
"""What a process says of a turn that it has surely taken (see ``settings``)."""

_NO_LOOPS: frozenset[int] = frozenset()
MAX_CALL_DEPTH = 40
MAX_RESOLVING = 8
"""Names that lead to names, in modules that import each other; behind so many they lead nowhere."""
MAX_FORWARDED = 4
"""Objects whose ``__call__`` is another object, or leads to one without a call of a function in between."""
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
    """How often one function is run on other inputs before what it gives is unknown: staged, eager, and (for entries
    and functions that use up keys) without generalising its arguments. quiet_staged, quiet_eager: the same for a function
    none of whose runs has made a report or used a key, in a program that took more than ``generous`` runs in all."""

    staged: int
    eager: int
    entries: int
    quiet_staged: int
    quiet_eager: int
    generous: int


LINT_CAPS = Caps(5, 4, 12, 2, 2, 300)
"""Findings of real packages are the same as with twice as many, in two thirds of the time."""
INSPECT_CAPS = Caps(40, 40, 60, 40, 40, 0)
"""``inspect`` tells what callers pass, so it wants to see more of them; it finds 3 to 6 % more than with 8."""

MAX_WATCHED = 400
MAX_INTERRUPTIONS = 4


class Inside(msgspec.Struct, frozen=True, eq=False):
    """What the Python loops met so far unroll into: the largest product of trips, and where they stand (see
    ``unrolling``)."""

    size: int = 1
    places: tuple[Any, ...] = ()


NOTHING = Inside()


class Emission(msgspec.Struct, frozen=True, eq=False):
    """A report of a rule, with the chain of links that led to it."""

    rule: Rule
    report: Report
    event: Any
    scope: ModuleScope
    chain: tuple[Link, ...]


def report_key(emission: Emission) -> tuple[Any, ...]:
    """What a finding is made of, but for its message and its chain: of two reports with one key, the first counts."""
    rule, report = emission.rule, emission.report
    level = report.level or rule.level
    where = (emission.scope.path, report.at.start)
    return rule.code, where, level, report.unless, report.given, report.preview


class Machine:
    """One analysis of one project. Everything mutable is here."""

    def __init__(self, knowledge: Knowledge, rules: tuple[Rule, ...], records: Records | None) -> None:
        self.knowledge = knowledge
        self.listeners: dict[type, list[Rule]] = {}
        self.hearing: dict[tuple[type, str], tuple[Rule, ...]] = {}
        for rule in rules:
            for event in rule.events:
                self.listeners.setdefault(event, []).append(rule)
                for where in rule.where:
                    self.hearing[event, where] = (*self.hearing.get((event, where), ()), rule)
        self.records = records
        self.caps = INSPECT_CAPS if records is not None else LINT_CAPS
        self.names_wanted = self._names_of(NameUse)
        self.discards_wanted = self._names_of(Discarded)
        self.versions: Versions | None = None
        self.versioned: frozenset[str] = frozenset()
        self.journal: list[tuple[dict[Any, Any], Any, Any]] = []
        self.emissions: list[Emission] = []
        self.settled: dict[Any, Emission] = {}
        self._last_context: tuple[Any, Context] | None = None
        self.watches: list[Watched] = []
        self.uses: dict[Value, Any] = {}
        self.lent = False
        self.steps_taken: Steps | None = None
        self.stack: list[Link] = []
        self.mode = Mode()
        self.conditions: list[tuple[Any, bool]] = []
        self.condition_base = 0
        self.assumed: frozenset[tuple[Any, bool]] = frozenset()
        self.identified: dict[int, Value] = {}
        self.caught = 0
        self.loop_base = 0
        self.loops: list[LoopState] = []
        self.serial = 0
        self.traces = 0
        self.steps = 0
        self.step_limit = MAX_STATEMENTS_PER_ENTRY
        self.steps_of_file: dict[str, int] = {}
        self.cuts: list[Cut] = []
        self.passes = 0
        self.memo: dict[Any, dict[Any, Any]] = {}
        self.contexts: dict[tuple[int, bool], int] = {}
        self.roots: list[tuple[TransformedValue, Any, ModuleScope, tuple[Link, ...], bool]] = []
        self.partial_roots: list[tuple[PartialValue, Any, ModuleScope, tuple[Link, ...]]] = []
        self.rule_settings: list[tuple[TransformedValue, str, Any, Any, ModuleScope]] = []
        self.replicas: list[Replica] = []
        self.collecting: set[int] = set()
        self.deferred_functions: list[Any] = []
        self.crashes: list[tuple[str, str, str]] = []
        self.counters: dict[str, int] = {}
        self.modules: Modules = None  # type: ignore[assignment]
        self.runs = 0
        self.telling: set[int] = set()
        self.lanes_met: set[Lane] = set()
        self.free_names: dict[int, tuple[str, ...]] = {}
        self.tested_names: dict[int, frozenset[str]] = {}
        self.instantiating: list[Any] = []
        self.presumption: Presumption | None = None
        self.keep_alive: list[Any] = []
        self.called_functions: set[int] = set()
        self.callees: set[int] = set()
        self._resolving = 0
        self.forwarded: list[int] = []
        """For each call of an object that is under way, how many functions were running when it began."""
        self.calls: CallGraph | None = None
        self.function_names: dict[int, FunctionName] = {}
        self.skipped: frozenset[FunctionName] = frozenset()
        self.decided: set[int] = set()
        self.index: ir.Expr | None = None
        self.body_serials: dict[Any, int] = {}
        self.library_objects: dict[tuple[str, str], External] = {}
        self.self_stores: dict[int, set[str]] = {}
        self.tangents: set[Value] = set()
        self.noted: set[tuple[str, str, int]] = set()
        self.generics: list[Instance] = []
        self.changes: dict[tuple[int | None, str], list[tuple[int, str, int]]] = {}
        self.staged_reads: dict[tuple[str, str], dict[tuple[str, int], int]] = {}
        self.rebindings: dict[tuple[str, str], int] = {}
        self.process = new_process()
        self.environment: dict[Any, Any] = {"set": NONE}
        self.settings: Settings = None  # type: ignore[assignment]
        self.clock = 0
        self.sheltered = 0
        self.choosing = 0
        self.disguised: set[int] = set()
        self.log = new_log()
        self.timing = False
        self.times = Timed in self.listeners
        self.arms: tuple[int, ...] = ()
        self.arms_made = 0
        self.products: dict[int, Product] = {}
        self.chosen_at = -1
        """Depth of the call stack at which one of several functions is called or transformed."""
        self.variations: dict[Value, Variation] = {}
        self.grown: dict[Value, frozenset[Value]] = {}
        self.unroll_threshold = 32
        self.inside = NOTHING
        self.work = 0
        self.varieties = 0
        self.captures: dict[int, Capture] = {}
        self.embedded: list[Value] = []
        self.needs_python: set[int] = set()

    def note_called(self, func: FunctionValue, kind: str) -> None:
        """A function is about to be run, or an earlier run of it repeated."""
        fn = func.fn
        self.called_functions.add(id(fn))
        if kind == "call":
            self.callees.add(id(fn))
        if self.calls is not None:
            names = self.function_names
            caller = next((names[id(link.fn)] for link in reversed(self.stack) if id(link.fn) in names), None)
            names[id(fn)] = name = (func.scope.path, fn.qualname)
            self.calls.note(name, caller)

    def forward(self) -> bool:
        """An object is about to be called: not if that only led to the call of another object again and again
        (``A.__call__ = A()``). Else ``forwarded`` has one more entry, to be taken off when the call has ended."""
        functions = sum([link.fn is not None for link in self.stack])
        if self.forwarded.count(functions) >= MAX_FORWARDED:
            self.count("recursion or depth")
            return False
        self.forwarded.append(functions)
        return True

    # --- slots and branches ---------------------------------------------------------------------

    def write(self, slots: dict[Any, Any], slot: Any, value: Any) -> None:
        """Set ``slots[slot]``, remembering what was there."""
        self.journal.append((slots, slot, slots.get(slot, MISSING)))
        if self.watches:
            self.watches[-1].setdefault((id(slots), slot), (slots, slot, []))[2].append(value)
        if value is MISSING:
            slots.pop(slot, None)
        else:
            slots[slot] = value

    def since(self, mark: int) -> Writes:
        """What all writes since ``mark`` amount to, right now: how a path looks that leaves here."""
        taken: Writes = {}
        for slots, slot, _ in self.journal[mark:]:
            taken[(id(slots), slot)] = (slots, slot, slots.get(slot, MISSING))
        return taken

    def watch(self, run: Callable[[], int]) -> tuple[int, Watched]:
        """Run something that an exception may interrupt: its result, and every value that it wrote anywhere."""
        self.watches.append({})
        result = run()
        seen = self.watches.pop()
        if self.watches:
            outer = self.watches[-1]
            for where, (slots, slot, values) in seen.items():
                outer.setdefault(where, (slots, slot, []))[2].extend(values)
        return result, seen

    def interrupted(self, seen: Watched) -> None:
        """Any of the watched writes may have been the last one."""
        arms: list[Writes] = [{}]
        for where, (slots, slot, values) in list(seen.items())[:MAX_WATCHED]:
            distinct = list({id(v): v for v in values}.values())
            if len(distinct) > MAX_INTERRUPTIONS:
                distinct = [Unknown("interrupted")] if isinstance(distinct[0], Value) else distinct[:MAX_INTERRUPTIONS]
            for i, value in enumerate(distinct, 1):
                while len(arms) <= i:
                    arms.append({})
                arms[i][where] = (slots, slot, value)
        self.merge(arms)

    def new_arm(self) -> int:
        """A number for one more alternative that may not be taken (see ``clocks``)."""
        self.arms_made += 1
        return self.arms_made

    def take_back(self, mark: int) -> Writes:
        """Undo all writes since ``mark`` and return what they amounted to."""
        journal = self.journal
        taken: Writes = {}
        for i in range(len(journal) - 1, mark - 1, -1):
            slots, slot, old = journal[i]
            where = (id(slots), slot)
            if where not in taken:
                taken[where] = (slots, slot, slots.get(slot, MISSING))
            if old is MISSING:
                slots.pop(slot, None)
            else:
                slots[slot] = old
        del journal[mark:]
        return taken

    def replay(self, writes: Writes) -> None:
        """Do the writes of an arm for good."""
        for slots, slot, value in writes.values():
            self.write(slots, slot, value)

    def merge(self, arms: list[Writes], labels: list[tuple[Any, bool] | None] | None = None) -> None:
        """Leave behind what holds whichever of the arms was taken.

        labels: the condition under which each arm was taken. A value that is one thing on one arm and another on the
        other remembers which, so that a later test of the same condition tells them apart again.
        """
        if not arms:
            return
        if len(arms) == 1:
            self.replay(arms[0])
            return
        places: dict[tuple[int, Any], tuple[dict[Any, Any], Any]] = {}
        for arm in arms:
            for where, (slots, slot, _) in arm.items():
                places[where] = (slots, slot)
        resized: list[dict[Any, Any]] = []
        for where, (slots, slot) in places.items():
            now = slots.get(slot, MISSING)
            contents = [arm[where][2] if where in arm else now for arm in arms]
            first = contents[0]
            if slots is self.uses:
                self.write(slots, slot, merge_uses(contents))
            elif all(content is first for content in contents):
                if first is not now:
                    self.write(slots, slot, first)
            elif slot == "n" and not any(isinstance(c, Value) for c in contents):
                if any(c != contents[0] for c in contents):
                    resized.append(slots)
                else:
                    self.write(slots, slot, contents[0])
            elif slot == "open" and not any(isinstance(c, Value) for c in contents):
                self.write(slots, slot, any(contents))
            else:
                if type(slot) is tuple and any(c is MISSING for c in contents) and "open" in slots:
                    self.write(slots, "open", True)
                joined = either_key(contents, labels) or contents[0]
                for other in contents[1:] if joined is contents[0] else ():
                    joined = joining.join(joined, other)
                if labels is not None and isinstance(joined, UnionValue):
                    joined = labelled(joined, contents, labels)
                if self.variations:
                    vary_joined(self, [c for c in contents if isinstance(c, Value)], joined)
                self.write(slots, slot, joined)
        for slots in resized:
            elements = [v for k, v in slots.items() if k != "n" and isinstance(v, Value)]
            self.write(slots, "*", joining.join_all(elements))
            self.write(slots, "n", None)

    def weaken(self, writes: Writes) -> None:
        """Another path also ends here: keep what holds on both."""
        self.merge([{}, writes])

    def isolated(self, path: str, run: Callable[[], object], process: dict[Any, Any] | None = None) -> None:
        """Run something of a file whose effects are for good, whatever branch or loop asked for it: a module, a generic
        object.

        process: what it may rely on, if not on what the running path has done.

        What runs too long or is nested too deeply ends, and rules hear nothing of it.
        """
        saved = (
            self.journal, self.stack, self.mode, self.conditions, self.caught, self.loop_base, self.loops, self.passes,
            self.emissions, self.steps, self.assumed, self.condition_base, self.uses, self.process, self.log, self.timing,
            self.arms,
        )  # fmt: skip
        self.process = dict(process if process is not None else self.process)
        self.log, self.timing, self.arms = new_log(), False, ()
        self.uses = {}  # two uses of a key collide only where one call path leads to both
        self.assumed, self.condition_base = frozenset(), 0
        self.journal, self.stack, self.mode, self.conditions = [], [], Mode(), []
        self.caught, self.loop_base, self.loops, self.passes, self.emissions = 0, 0, [], 0, []
        self.steps = 0
        sheltered, self.sheltered, choosing, self.choosing = self.sheltered, 0, self.choosing, 0
        resolving, self._resolving = self._resolving, 0
        watches, self.watches = self.watches, []
        instantiating, inside, chosen_at = len(self.instantiating), self.inside, self.chosen_at
        forwarded, self.forwarded = self.forwarded, []
        try:
            run()
        except (BudgetSpentError, RecursionError) as error:
            reason = "it runs too many statements" if isinstance(error, BudgetSpentError) else "it is nested too deeply"
            self.cuts.append(Cut(path, self.stack[0].function if self.stack else "", reason))
            self.emissions = []
            del self.instantiating[instantiating:]
            self.inside, self.chosen_at = inside, chosen_at
        finally:
            self.watches = watches
            self.steps_of_file[path] = self.steps_of_file.get(path, 0) + self.steps
            self.settle(self.emissions)
            (
                self.journal, self.stack, self.mode, self.conditions, self.caught, self.loop_base, self.loops, self.passes,
                self.emissions, self.steps, self.assumed, self.condition_base, self.uses, self.process, self.log,
                self.timing, self.arms,
            ) = saved  # fmt: skip
            self.sheltered, self.choosing, self._resolving = sheltered, choosing, resolving
            self.forwarded = forwarded
            if self.loops:  # what was made meanwhile is for good
                self.clock += 1
                for loop in self.loops:
                    loop.since = self.clock

    # --- names, sites, contexts -----------------------------------------------------------------

    def resolve(self, value: Value) -> Value:
        """Look up a name again that was imported from a module still being run at that time."""
        if not isinstance(value, Deferred):
            return value
        if self._resolving >= MAX_RESOLVING:
            return Unknown("import cycle")
        self._resolving += 1
        try:
            return self.resolve(self.modules.attribute(value.scope, value.name))
        finally:
            self._resolving -= 1

    def context(self, scope: ModuleScope, *, caught: bool | None = None) -> Context:
        """How the code runs right now, for an event."""
        inner = self.stack[-1] if self.stack else None
        mode, loops = self.mode, self.loops
        state = (inner, mode, self.loop_base, self.caught, caught, scope)
        if not loops and self._last_context is not None and self._last_context[0] == state:
            return self._last_context[1]
        made = Context(
            scope=scope,
            staged=mode.staged,
            ambient=mode.ambient,
            trace=mode.trace,
            function=inner.function if inner is not None else "",
            inner=inner.fn if inner is not None else None,
            loop=len(loops) - self.loop_base,
            guarded=any(loop.guards for loop in loops) if loops else False,
            caught=self.caught > 0 if caught is None else caught,
            presumed=mode.presumed,
            shapes_only=mode.shapes_only,
            loop_ids=frozenset([id(loop) for loop in loops]) if loops else _NO_LOOPS,
            in_main=any(link.function == "main" or link.kind == "main" for link in self.stack),
        )
        if not loops:
            self._last_context = (state, made)
        return made

    def site(self, scope: ModuleScope, node: Any) -> Site:
        return Site(scope, node.start, node.end)

    def wants(self, event: type) -> bool:
        return event in self.listeners

    def _names_of(self, event: type) -> frozenset[str] | None:
        """The names that the listeners to an event care for; None for all."""
        listening = [rule.names for rule in self.listeners.get(event, ())]
        return None if None in listening else frozenset().union(*[n for n in listening if n is not None])

    def hearers(self, event: type) -> tuple[Rule, ...]:
        """The rules that may have something to say of a call that happens now."""
        mode = self.mode
        where = "staged" if mode.staged or mode.presumed else "loop" if self.loops else "eager"
        return self.hearing.get((event, where), ())

    def emit(self, event: Any, rules: Iterable[Rule] | None = None) -> None:
        """Tell the rules that listen (or those given); keep what they say."""
        for rule in self.listeners.get(type(event), ()) if rules is None else rules:
            try:
                said = rule.check(event)
            except (AttributeError, TypeError, ValueError, KeyError, IndexError, AssertionError) as error:
                trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
                self.crashes.append((rule.name, event.context.scope.path, trace))
                continue
            if not said:
                continue
            for report in said if isinstance(said, list) else [said]:
                self.emissions.append(Emission(rule, report, event, event.context.scope, tuple(self.stack)))

    def keep_first_reports(self, mark: int) -> None:
        """Of equal reports since ``mark`` keep the first. A function that two paths lead to would else tell the same
        twice, its callers four times, and so on.

        What was timed stays apart: it is looked at again whenever the run is repeated (``clocks.repeat_warm``).
        """
        if len(self.emissions) - mark < 2:
            return
        kept: dict[Any, Emission] = {}
        for emission in self.emissions[mark:]:
            apart = id(emission) if type(emission.event) is Timed else 0
            kept.setdefault((report_key(emission), apart), emission)
        if len(kept) < len(self.emissions) - mark:
            self.emissions[mark:] = kept.values()

    def settle(self, emissions: Iterable[Emission]) -> None:
        """Keep reports for good: the first of equal ones that start in the same function."""
        for emission in emissions:
            start = emission.chain[0] if emission.chain else None
            origin = (start.kind == "entry", id(start.fn)) if start is not None else None
            self.settled.setdefault((report_key(emission), origin), emission)

    def note(self, fact: str, scope: ModuleScope, start: int) -> None:
        """On some path ``fact`` holds of the place that starts at ``start``: reports made ``unless`` it does are moot."""
        self.noted.add((fact, scope.path, start))

    def note_everywhere(self, fact: str) -> None:
        """``fact`` may hold of any place: the path that would tell was not run."""
        self.noted.add((fact, "", 0))

    def is_noted(self, fact: str, path: str, start: int) -> bool:
        return (fact, path, start) in self.noted or (fact, "", 0) in self.noted

    def drop_errors(self, mark: int) -> None:
        """Forget error-level reports since ``mark``: they stand behind a test that only the host can decide."""
        kept = [e for e in self.emissions[mark:] if (e.report.level or e.rule.level) != "error"]
        del self.emissions[mark:]
        self.emissions += kept

    # --- parts of opaque values -----------------------------------------------------------------

    def part(self, value: Opaque, step: str, make: Callable[[], Value]) -> Value:
        """The part of an opaque value under ``step``, made by ``make`` when it is read for the first time."""
        if value.parts is None:
            value.parts = {}
        found = value.parts.get(step)
        if found is None:
            found = make()
            value.parts[step] = found
            if isinstance(found, (Array, Tree, Unknown)) and isinstance(value.origin, Opaque):
                found.origin = self.part(value.origin, step, lambda: Unknown("part", value.origin, step))
            if isinstance(found, Opaque):
                found.parent, found.step = value, step
        return found

    def count(self, name: str) -> None:
        self.counters[name] = self.counters.get(name, 0) + 1

    def new_serial(self) -> int:
        self.serial += 1
        return self.serial


def new_process() -> dict[Any, Any]:
    """A process that has taken no turn yet."""
    return {IMPORTED: NONE, STARTED: NONE}


def new_log() -> Log:
    """An empty log of device work."""
    from flake8_jax.semantics.trackers.clocks import Log

    return Log()


def labelled(joined: UnionValue, contents: list[Any], labels: list[tuple[Any, bool] | None]) -> UnionValue:
    """The union with the condition under which each of its members arose."""
    conditions: list[frozenset[tuple[Any, bool]]] = []
    for member in joined.members:
        found: frozenset[tuple[Any, bool]] | None = None
        for content, label in zip(contents, labels, strict=True):
            for i, alternative in enumerate(joining.members_of(content) if isinstance(content, Value) else ()):
                if alternative is member:
                    inner = (
                        content.conditions[i] if isinstance(content, UnionValue) and content.conditions else frozenset()
                    )
                    mine = inner | {label} if label is not None else inner
                    found = mine if found is None else found & mine
        conditions.append(found if found is not None else frozenset())
    return UnionValue(joined.members, tuple(conditions))


def either_key(contents: list[Any], labels: list[tuple[Any, bool] | None] | None) -> UnionValue | None:
    """One of two keys, where one test decides which: each keeps its own uses."""
    if labels is None or len(labels) != 2 or labels[0] is None or labels[1] is None or labels[0][0] != labels[1][0]:
        return None
    known = [isinstance(c, Array) and c.dtype == "key" for c in contents]
    if not any(known) or not all(k or isinstance(c, (Unknown, Tree)) for k, c in zip(known, contents, strict=True)):
        return None
    if canonical_key(contents[0]) is canonical_key(contents[1]):
        return None
    return UnionValue((contents[0], contents[1]))


def merge_uses(contents: list[Any]) -> Any:
    """Key uses that may have happened on any of the paths."""
    merged: list[Any] = []
    for uses in contents:
        if uses is not MISSING:
            merged += [u for u in uses if u not in merged]
    return tuple(merged[:6])


def const_of(value: Value) -> Any:
    """The Python constant in a Const, else MISSING."""
    return value.value if isinstance(value, Const) else MISSING
