"""How much code the Python loops of staged code unroll into.

Vocabulary
----------
trips       how often a loop surely runs its body; None where that is not known, or a ``break`` or ``return`` may end it.
work        operations that JAX records while it traces the body. A loop without any leaves nothing in the program.
gathering   the loop goes over the length of an array or a list, adds up what it computes of each element, or collects it
            in a list: no iteration needs another one, so that ``vmap`` can do all of them.
rows        the loop goes over the elements of an array (see ``row_loops``), whether an iteration needs another one or not.
recurring   the loop goes over an axis of an array, and computes of each element what the next iteration starts from: ``scan``
            does that.
applied     a network runs on parameters that it is given: the layers that it makes for that are the same ones each time.
varied      an iteration takes something else than the next one that no array could hold: the item of a list of layers,
            a parameter under a name of its own, a new layer. Such a loop cannot be rolled up, so nothing is said of it.
by default  how often a loop runs is an option of the program, and known where its user gives none (``args.num_steps``).
nest        loops of one function inside of one another; the outermost one stands for all.

Under ``grad`` alone JAX runs every iteration, and jit would unroll the loop: the event says so (``eager``).
Kernels of Pallas are left out, where unrolling is a means. Limitations: how large the body is, loops over lists of
arrays other than gathering ones, ``while`` loops whose counter moves in more than one place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, below, bound_paths, last_name, names_read
from flake8_jax.semantics.domain.option_defaults import least_of_option, option_name
from flake8_jax.semantics.domain.row_loops import (
    Rows,
    StepLoop,
    is_plain,
    is_step_by_step,
    rows_of,
    step_loop,
    uses_before_binding,
)
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.stack import LoopState
from flake8_jax.semantics.domain.values import (
    Array,
    Const,
    DictValue,
    FunctionValue,
    GeneratorValue,
    HostArray,
    ListValue,
    Opaque,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.events.events import UnrolledLoop
from flake8_jax.semantics.events.facts import IN_NEST, IN_PREVIEWED_NEST
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import lookup
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker

STEP = 4
"""So many operations and calls are worth a step of ``scan``."""
_NUMBERS = frozenset({bool, int, float, complex})
_AROUND = frozenset({"reversed", "tqdm", "list", "enumerate"})
"""Functions whose result is as long as their argument."""
_NUMBER_KINDS = frozenset({"bool", "int", "float", "complex"})


@dataclass(slots=True, eq=False)
class Unrolling:
    """What is known of a running loop. before: what the code around it had met. work, exits: how many there were. sources:
    what it takes rows of, if these are arrays. picks: items of pytrees, by a number that differs between iterations."""

    before: LoopNest
    work: int
    exits: int
    sources: tuple[Rows, ...] = ()
    varied: bool = False
    picks: list[Value] = field(default_factory=list)


@dataclass
class _Before:
    """What there was when a function began. compiled: its caller was being compiled. size: what its own loops unroll into,
    once it has run."""

    inside: LoopNest
    work: int
    varieties: int
    compiled: bool
    size: int = 1


class LoopNests(Tracker):
    """threshold: so many operations are too many. inside: what the loops met so far unroll into. work: operations staged.
    varieties: differences between iterations that were met. compiled: the function that runs is being compiled."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.threshold = 32
        self.inside = NOTHING
        self.work = 0
        self.varieties = 0
        self.compiled = False
        self._defaults: dict[tuple[ModuleScope, str], int] = {}
        self._stepping: dict[int, StepLoop | None] = {}

    def enter(self) -> tuple[LoopNest, bool]:
        return self.inside, self.compiled

    def leave(self, saved: Any, *, finished: bool) -> None:
        inside, self.compiled = saved
        if not finished:
            self.inside = inside

    def loop_enter(self, frame: Frame, loop: LoopState) -> None:
        m = self.m
        mode = m.path.mode
        if (mode.compiled or mode.differentiated) and not mode.presumed and m.bus.wants(UnrolledLoop):
            left = len(frame.exits) + len(frame.returns)
            loop.records[Unrolling] = Unrolling(self.inside, self.work, left, _sources(m, frame, loop.node))
            self.inside = NOTHING

    def loop_leave(self, frame: Frame, loop: LoopState, at: ir.Expr, trips: int | None) -> None:
        m, seen = self.m, loop.records.get(Unrolling)
        if seen is None:
            return
        size, places = self.inside.size, self.inside.places
        ends_early = loop.exits or len(frame.exits) + len(frame.returns) > seen.exits
        if trips is not None and not ends_early and self.work > seen.work and not _is_varied(seen):
            size *= trips
            if size >= self.threshold and not m.path.mode.shapes_only and not _in_kernel(m):
                self._stand_for(frame, places, by_default=m.path.mode.compiled > 0)
                self._emit(frame, at, size, trips)
            places = (*places, at)
        elif trips is None and not ends_early and (self.work > seen.work or self._is_unknown_step(frame, loop)):
            gathering = gathers(loop.node, frame.fn)

            def is_array(name: str) -> bool:
                return type(lookup(m, frame, name)) is Array

            if gathering or (not _is_varied(seen) and (bool(seen.sources) or recurs(loop.node, frame.fn, is_array))):
                needs = not gathering and not (seen.sources and not uses_before_binding(loop.node))
                self._stand_for(frame, places, by_default=False)
                if not m.path.mode.shapes_only and not _in_kernel(m):
                    self._emit(frame, at, 0, 0, recurs=needs)
                places = (*places, at)
            elif not _is_varied(seen) and (is_step_by_step(loop.node) or self._steps(loop)):
                self._stand_for(frame, places, by_default=False)
                if not m.path.mode.shapes_only and not _in_kernel(m):
                    self._emit(frame, at, 0, 0, recurs=True)
                places = (*places, at)
            elif not _is_varied(seen):
                self._by_default(frame, at)
        self.inside = LoopNest(max(size, seen.before.size), (*seen.before.places, *places))

    def _steps(self, loop: LoopState) -> bool:
        """The loop computes each step from the one before, by its code alone, and is not known to be short."""
        if 0 < loop.trip_count < self.threshold:
            return False
        key = id(loop.node)
        if key not in self._stepping:
            steps = step_loop(loop.node)
            self._stepping[key] = steps if steps is not None and steps.weight >= STEP and not steps.fills else None
        return self._stepping[key] is not None

    def _is_unknown_step(self, frame: Frame, loop: LoopState) -> bool:
        """Under ``grad``, what such a loop hands on is unknown, and so most likely computed from what is differentiated."""
        if not self.m.path.mode.differentiated or not self._steps(loop):
            return False
        steps = self._stepping[id(loop.node)]
        carried = steps.carried if steps is not None else frozenset()
        return any(isinstance(lookup(self.m, frame, name), (Unknown, ListValue, DictValue)) for name in carried)

    def _by_default(self, frame: Frame, at: ir.Expr) -> None:
        """Tell the rules of a loop that an option makes long unless the user of the program gives another number."""
        m, option = self.m, option_name(_end_of_range(at))
        if not option or m.path.mode.shapes_only or _in_kernel(m):
            return
        key = frame.scope, option
        if key not in self._defaults:
            self._defaults[key] = least_of_option(option, frame.scope, m.program.by_name.values())
        trips = self._defaults[key]
        if trips >= self.threshold:
            self._emit(frame, at, trips, trips, option=option)

    def _stand_for(self, frame: Frame, places: tuple[ir.Expr, ...], *, by_default: bool) -> None:
        """The report on a loop tells of those in it as well. by_default: users see it without asking for previews."""
        for place in places:
            self.m.bus.record_fact(IN_PREVIEWED_NEST, frame.scope, place.start)
            if by_default:
                self.m.bus.record_fact(IN_NEST, frame.scope, place.start)

    def _emit(
        self, frame: Frame, at: ir.Expr, size: int, trips: int, *, recurs: bool = False, option: str = ""
    ) -> None:
        m = self.m
        eager = not m.path.mode.compiled
        m.bus.emit(UnrolledLoop(m.path.context(frame.scope), at, size, trips, dict(frame.slots), recurs, option, eager))

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> _Before:
        before = _Before(self.inside, self.work, self.varieties, self.compiled)
        self.inside, self.compiled = NOTHING, self.m.path.mode.compiled > 0
        return before

    def returned(self, mark: _Before, *, suspended: bool) -> None:
        """By how much the loops of a function multiply with those around the call. Those that are reported themselves do
        not."""
        mark.size = self.inside.size if self.inside.size < self.threshold else 1
        self.inside, self.compiled = mark.inside, mark.compiled
        self._add_called(mark.size)

    def _add_called(self, size: int) -> None:
        """The path is back in code that called a function. What is compiled there is one operation for eager code."""
        if size > self.inside.size and (self.compiled or not self.m.path.mode.compiled):
            self.inside = LoopNest(size, self.inside.places)

    def since(self, mark: _Before, run: FinishedRun) -> tuple[int, bool, int] | None:
        record = self.work - mark.work, self.varieties > mark.varieties, mark.size
        return record if record != (0, False, 1) else None

    def replay(self, record: tuple[int, bool, int], replay: Replay) -> None:
        work, varies, size = record
        self.work += work
        if varies:
            track_variety(self.m)
        self._add_called(size)


def _sources(m: Machine, frame: Frame, node: Any) -> tuple[Rows, ...]:
    """What a loop takes rows of: arrays, and what may be an array or a list of arrays by the way the loop uses its elements.
    None if one of them is known to be short."""
    rows = rows_of(node) if isinstance(node, (ir.For, ir.Comprehension)) else ()
    given = {parameter.name for parameter in frame.fn.params} if frame.fn is not None else set()
    names = [row.source.id for row in rows if isinstance(row.source, ir.Name)]
    found = [lookup(m, frame, name) for name in names]
    known = zip(names, found, strict=True)
    kinds = (Array, Tree) if m.path.mode.compiled else (Array, Tree, Unknown)
    if not all(type(value) in kinds or (name in given and _is_grown(value)) for name, value in known):
        return ()
    lengths = [value.length for value in found if isinstance(value, Array) and value.length is not None]
    if any(length < m.trackers[LoopNests].threshold for length in lengths):
        return ()
    return rows if all(type(value) is Array for value in found) or is_plain(node, rows) else ()


def _is_grown(value: Value | None) -> bool:
    """A list of an unknown number of arrays."""
    return isinstance(value, ListValue) and value.known() is None and type(value.slots.get("*")) is Array


def _end_of_range(node: Any) -> Any:
    """``n`` of ``range(n)`` and ``range(0, n)``, and of a call around them, such as ``reversed``; else None."""
    if not isinstance(node, ir.Call) or not node.args or any(a.star or a.keyword for a in node.args):
        return None
    if last_name(node.func) not in ("range", "arange"):
        return _end_of_range(node.args[0].value) if last_name(node.func) in _AROUND else None
    *start, end = [argument.value for argument in node.args]
    from_zero = not start or (len(start) == 1 and isinstance(start[0], ir.Constant) and start[0].value == 0)
    return end if from_zero else None


def _is_varied(seen: Unrolling) -> bool:
    return seen.varied or any(isinstance(value, Opaque) and value.parts for value in seen.picks)


def _in_kernel(m: Machine) -> bool:
    return any(link.kind == "root" and "pallas" in link.text for link in m.path.stack)


def is_number(value: Value) -> bool:
    """A Python number, or a row of them."""
    if isinstance(value, TupleValue):
        return value.cls is None and all(is_number(v) for v in value.elts)
    if isinstance(value, Const):
        return type(value.value) in _NUMBERS
    return isinstance(value, Static) and value.kind in _NUMBER_KINDS


def trips_of(value: Value) -> int | None:
    """How often a loop over ``value`` surely runs; None also where its elements are more than numbers and keys."""
    if isinstance(value, GeneratorValue):
        return value.count
    if isinstance(value, HostArray):
        return abs(value.size) if value.ndim == 1 and value.size else None
    if isinstance(value, Array):
        return value.length if value.dtype == "key" else None
    if isinstance(value, UnionValue):
        counts = [trips_of(member) for member in value.members]
        known = [count for count in counts if count is not None]
        return min(known) if len(known) == len(counts) else None
    if isinstance(value, (TupleValue, ListValue)):
        elements = value.elts if isinstance(value, TupleValue) else value.known()
        return len(elements) if elements and all(map(is_number, elements)) else None
    return None


def least_trips(values: list[Value]) -> int | None:
    """How often a loop over a ``zip`` of the values surely runs."""
    counts = [trips_of(value) for value in values]
    known = [count for count in counts if count is not None]
    return min(known) if known and len(known) == len(counts) else None


# --- what differs between iterations --------------------------------------------------------------


def track_pick(m: Machine, base: Value, index: Value, item: Value) -> None:
    """``item`` was taken out of ``base`` by an index that is known to Python, but not to us."""
    if isinstance(base, (Array, HostArray)):
        return
    if isinstance(base, (TupleValue, ListValue)):
        elements = base.elts if isinstance(base, TupleValue) else base.known() or (base.slots.get("*"),)
        if all(element is not None and is_number(element) for element in elements):
            return
    _vary(m, index, item if isinstance(base, Tree) else None)


def track_variety(m: Machine) -> None:
    """A name is put together, or a layer is made: in every iteration another one."""
    _vary(m, None, None)


def track_same(m: Machine, before: tuple[int, frozenset[LoopState]], variables: Value | None) -> None:
    """What has run since ``before`` takes its layers and names from a network that is applied, not from the loops around:
    they are the same ones in every iteration, unless the variables are another pytree each time."""
    varieties, varied = before
    m.trackers[LoopNests].varieties = varieties
    held = {variables, *(variables.slots.values() if isinstance(variables, DictValue) else ())}
    for loop in m.path.loops:
        unrolling = loop.records.get(Unrolling)
        if unrolling is not None:
            unrolling.varied = loop in varied or not held.isdisjoint(unrolling.picks)


def varieties_now(m: Machine) -> tuple[int, frozenset[LoopState]]:
    """What is varied so far; for ``track_same``."""
    loops = [loop for loop in m.path.loops if (known := loop.records.get(Unrolling)) is not None and known.varied]
    return m.trackers[LoopNests].varieties, frozenset(loops)


def _vary(m: Machine, index: Value | None, item: Value | None) -> None:
    """The loop that ``index`` counts is varied, or all that are running. item: of a pytree, which may be an array."""
    counted = [loop for loop in m.path.loops if id(index) in loop.counters]
    for loop in counted or m.path.loops:
        unrolling = loop.records.get(Unrolling)
        if unrolling is None:
            continue
        if item is not None:
            unrolling.picks.append(item)
        else:
            unrolling.varied = True
    if not counted or counted[0] in m.path.loops[: m.path.loop_base]:
        m.trackers[LoopNests].varieties += 1


# --- gathering loops ------------------------------------------------------------------------------


def gathers(node: Any, function: ir.Function | None = None) -> bool:
    """``for i in range(len(xs)): total += f(xs[i])``, ``found.append(f(xs[i]))``, or ``[f(xs[i]) for i in range(len(xs))]``.
    function: the one around."""
    if isinstance(node, ir.Comprehension):
        return _is_gathered(node, function)
    if not isinstance(node, ir.For) or not isinstance(node.target, ir.Name):
        return False
    if not _goes_over_length(node.iter, function):
        return False
    read = _Reading(node.target.id, {node.target.id})
    return all(read.allows(statement) for statement in node.body) and read.gathered and read.calls


def _is_gathered(node: ir.Comprehension, function: ir.Function | None) -> bool:
    """``[f(xs[i]) for i in range(len(xs))]``, ``[f(x, i) for x, i in zip(xs, range(len(xs)))]``."""
    if len(node.generators) != 1 or node.generators[0].ifs or node.kind == "dict":
        return False
    target, iterable = node.generators[0].target, node.generators[0].iter
    pairs = [(target, iterable)]
    if isinstance(target, ir.Tuple) and isinstance(iterable, ir.Call) and last_name(iterable.func) == "zip":
        pairs = list(zip(target.elts, (a.value for a in iterable.args), strict=False))
    counters = [t.id for t, over in pairs if isinstance(t, ir.Name) and _goes_over_length(over, function)]
    if not counters:
        return False
    names = names_read(target)
    read = _Reading(counters[0], set(names), elements=names - set(counters))
    return read.computes(node.element) and read.calls and not names.isdisjoint(names_read(node.element))


def recurs(node: Any, function: ir.Function | None, is_array: Callable[[str], bool]) -> bool:
    """``for t in range(xs.shape[0]): h = f(h, xs[t])``. function: the one around. is_array: whether a variable holds an array,
    as ``xs`` of ``range(len(xs))`` has to."""
    if not isinstance(node, ir.For) or not isinstance(node.target, ir.Name):
        return False
    count = _count_of(node.iter)
    named = function is not None and isinstance(count, ir.Name) and _names_length(function, count, _is_axis)
    if count is None or not (_is_axis(count) or named or is_array(_measured(count))):
        return False
    read = _Reading(node.target.id, {node.target.id})
    if not all(read.steps(statement) for statement in node.body):
        return False
    taken = [n for statement in node.body for n in walk(statement) if isinstance(n, ir.Subscript)]
    return not read.carried.isdisjoint(read.written) and any(node.target.id in names_read(n.index) for n in taken)


def _measured(count: ir.Expr) -> str:
    """``xs`` of ``len(xs)``."""
    return last_name(count.args[0].value) if isinstance(count, ir.Call) and _is_length(count) and count.args else ""


def _goes_over_length(iterable: ir.Expr, function: ir.Function | None) -> bool:
    count = _count_of(iterable)
    return count is not None and (_is_length(count) or (function is not None and _names_length(function, count)))


def _is_axis(count: ir.Expr) -> bool:
    """``x.shape[0]``."""
    return isinstance(count, ir.Subscript) and _is_length(count)


def _count_of(node: ir.Expr) -> ir.Expr | None:
    """``n`` of ``range(n)``, ``range(n - 1)`` and ``range(1, n)``."""
    if not isinstance(node, ir.Call) or not isinstance(node.func, ir.Name) or node.func.id != "range":
        return None
    count = node.args[-1].value if 0 < len(node.args) < 3 else None
    is_less = isinstance(count, ir.BinOp) and count.op in ("+", "-") and isinstance(count.right, ir.Constant)
    return count.left if isinstance(count, ir.BinOp) and is_less else count


def _is_length(count: ir.Expr) -> bool:
    """``len(xs)``, ``x.shape[0]``."""
    if isinstance(count, ir.Subscript):
        return isinstance(count.value, ir.Attribute) and count.value.attr == "shape"
    return isinstance(count, ir.Call) and isinstance(count.func, ir.Name) and count.func.id == "len"


def _names_length(function: ir.Function, count: ir.Expr, is_length: Callable[[ir.Expr], bool] = _is_length) -> bool:
    """A variable that the function sets to a length: ``n = len(xs)``, ``batch, n = x.shape``."""
    if not isinstance(count, ir.Name):
        return False
    found = False
    for statement in all_statements(function.body):
        if isinstance(statement, (ir.Assign, ir.AugAssign, ir.AnnAssign)):
            bound = bound_paths(statement)
        else:
            bound = names_read(statement.target) if isinstance(statement, ir.For) else set()
        if count.id not in bound:
            continue
        value = statement.value if isinstance(statement, ir.Assign) else None
        target = statement.targets[0] if isinstance(statement, ir.Assign) else None
        whole = isinstance(target, ir.Tuple) and isinstance(value, ir.Attribute) and value.attr == "shape"
        if value is None or not (whole or (isinstance(target, ir.Name) and is_length(value))):
            return False
        found = True
    return found


@dataclass(slots=True)
class _Reading:
    """The statements of a body so far. bound: names that this iteration has bound. gathered: it collects something; calls:
    it calls a function for that. carried: names that it reads of older code. written: names that some path through it
    writes. sums: names that it adds to. elements: names of what the counter selects."""

    counter: str
    bound: set[str]
    gathered: bool = False
    calls: bool = False
    carried: set[str] = field(default_factory=set)
    sums: set[str] = field(default_factory=set)
    elements: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)

    def steps(self, statement: ir.Stmt, *, surely: bool = True) -> bool:
        """The statement only computes, and puts what it computes into variables and lists. surely: in every iteration."""
        if isinstance(statement, ir.If):
            inner = [*statement.body, *statement.orelse]
            return self.computes(statement.test) and all(self.steps(part, surely=False) for part in inner)
        collected = _collected(statement)
        if collected is not None:
            name, value = collected
            self.carried |= {name} if isinstance(statement, ir.AugAssign) else set()
            self.written.add(name)
            return self.computes(value)
        if not isinstance(statement, ir.Assign) or not self.computes(statement.value):
            return False
        names = bound_paths(statement)
        self.written |= names
        self.bound |= names if surely else set()
        return True

    def allows(self, statement: ir.Stmt) -> bool:
        """The statement needs nothing of other iterations, and takes nothing out of a list of layers."""
        collected = _collected(statement)
        if collected is not None:
            name, value = collected
            self.gathered = True
            self.sums.add(name)
            return self.computes(value) and self.sums.isdisjoint(self.carried)
        if isinstance(statement, ir.Assign) and all(isinstance(target, ir.Name) for target in statement.targets):
            allowed = self.computes(statement.value)
            names = {target.id for target in statement.targets if isinstance(target, ir.Name)}
            self.bound |= names
            if self._is_element(statement.value):
                self.elements |= names
            return allowed and (self.bound | self.sums).isdisjoint(self.carried)
        return False

    def computes(self, value: ir.Expr) -> bool:
        for node in walk(value):
            if isinstance(node, ir.Call):
                self.calls = True
                called = node.func.value if isinstance(node.func, ir.Attribute) else node.func
                if self._is_element(called) or (isinstance(called, ir.Name) and called.id in self.bound):
                    return False  # ``layers[i](x)``
            elif isinstance(node, (ir.Attribute, ir.Subscript)) and self._is_element(node.value):
                return False  # ``layers[i].weight``, ``params[i]["w"]``
            elif isinstance(node, ir.Name) and node.id not in self.bound:
                self.carried.add(node.id)
        return True

    def _is_element(self, node: ir.Expr) -> bool:
        """What the iteration takes out of a list or an array, and may be anything."""
        if isinstance(node, ir.Name):
            return node.id in self.elements
        return isinstance(node, ir.Subscript) and self.counter in names_read(node.index)


def _collected(statement: ir.Stmt) -> tuple[str, ir.Expr] | None:
    """What an iteration adds to a sum or puts into a list, and the name of that."""
    if isinstance(statement, ir.AugAssign) and statement.op == "+" and isinstance(statement.target, ir.Name):
        return statement.target.id, statement.value
    call = statement.value if isinstance(statement, ir.ExprStmt) else None
    if not isinstance(call, ir.Call) or not isinstance(call.func, ir.Attribute) or call.func.attr != "append":
        return None
    if len(call.args) != 1 or not isinstance(call.func.value, ir.Name):
        return None
    return call.func.value.id, call.args[0].value


# --- while ----------------------------------------------------------------------------------------


def trips_of_while(m: Machine, frame: Frame, node: ir.While) -> int | None:
    """``while i < 50:`` over a body that adds a constant to ``i`` in one place."""
    test = node.test
    if not isinstance(test, ir.Compare) or len(test.ops) != 1 or not isinstance(test.left, ir.Name):
        return None
    name = test.left.id
    start, end = lookup(m, frame, name), _constant(m, frame, test.comparators[0])
    step = _step(m, frame, node.body, name)
    if not isinstance(start, Const) or type(start.value) is not int or end is None or not step:
        return None
    if test.ops[0] in ("<", "<=") and step > 0:
        return max(0, -((start.value - end - (test.ops[0] == "<=")) // step))
    if test.ops[0] in (">", ">=") and step < 0:
        return max(0, -((end - start.value - (test.ops[0] == ">=")) // -step))
    return None


def _constant(m: Machine, frame: Frame, node: ir.Expr) -> int | None:
    value: Any = None
    if isinstance(node, ir.Constant):
        value = node.value
    elif isinstance(node, ir.Name):
        found = lookup(m, frame, node.id)
        value = found.value if isinstance(found, Const) else None
    return value if type(value) is int else None


def _step(m: Machine, frame: Frame, body: list[ir.Stmt], name: str) -> int | None:
    """By how much the body's one assignment to the name moves it; None where there are more, or another one."""
    steps: list[int | None] = []
    todo: list[Any] = [*body]
    while todo:
        node = todo.pop()
        if isinstance(node, ir.AugAssign) and _binds(node.target, name):
            amount = _constant(m, frame, node.value) if node.op in "+-" and node in body else None
            steps.append(amount if amount is None or node.op == "+" else -amount)
        elif isinstance(node, ir.Continue) or any(_binds(target, name) for target in _assigned(node)):
            steps.append(None)
        if not isinstance(node, (ir.FunctionDef, ir.Lambda)):
            todo += below(node)
    return steps[0] if len(steps) == 1 else None


def _assigned(node: Any) -> list[ir.Expr]:
    if isinstance(node, ir.Assign):
        return node.targets
    return [node.target] if isinstance(node, (ir.For, ir.NamedExpr)) else []


def _binds(target: ir.Expr, name: str) -> bool:
    if isinstance(target, (ir.Tuple, ir.List)):
        return any(_binds(element, name) for element in target.elts)
    return isinstance(target, ir.Name) and target.id == name


class LoopNest(msgspec.Struct, frozen=True, eq=False):
    """What the Python loops met so far unroll into: the largest product of trips, and where they stand (see
    ``unrolling``)."""

    size: int = 1
    places: tuple[Any, ...] = ()


NOTHING = LoopNest()
