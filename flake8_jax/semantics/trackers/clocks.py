"""The code outside tracing between two readings of a clock, and the work of the device in it.

A call returns before the device has finished, so a clock that is read then has measured only the dispatch. This tracker
keeps a log of the relevant events. It begins with the first reading in an entry.

Vocabulary
----------
reading     the result of a clock of ``time`` or of ``timeit.default_timer``, with its place in the log.
work        one line of the log. *compiled*: a call of a jitted function. *computed*: any other computation on arrays.
            *wait*: the host needs a value from the device, so all earlier work is done. *lost*: unknown code ran. *yield*:
            other code runs before this function continues.
stretch     the log between two readings whose difference is computed.
branch      an alternative that may not run. Work in it is certain only for code in the same branch.
sized       a call whose arguments have another shape in each iteration of a loop, so each iteration compiles again.
renewed     a call of a function that was defined and jitted between the same two readings.
cold        a call that compiles: the first call of a jitted function in the entry, or the first one whose arguments
            certainly have another rank, leading length, dtype or static value than in all earlier calls.

``effects`` decides what a call writes to the log. Limitations: threads, the order inside generators (what they dispatch
does not count), donated buffers, and how long anything takes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.code import names_read, nodes_around
from flake8_jax.semantics.domain.signatures import static_parameters, underlying
from flake8_jax.semantics.domain.values import (
    Array,
    ClassValue,
    Const,
    External,
    FunctionValue,
    HostArray,
    Site,
    Static,
    TransformedValue,
    Tree,
    Unknown,
    Value,
    site_of,
)
from flake8_jax.semantics.events.events import ColdCall, Timed
from flake8_jax.semantics.events.facts import NO_MEASURE, WARM
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.variation import shape_of

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.arguments import Arguments
    from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
    from flake8_jax.semantics.domain.stack import Link, LoopState
    from flake8_jax.semantics.machine.core import Machine

COMPILED, COMPUTED, WAIT, LOST, YIELD = "compiled", "computed", "wait", "lost", "yield"

CLOCKS = frozenset(
    {f"time.{name}{unit}" for name in ("time", "perf_counter", "monotonic", "process_time") for unit in ("", "_ns")}
    | {"timeit.default_timer"}
)

PROFILING = frozenset({"jax.profiler.start_trace", "jax.profiler.stop_trace"})

_PLAIN = frozenset({int, str, bool, float, type(None)})


class LoopLength(NamedTuple):
    """An iteration of a loop, in each of which an argument has another shape."""

    loop: LoopState
    since: int

    def differs(self, other: LoopLength) -> bool:
        """The shapes are surely different. What another loop gave may have had all of them."""
        return self.loop is other.loop and self.since != other.since


Given = Any
"""What is known of the arguments of a compiled call: one entry each; None where that is nothing."""


class Work(msgspec.Struct, frozen=True, eq=False):
    """One line of the log. chain: the links of the calls around it, outermost first. branches, loops: those that it stands
    in. key: the function that was compiled, ``what`` its name; given: its arguments as the compiler sees them. cold: see
    there. made: where the log was when the function was defined and jitted, -1 where that is not known."""

    kind: str
    scope: ModuleScope
    node: Any
    chain: tuple[Link, ...]
    branches: tuple[int, ...]
    loops: tuple[LoopState, ...]
    key: Any = None
    what: str = ""
    given: Given = None
    cold: bool = False
    made: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A clock was read at ``node``, when the log had ``position`` lines."""

    log: Log
    position: int
    scope: ModuleScope
    node: Any
    chain: tuple[Link, ...]
    branches: tuple[int, ...]
    loops: tuple[LoopState, ...]


@dataclass(slots=True, eq=False)
class Log:
    """What one entry has done.

    compiled: all compiled functions that it has called, in order, with what they were given; warm: the same by function.
    anything_warm: unknown code was given a function, and may have called it. readings: every value that holds one.
    cold_places: where a function was timed for the first time. last_difference: the last one told, with the place of the
    report: where it is taken (file, expression), where it is reported. made: where the log was when a function was defined and
    jitted.
    """

    lines: list[Work] = field(default_factory=list)
    compiled: list[tuple[Any, Given]] = field(default_factory=list)
    warm: dict[Any, list[Given]] = field(default_factory=dict)
    anything_warm: bool = False
    readings: list[HostArray] = field(default_factory=list)
    cold_places: dict[Any, list[tuple[ModuleScope, int]]] = field(default_factory=dict)
    last_difference: tuple[ModuleScope, Any, ModuleScope, Any] | None = None
    made: dict[Value, int] = field(default_factory=dict)

    def compiles(self, key: Any, given: Given) -> bool:
        """No code has called the function with such arguments."""
        return not self.anything_warm and all(_differ(given, before) for before in self.warm.get(key, ()))


class Slice(msgspec.Struct, frozen=True, eq=False):
    """What a remembered run has added to the log."""

    start: Mark
    lines: tuple[Work, ...]
    compiled: tuple[tuple[Any, Given], ...]
    readings: tuple[HostArray, ...]
    makes: bool = False


class Mark(NamedTuple):
    """Where the log is, and in how many branches and loops."""

    lines: int
    compiled: int
    readings: int
    branches: int
    loops: int


class DeviceWork(Tracker):
    """log: of device work on the running path. timing: a clock was read on it. times: some rule listens. profiled: where the
    profiler was started."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.log = Log()
        self.timing = False
        self.times = m.bus.wants(Timed)
        self.profiled: Reading | None = None

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> Mark:
        return mark(self.m)

    def returned(self, mark: Mark, *, suspended: bool) -> None:
        if suspended:
            forget_order(self.m, mark)

    def since(self, mark: Mark, run: FinishedRun) -> Slice | None:
        return since(self.m, mark, run.result)

    def replayed(self, record: Slice | None, replay: Replay, result: Value) -> None:
        if record is not None and record.makes:
            self.log.made[result] = len(self.log.lines)

    def replay_events(self, record: Slice | None, replay: Replay) -> None:
        if replay.events:
            repeat_warm(self.m, replay.events)
        if record is not None:
            repeat_log(self.m, record, replay.depth, replay.outside, replay.mapping)

    def enter(self) -> tuple[Log, bool]:
        saved = self.log, self.timing
        self.log, self.timing = Log(), False
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.log, self.timing = saved


# --- writing the log ------------------------------------------------------------------------------------


def read_clock(m: Machine, frame: Frame, node: Any, value: Value) -> Value:
    """The value of a clock that was read."""
    if m.path.mode.staged or not isinstance(value, HostArray) or not m.bus.wants(Timed):
        return value
    return _holding(m, (_reading(m, frame, node),))


def _reading(m: Machine, frame: Frame, node: Any) -> Reading:
    log = m.trackers[DeviceWork].log
    return Reading(log, len(log.lines), frame.scope, node, tuple(m.path.stack), m.path.branches, tuple(m.path.loops))


def begin_section(m: Machine, frame: Frame, node: Any) -> Reading:
    """What follows is timed, or profiled."""
    m.trackers[DeviceWork].timing = True
    return _reading(m, frame, node)


def end_section(m: Machine, frame: Frame, node: Any, begin: Reading, *, traced: bool = False, magic: str = "") -> None:
    """It ends. node: what to report. traced: by the profiler, which may see compilations as well; magic: by this one of
    IPython, which calls a function often or names the first call."""
    end = _reading(m, frame, node)
    common = _common([begin.chain, end.chain])
    pending, cold = _judge(m, begin, end, common)
    if pending is not None and _is_in_fed_loop(pending, begin, end):
        pending = None
    cold = () if traced or magic or _says_compiling(frame.scope, node) else cold
    if pending is not None or cold:
        where, what = (_placed(pending, common), pending.what) if pending is not None else (None, "")
        started = _started(begin, common)
        m.bus.emit(
            Timed(m.path.context(frame.scope), node, where, what, cold, traced=traced, started=started, magic=magic)
        )


def _started(begin: Reading, common: tuple[Link, ...]) -> Site | None:
    """The first reading, or the call that makes it, in the function that has both."""
    if len(begin.chain) <= len(common):
        return site_of(begin.scope, begin.node)
    link = begin.chain[len(common)]
    return site_of(link.scope, link.node) if link.node is not None else None


def track_trace(m: Machine, frame: Frame, node: Any, name: str) -> None:
    """``jax.profiler.start_trace``, ``stop_trace``."""
    work = m.trackers[DeviceWork]
    if m.path.mode.staged or not work.times:
        return
    begin, work.profiled = work.profiled, begin_section(m, frame, node) if name.endswith("start_trace") else None
    if begin is not None and work.profiled is None:
        end_section(m, frame, node, begin, traced=True)


def _holding(m: Machine, readings: tuple[Reading, ...]) -> HostArray:
    m.trackers[DeviceWork].timing = True
    made = HostArray("float", 0)
    made.readings = readings
    m.trackers[DeviceWork].log.readings.append(made)
    return made


def add_work(m: Machine, kind: str, scope: ModuleScope, node: Any) -> None:
    chain = tuple(m.path.stack) if kind in (COMPILED, COMPUTED) else ()
    m.trackers[DeviceWork].log.lines.append(Work(kind, scope, node, chain, m.path.branches, tuple(m.path.loops)))


def track_computed(m: Machine, frame: Frame, node: Any) -> None:
    """Eager code dispatches a computation on arrays. To be asked while ``m.timing`` only."""
    if not m.path.mode.staged and node is not None:
        add_work(m, COMPUTED, frame.scope, node)


def track_wait(m: Machine, frame: Frame, node: Any) -> None:
    """Eager code needs a value of the device. To be asked while ``m.timing`` only."""
    if not m.path.mode.staged:
        add_work(m, WAIT, frame.scope, node)


def track_truth(m: Machine, frame: Frame, node: Any, value: Value, *, asserted: bool = False) -> None:
    """The truth of a value is asked for. An unknown flag is none of the device's, unless it is asserted."""
    if any(isinstance(v, (Array, Tree)) or (asserted and isinstance(v, Unknown)) for v in joining.members_of(value)):
        track_wait(m, frame, node)


def track_yield(m: Machine, frame: Frame, node: Any) -> None:
    """Other code runs before this goes on."""
    if not m.path.mode.staged:
        add_work(m, YIELD, frame.scope, node)


def track_lost(m: Machine, frame: Frame, node: Any) -> None:
    """A function of the project is not run, because it was run often enough: anything may have happened in it."""
    if not m.path.mode.staged:
        m.trackers[DeviceWork].log.anything_warm = True
        if m.trackers[DeviceWork].timing:
            add_work(m, LOST, frame.scope, node)


def track_compiled(m: Machine, frame: Frame, node: Any, tv: TransformedValue, args: Arguments) -> None:
    """Eager code calls what a transform returned."""
    if not m.bus.wants(Timed):
        return
    if not tv.fact.omnistaging or tv.fact.tracing != "abstract":
        if m.trackers[DeviceWork].timing:
            track_computed(m, frame, node)
        return
    key, given = compiled_identity(tv), _given(m, tv, args)
    if _is_idle(tv.operand):
        track_warm(m, key, given)  # what is timed is the call itself
        return
    if m.trackers[DeviceWork].timing:
        cold = tv.name.endswith((".jit", "_jit", ".pmap")) and m.trackers[DeviceWork].log.compiles(key, given)
        m.trackers[DeviceWork].log.lines.append(
            Work(
                COMPILED,
                frame.scope,
                node,
                tuple(m.path.stack),
                m.path.branches,
                tuple(m.path.loops),
                key,
                _name(tv.operand),
                given,
                cold,
                m.trackers[DeviceWork].log.made.get(tv, -1),
            )
        )
    track_warm(m, key, given)


def track_jitted(m: Machine, made: TransformedValue) -> None:
    """A function was jitted: in the function that defines it, it is another one each time."""
    operand, maker = made.operand, m.path.stack[-1] if m.path.stack else None
    if m.trackers[DeviceWork].timing and maker is not None and isinstance(operand, FunctionValue):
        if operand.closure is not None and operand.closure.fn is maker.fn and maker.fn is not None:
            m.trackers[DeviceWork].log.made[made] = len(m.trackers[DeviceWork].log.lines)


def _given(m: Machine, tv: TransformedValue, args: Arguments) -> Given:
    if args.star is not None or args.double_star is not None or args.unknown_rest:
        return None
    statics = static_parameters(tv) if tv.fact.statics else (set(), set())
    if statics is None:
        return None
    named = [(value, name in statics[1]) for name, value in sorted(args.kwargs.items())]
    return tuple([
        _seen(m, value, static) for value, static in [*[(v, i in statics[0]) for i, v in enumerate(args.values)], *named]
    ])  # fmt: skip


def _seen(m: Machine, value: Value, static: bool) -> Any:
    """An argument as the compiler sees it."""
    if static:
        return (value.value,) if isinstance(value, Const) else None
    if isinstance(value, (Array, HostArray)):
        shape = shape_of(m, value)
        loop_length = LoopLength(shape.loop, shape.loop.since) if shape is not None and not shape.ragged else None
        return value.dtype, value.ndim, value.length, loop_length
    return None


def _differ(one: Given, other: Given) -> bool:
    """Two calls need two compilations for sure."""
    if one is None or other is None or len(one) != len(other):
        return False
    return any(
        a is not None
        and b is not None
        and len(a) == len(b)
        and any(x not in ("", None) and y not in ("", None) and _are_different(x, y) for x, y in zip(a, b))
        for a, b in zip(one, other)
    )


def _are_different(one: Any, other: Any) -> bool:
    return one.differs(other) if isinstance(one, LoopLength) and isinstance(other, LoopLength) else bool(one != other)


def _sizing_loops(given: Given) -> set[int]:
    """The loops in whose iterations the arguments have other shapes."""
    entries = [entry for argument in given or () if argument is not None for entry in argument]
    return {id(entry.loop) for entry in entries if isinstance(entry, LoopLength)}


def _given_again(given: Given) -> Given:
    """The arguments of a remembered run, which is done again in the running iteration."""
    if given is None:
        return None
    return tuple([argument if argument is None else tuple([_length_now(e) for e in argument]) for argument in given])


def _length_now(entry: Any) -> Any:
    return LoopLength(entry.loop, entry.loop.since) if isinstance(entry, LoopLength) else entry


def _is_idle(operand: Value) -> bool:
    """A function that returns its arguments, or nothing, at once."""
    if not isinstance(operand, FunctionValue):
        return False
    return all(
        isinstance(s, ir.Pass)
        or (isinstance(s, ir.ExprStmt) and isinstance(s.value, ir.Constant))
        or (isinstance(s, ir.Return) and _is_name(s.value))
        for s in operand.fn.body
    )


def _is_name(node: ir.Expr | None) -> bool:
    if isinstance(node, ir.Tuple):
        return all(_is_name(element) for element in node.elts)
    return node is None or isinstance(node, (ir.Name, ir.Constant))


def track_warm(m: Machine, key: Any, given: Given = None) -> None:
    """A function is compiled by now."""
    known = m.trackers[DeviceWork].log.warm.setdefault(key, [])
    if given not in known:
        known.append(given)
    m.trackers[DeviceWork].log.compiled.append((key, given))


def compiled_identity(tv: TransformedValue) -> Any:
    """What JAX looks compiled code up by: the function, however often it is wrapped."""
    function = underlying(tv)
    if isinstance(function, FunctionValue):
        return id(function.fn)
    return function.name if isinstance(function, External) else id(tv)


def _name(operand: Value) -> str:
    function = underlying(operand)
    return function.fn.name if isinstance(function, FunctionValue) and not function.fn.is_lambda else ""


# --- remembered runs ------------------------------------------------------------------------------------


def mark(m: Machine) -> Mark:
    """Where the log is now."""
    log = m.trackers[DeviceWork].log
    return Mark(len(log.lines), len(log.compiled), len(log.readings), len(m.path.branches), len(m.path.loops))


def since(m: Machine, start: Mark, result: Value) -> Slice | None:
    """What was logged since ``start``; None for nothing."""
    log = m.trackers[DeviceWork].log
    makes = log.made.get(result, -1) >= start.lines
    if start == mark(m) and not makes:
        return None
    return Slice(
        start, tuple(log.lines[start.lines :]), tuple(log.compiled[start.compiled :]), tuple(log.readings[start.readings :]),
        makes,
    )  # fmt: skip


def forget_order(m: Machine, start: Mark) -> None:
    """A generator runs when it is iterated: what it dispatches stands nowhere, what it may wait for anywhere."""
    lines = m.trackers[DeviceWork].log.lines
    lines[start.lines :] = [w for w in lines[start.lines :] if w.kind in (WAIT, LOST)]


def repeat_log(m: Machine, found: Slice, depth: int, outside: tuple[Link, ...], mapping: dict[int, Any]) -> None:
    """Log again what a remembered run has logged; ``mapping`` learns its readings of today."""
    log, start = m.trackers[DeviceWork].log, found.start
    base, branches, loops = len(log.lines), m.path.branches, tuple(m.path.loops)
    if m.trackers[DeviceWork].timing or found.readings:
        for work in found.lines:
            log.lines.append(
                msgspec.structs.replace(
                    work,
                    chain=outside + work.chain[depth + 1 :] if work.chain else (),
                    branches=branches + work.branches[start.branches :],
                    loops=loops + work.loops[start.loops :],
                    cold=work.cold and log.compiles(work.key, _given_again(work.given)),
                    given=_given_again(work.given),
                    made=base + work.made - start.lines if work.made >= start.lines else -1,
                )
            )
    for key, given in found.compiled:
        track_warm(m, key, _given_again(given))
    for value in found.readings:
        renewed = tuple([
            Reading(log, base + r.position - start.lines, r.scope, r.node, outside + r.chain[depth + 1 :], branches, loops)
            for r in value.readings
            if r.position >= start.lines
        ])  # fmt: skip
        mapping[id(value)] = _holding(m, renewed)


def repeat_warm(m: Machine, events: list[Any]) -> None:
    """A remembered run times again what it timed: by now it is compiled."""
    for event in events:
        if isinstance(event, Timed):
            for place in event.cold:
                if (
                    place.key in m.trackers[DeviceWork].log.warm and not place.always
                ):  # the run itself is logged after this
                    m.bus.record_fact(WARM, place.scope, place.at.start)


# --- differences ----------------------------------------------------------------------------------------


def scaled(m: Machine, value: HostArray, by: Value, op: str) -> HostArray | None:
    """``time.time() * 1000`` is a reading still."""
    if op in "*/" and value.readings and isinstance(by, (Const, Static)):
        return _holding(m, value.readings)
    return None


def emit_difference(m: Machine, frame: Frame, node: Any, stop: HostArray, start: HostArray) -> None:
    """Tell the rules that the difference of two readings is taken."""
    if m.path.mode.staged or len(stop.readings) != 1 or not start.readings or not m.bus.wants(Timed):
        return
    end = stop.readings[0]
    common = _common([begin.chain for begin in start.readings] + [end.chain])
    judged = [_judge(m, begin, end, common) for begin in start.readings]
    works = [work for work, _cold in judged]
    pending = works[-1] if all(works) else None
    cold = judged[0][1] if len(judged) == 1 and not _mentions_compiling(frame, node) else ()
    scope, at = end.scope, end.node
    if len(end.chain) > len(common):
        scope, at = end.chain[len(common)].scope, end.chain[len(common)].node
        cold = () if _says_compiling(scope, at) else cold
    settled = _first_compiled(start.readings, end, common) if pending is None else None
    if pending is None and not cold and settled is None:
        return
    where, what = (_placed(pending, common), pending.what) if pending is not None else (None, "")
    dispatches = _times_run(pending, end) if pending is not None else 1
    started = _started(start.readings[0], common) if len(start.readings) == 1 else None
    stepwise = pending is not None and _is_stepwise(pending, start.readings, end, common)
    fed = pending is not None and any(_is_in_fed_loop(pending, begin, end) for begin in start.readings)
    m.bus.emit(
        Timed(
            m.path.context(scope), at, where, what, cold, dispatches=dispatches, started=started, stepwise=stepwise,
            fed=fed, settled=settled,
        )
    )  # fmt: skip
    m.trackers[DeviceWork].log.last_difference = frame.scope, node, scope, at


def _is_stepwise(pending: Work, begins: tuple[Reading, ...], end: Reading, common: tuple[Link, ...]) -> bool:
    """A function that is timed computes step by step in a loop of its own, and compiles nothing: Python takes the time."""
    if pending.kind != COMPUTED or len(pending.chain) <= len(common):
        return False
    works = end.log.lines[min(begin.position for begin in begins) : end.position]
    compiled = any(work.kind == COMPILED for work in works)
    return not compiled and all(len(pending.loops) > len(begin.loops) for begin in begins)


def _first_compiled(begins: tuple[Reading, ...], end: Reading, common: tuple[Link, ...]) -> Any:
    """The first compiled call between two readings in one function."""
    if len(begins) > 1 or len(begins[0].chain) != len(common):
        return None
    works = end.log.lines[begins[0].position : end.position]
    return next((_placed(work, common) for work in works if work.kind == COMPILED), None)


def _times_run(work: Work, end: Reading) -> int:
    """How often the work ran up to the reading: the trip counts of the loops that hold it alone. 0: not known."""
    around = {id(loop) for loop in end.loops}
    return math.prod(loop.times or loop.trip_count for loop in work.loops if id(loop) not in around)


def _mentions_compiling(frame: Frame, node: Any) -> bool:
    """``print(f"compilation took {time.time() - start}")``, ``compile_time = time.time() - start``: the author says so."""
    body = frame.fn.body if frame.fn is not None else frame.scope.tree.body
    around = list(nodes_around(body, node.start, node.end))
    statement = next((n for n in reversed(around) if isinstance(n, (ir.Assign, ir.ExprStmt, ir.Return))), None)
    if statement is None:
        return False
    texts = [frame.scope.text[statement.start : statement.end]]
    if isinstance(statement, ir.Assign) and isinstance(statement.targets[0], ir.Name):
        name = statement.targets[0].id
        behind = [s for s in body if s.start >= statement.end and isinstance(s, ir.ExprStmt) and name in names_read(s)]
        texts += [frame.scope.text[s.start : s.end] for s in behind]
    return any("compil" in text.lower() for text in texts)


def _says_compiling(scope: ModuleScope, node: Any) -> bool:
    return node is not None and "compil" in scope.text[node.start : node.end].lower()


def track_comparison(m: Machine, frame: Frame, node: Any) -> None:
    """A comparison whose operand is a difference of readings: ``time.time() - start < limit``."""
    found = m.trackers[DeviceWork].log.last_difference
    if found is None or found[0] is not frame.scope or not node.start <= found[1].start <= found[1].end <= node.end:
        return
    m.bus.record_fact(NO_MEASURE, found[2], found[3].start)


def _common(chains: list[tuple[Link, ...]]) -> tuple[Link, ...]:
    """The calls around all of the readings: the last of them is of the function in which the stretch lies."""
    shortest = min(chains, key=len)
    for i, link in enumerate(shortest):
        if any(chain[i] is not link for chain in chains):
            return shortest[:i]
    return shortest


def _placed(work: Work, common: tuple[Link, ...]) -> Any:
    """The expression of the function in which the stretch lies that makes the work be done."""
    if work.chain[: len(common)] != common:
        return None
    return work.node if len(work.chain) == len(common) else work.chain[len(common)].node


class _Stretch(msgspec.Struct, frozen=True, eq=False):
    """What was logged between two readings. common: the calls around both of them."""

    begin: Reading
    end: Reading
    common: tuple[Link, ...]
    works: list[Work]

    def place(self, work: Work) -> Any:
        """See ``_placed``."""
        return _placed(work, self.common)

    def scope(self, work: Work) -> ModuleScope:
        """The file of that expression."""
        depth = len(self.common)
        return work.scope if len(work.chain) == depth else work.chain[depth].scope

    def is_certain(self, work: Work) -> bool:
        """A path to the second reading has done the work."""
        return work.branches == self.end.branches[: len(work.branches)]


def _judge(
    m: Machine, begin: Reading, end: Reading, common: tuple[Link, ...]
) -> tuple[Work | None, tuple[ColdCall, ...]]:
    """The last work between two readings that no code has waited for, and the calls there that compile."""
    log = m.trackers[DeviceWork].log
    if begin.log is not log or end.log is not log:
        return None, ()
    stretch = _Stretch(begin, end, common, log.lines[begin.position : end.position])
    if not stretch.works or stretch.works[0].kind == WAIT:
        m.bus.record_fact(NO_MEASURE, begin.scope, begin.node.start)
    for work in stretch.works:
        _emit_warm(m, work, stretch)
    if any(w.kind in (LOST, YIELD) for w in stretch.works):
        return None, ()
    return _pending(stretch), _cold(m, stretch)


def _pending(stretch: _Stretch) -> Work | None:
    """The last work that no code has waited for."""
    works, loops = stretch.works, stretch.begin.loops
    waits = [i for i, w in enumerate(works) if w.kind == WAIT]
    after = works[waits[-1] + 1 :] if waits else works
    # Of a loop that waits in every iteration hardly anything is pending.
    straight = all(works[i].loops == loops for i in waits)
    candidates = [w for w in after if stretch.is_certain(w) and (w.kind == COMPILED or not waits)]
    if not candidates or (waits and not (straight and candidates[-1].loops == loops)):
        return None
    return candidates[-1]


def _is_in_fed_loop(work: Work, begin: Reading, end: Reading) -> bool:
    """A loop between the readings that waits for its data made the work."""
    return any(_is_fed(loop) for loop in work.loops if loop not in begin.loops and loop not in end.loops)


def _is_fed(loop: LoopState) -> bool:
    """The loop trains on data from somewhere, for which the host waits as well: what is in flight at its end is a small part.
    A ``range`` just repeats, and what hands nothing on is a benchmark."""
    if not isinstance(loop.node, ir.For) or loop.trip_count or not loop.carries:
        return False
    iterated = loop.node.iter
    while isinstance(iterated, ir.Call) and iterated.args:
        if isinstance(iterated.func, ir.Name) and iterated.func.id == "range":
            return False
        if isinstance(iterated.func, ir.Attribute) and iterated.func.attr in ("range", "trange"):
            return False
        iterated = iterated.args[0].value
    return True


def _cold(m: Machine, stretch: _Stretch) -> tuple[ColdCall, ...]:
    """The calls that compile, where what is timed is them and not a program that runs for long."""
    works, begin = stretch.works, stretch.begin
    always = _always_cold(stretch)
    if always is not None:
        return always
    if _is_anybodys(stretch.common):
        return ()
    if not all(loop.unrolled for loop in begin.loops):
        for work in works:  # the next iteration times the same without compiling
            _track_warm_place(m, work, stretch)
        return ()
    if any(w.loops != begin.loops and not _repeats(w, stretch) for w in works):
        return ()
    several = len({w.key for w in works if w.kind == COMPILED}) > 1
    found = [work for work in works if _is_reported_cold(work, stretch, several=several)]
    places = m.trackers[DeviceWork].log.cold_places
    for work in found:
        places.setdefault(work.key, []).append((stretch.scope(work), stretch.place(work).start))
    return tuple(ColdCall(stretch.place(work), stretch.scope(work), work.key, work.what) for work in found)


def _always_cold(stretch: _Stretch) -> tuple[ColdCall, ...] | None:
    """The calls that compile each time; None if there are none."""
    always = [work for work in stretch.works if _compiles_always(work, stretch)]
    if not always:
        return None
    found = always if all(_is_benchmark(w, stretch) for w in stretch.works) else []
    return tuple(ColdCall(stretch.place(w), stretch.scope(w), w.key, w.what, always=True) for w in found)


def _compiles_always(work: Work, stretch: _Stretch) -> bool:
    """The call is renewed or sized, by the one loop around the stretch."""
    if work.kind != COMPILED or stretch.place(work) is None or not stretch.is_certain(work):
        return False
    if work.made >= stretch.begin.position:
        return True
    around = {id(loop) for loop in stretch.begin.loops if not loop.unrolled}
    return work.cold and len(around) == 1 and around <= _sizing_loops(work.given)


def _is_benchmark(work: Work, stretch: _Stretch) -> bool:
    """The loops around the work count, or do the same in every iteration."""
    inner = work.loops[len(stretch.begin.loops) :]
    return not inner or all(loop.counting for loop in inner) or _repeats(work, stretch)


def _is_reported_cold(work: Work, stretch: _Stretch, *, several: bool) -> bool:
    """A call that compiles for sure. several: different functions are timed together, so only calls made right there."""
    if not work.cold or stretch.place(work) is None or not stretch.is_certain(work):
        return False
    return not several or len(work.chain) <= len(stretch.common)


def _emit_warm(m: Machine, work: Work, stretch: _Stretch) -> None:
    """A compiled function is timed once more: so its first call, timed or not, is known to be another matter."""
    if work.kind != COMPILED or work.cold:
        return
    _track_warm_place(m, work, stretch)
    for scope, start in m.trackers[DeviceWork].log.cold_places.get(work.key, ()):
        m.bus.record_fact(WARM, scope, start)


def _track_warm_place(m: Machine, work: Work, stretch: _Stretch) -> None:
    place = stretch.place(work) if work.kind == COMPILED else None
    if place is not None:
        m.bus.record_fact(WARM, stretch.end.scope, place.start)


def _is_anybodys(common: tuple[Link, ...]) -> bool:
    """A method of an object that unknown code has, and may have called before."""
    receiver = common[-1].receiver if common and common[-1].kind == "entry" else None
    return receiver is not None and not isinstance(receiver, ClassValue)


def _repeats(work: Work, stretch: _Stretch) -> bool:
    """The loops around the work that began in the stretch do the same in every iteration: a benchmark's."""
    if work.kind not in (COMPILED, COMPUTED) or len(work.chain) != len(stretch.common):
        return work.kind == WAIT
    return all(
        isinstance(loop.node, ir.For) and not (names_read(work.node) & _bound(loop.node))
        for loop in work.loops[len(stretch.begin.loops) :]
    )


def _bound(loop: ir.For) -> set[str]:
    """The names that a loop binds; what a nested function binds is counted as well."""
    found = names_read(loop.target)
    todo: list[Any] = [loop.body]
    while todo:
        n = todo.pop()
        if type(n) is list or type(n) is tuple:
            todo += n
        elif type(n) not in _PLAIN:
            if isinstance(n, ir.Assign):
                found |= names_read(n.targets)
            elif isinstance(n, (ir.AugAssign, ir.For, ir.NamedExpr, ir.AnnAssign)):
                found |= names_read(n.target)
            todo += [part for part in msgspec.structs.astuple(n) if type(part) not in _PLAIN]
    return found
