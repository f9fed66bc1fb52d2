"""Runs that need not be repeated: what they were given, what they gave, and doing it again to other inputs.

Vocabulary
----------
effects     what a run changed outside of itself: key uses and slots of its inputs, by the input's number.
instantiate a remembered result for other inputs: inputs are exchanged, everything that the run made is copied.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining, memo_keys
from flake8_jax.semantics.domain.arguments import Call
from flake8_jax.semantics.domain.conditions import are_mutually_exclusive, normal_condition
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.signatures import in_quotes
from flake8_jax.semantics.domain.stack import Link, Mode
from flake8_jax.semantics.domain.values import (
    MISSING,
    UNKNOWN_TRACE,
    Array,
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Condition,
    Const,
    DictValue,
    External,
    ExternalInstance,
    FunctionValue,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    Opaque,
    PartialValue,
    Room,
    Static,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    canonical_key,
    copy_with_new_identity,
    part_of,
)
from flake8_jax.semantics.interpreter.closures import captured_values, mentioned
from flake8_jax.semantics.machine.bus import Emission
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.clocks import DeviceWork
from flake8_jax.semantics.trackers.freshness import now
from flake8_jax.semantics.trackers.host_seeds import fixed_in
from flake8_jax.semantics.trackers.keys import Keys
from flake8_jax.semantics.trackers.readiness import is_ready
from flake8_jax.semantics.trackers.variation import Variations


def call_text(m: Machine, fn: ir.Function) -> str:
    """The sentence for a call, for evidence."""
    caller = m.path.stack[-1].function if m.path.stack else "<module>"
    return f"{in_quotes(caller)} calls {in_quotes(fn.qualname)}"


class Remembered(msgspec.Struct, frozen=True, eq=False):
    """A run that need not be repeated: its inputs in the order of visit, its result, effects and reports.

    depth: how many links the call stack had outside of it. trace: the one that it ran in. records: what trackers need to
    do again what it did, by class.
    """

    inputs: list[Any]
    result: Value
    slot_effects: list[tuple[int, Any, Any]]
    emissions: list[Emission]
    depth: int
    trace: int
    records: dict[type[Tracker], Any]


class Inputs(msgspec.Struct, frozen=True, eq=False):
    """What a run is given. key: of such a run, None where it has none. values: its inputs, in the order of visit. plain:
    such a run may be remembered."""

    key: Any
    values: list[Any]
    plain: bool


_MUTABLE = frozenset({ListValue, DictValue, Instance, ExternalInstance})


def is_mutable(value: Value, room: Room | None = None) -> bool:
    if type(value) in _MUTABLE:
        return True
    if not isinstance(value, (TupleValue, UnionValue)):
        return False
    room = room if room is not None else Room()
    parts = value.elts if isinstance(value, TupleValue) else value.members
    return not room.enter(value) or any(is_mutable(v, room) for v in parts)


def holds_fresh_closure(value: Value, closure: Frame | None, depth: int = 5, room: Room | None = None) -> bool:
    """The value contains a function closed over a frame of this very run: another run gives another one."""
    if depth == 0:
        return True
    if isinstance(value, FunctionValue):
        frame = closure
        while frame is not None:
            if frame is value.closure:
                return False
            frame = frame.parent
        return value.closure is not None
    parts: list[Any] = []
    if isinstance(value, (TupleValue,)):
        parts = list(value.elts)
    elif isinstance(value, UnionValue):
        parts = list(value.members)
    elif isinstance(value, BoundMethod):
        parts = [value.func]
    elif isinstance(value, PartialValue):
        parts = [value.func, *value.args, *value.kwargs.values()]
    elif isinstance(value, TransformedValue):
        parts = [value.operand]
    elif isinstance(value, (ListValue, DictValue, Instance, ExternalInstance)):
        parts = [v for v in value.slots.values() if isinstance(v, Value)][:40]
    if not parts:
        return False
    room = room if room is not None else Room()
    return not room.enter(value) or any(holds_fresh_closure(v, closure, depth - 1, room) for v in parts)


def repeat(
    m: Machine, found: Remembered, inputs: list[Any], at: Call, fn: ir.Function, bound: dict[str, Value]
) -> Value:
    """Do again what a remembered run did, to these inputs."""
    scope, node = at.frame.scope, at.node
    mapping: dict[Any, Any] = {}
    outside = (*m.path.stack, Link(scope, node, "call", fn.qualname, call_text(m, fn), 0, fn, bound=bound))
    events = [e.event for e in found.emissions]
    replay = Replay(inputs, events, found.depth, outside, mapping, scope, node, found.result)
    m.trackers.replay_events(found.records, replay)
    if found.emissions:
        m.bus.emissions += [
            msgspec.structs.replace(e, chain=outside + e.chain[found.depth + 1 :]) for e in found.emissions
        ]
    for old, new in zip(found.inputs, inputs, strict=True):
        mapping[id(old)] = new
    m.trackers.replay(found.records, replay)
    for i, slot, value in found.slot_effects:
        now = instantiate(value, mapping, m, found.trace) if isinstance(value, Value) else value
        m.journal.write(inputs[i].slots, slot, now)
    result = instantiate(found.result, mapping, m, found.trace)
    m.trackers.replayed(found.records, replay, result)
    return result


_KEPT = frozenset({Const, Static, External, BuiltinValue, ClassValue, FunctionValue})


def instantiate(
    value: Value, mapping: dict[Any, Any], m: Machine, trace: int = 0, depth: int = 8, room: Room | None = None
) -> Value:
    """A remembered result for other inputs: inputs are exchanged, everything that the run made is copied.

    trace: the one that the run was part of. What is older than that was not made in it.
    """
    replaced = mapping.get(id(value))
    if replaced is not None:
        return replaced  # type: ignore[no-any-return]
    if type(value) is Static and value.choices:
        return _renewed_choices(m, value, mapping)
    if type(value) in _KEPT or depth == 0:
        return value
    if isinstance(value, (Array, Opaque)):
        return _renewed_array(m, value, mapping)
    if type(value) is UnionValue and value.conditions is not None:
        members = [instantiate(v, mapping, m, trace, depth - 1, room) for v in value.members]
        return _renewed_union(m, value, members, mapping)
    room = room if room is not None else Room()
    if not room.enter(value):
        return value
    if trace > 0 and isinstance(value, (Instance, ListValue, DictValue, ExternalInstance)) and value.made_in < trace:
        return value

    def inner(v: Value) -> Value:
        return instantiate(v, mapping, m, trace, depth - 1, room)

    if not isinstance(value, Instance):
        return _renewed_container(m, value, inner)
    copy = Instance(value.cls, exact=value.exact, level=value.level, made_in=_allocation_of_copy(m, value))
    copy.complete = value.complete
    mapping[id(value)] = copy
    for name, v in value.slots.items():
        copy.slots[name] = inner(v) if isinstance(v, Value) else v
    return copy


def _renewed_array(m: Machine, value: Array | Opaque, mapping: dict[Any, Any]) -> Value:
    """An array or an unknown value of a remembered run: a part of an input is that part of the input of today."""
    if isinstance(value, Opaque) and value.parent is not None:
        parent = mapping.get(id(value.parent))
        if isinstance(parent, Opaque):
            return part_of(parent, value.step, lambda: copy_with_new_identity(value))
    origin = value.origin if isinstance(value, (Array, Tree, Unknown)) else None
    made = copy_with_new_identity(value)
    if type(made) is Unknown and id(value) in m.path.identified:
        mapping[id(value)] = made  # a test looked at it
    dispatched = dispatched_in(value)
    if dispatched:
        now = id(m.path.loops[-1]) if m.path.loops else 1
        made.dispatched = now if dispatched > 0 else -now  # type: ignore[attr-defined]
    if origin is not None:
        made.origin = mapping.get(id(origin), origin)  # type: ignore[attr-defined]
    return made


def _renewed_container(m: Machine, value: Value, inner: Callable[[Value], Value]) -> Value:
    """A container, a callable or a generator that a remembered run made. inner: what its parts are now."""
    if isinstance(value, BoundMethod):
        return BoundMethod(value.func, inner(value.self_value), now(m))
    if isinstance(value, PartialValue):
        args = tuple([inner(v) for v in value.args])
        made = PartialValue(value.func, args, {name: inner(v) for name, v in value.kwargs.items()}, now(m))
        made.pytree = value.pytree
        return made
    if isinstance(value, GeneratorValue):
        return GeneratorValue(
            inner(value.element), fresh=value.fresh, some=value.some, made_in=_allocation_of_copy(m, value),
            numbers=value.numbers, count=value.count,
        )  # fmt: skip
    if isinstance(value, UnionValue):
        return joining.union_of([inner(v) for v in value.members])
    return joining.map_leaves(value, inner, _allocation_of_copy(m, value))


def _renewed_union(m: Machine, value: UnionValue, members: list[Value], mapping: dict[Any, Any]) -> Value:
    """A union of a remembered run with the conditions under which its members arose: of what those look at today."""
    joined = joining.union_of(members)
    if not isinstance(joined, UnionValue) or joined.members != tuple(members):
        return joined
    return UnionValue(joined.members, tuple([_renewed_conditions(m, held, mapping) for held in value.conditions or ()]))


def _renewed_choices(m: Machine, value: Static, mapping: dict[Any, Any]) -> Static:
    """A host value of a remembered run, with what held in the branches that it comes from."""
    made = Static(value.kind, value.holds, value.made_in, guess=value.guess, rank=value.rank)
    made.choices = tuple([(v, _renewed_conditions(m, held, mapping)) for v, held in value.choices])
    mapping[id(value)] = made
    return made


def _renewed_conditions(m: Machine, held: frozenset[Condition], mapping: dict[Any, Any]) -> frozenset[Condition]:
    return frozenset([renewed for c in held if (renewed := _renewed_condition(m, c, mapping)) is not None])


def _renewed_condition(m: Machine, condition: Condition, mapping: dict[Any, Any]) -> Condition | None:
    """A condition of a remembered run, about the values of today; None where it looks at something else."""
    (kind, *parts), truth = normal_condition(condition)
    looked_at: list[Any] = []
    for part in parts:
        if type(part) is tuple and part[0] == "branch":
            serial = mapping.get(("branch", part[1]))  # another run of the statement
            if serial is None:
                serial = mapping["branch", part[1]] = m.path.new_branch()
            looked_at.append(("branch", serial))
            continue
        if type(part) is not tuple or part[0] != "v":
            looked_at.append(part)
            continue
        then = m.path.identified.get(part[1])
        now = mapping.get(part[1])
        if now is None and type(then) is Unknown:
            now = mapping[part[1]] = copy_with_new_identity(then)
        elif now is None and isinstance(then, (Static, HostArray)):
            now = then
        if now is None:
            return None
        m.path.identified[id(now)] = now
        looked_at.append(("v", id(now)))
    return Condition((kind, *looked_at), truth)


def _allocation_of_copy(m: Machine, value: Value) -> int:
    """The allocation trace of a copy that the present trace makes."""
    return m.path.mode.trace if getattr(value, "made_in", UNKNOWN_TRACE) != UNKNOWN_TRACE else UNKNOWN_TRACE


def _shared(m: Machine, mode: Mode, key: memo_keys.MemoKey) -> tuple[Any, ...]:
    """The inputs that are equal for all elements of a vmap around the running code, with that vmap."""
    found: list[Any] = []
    for number, value in enumerate(key.objects):
        root: Value | None = value
        while root is not None:
            root = canonical_key(root)
            for axis in mode.mapped_axes:
                if root in axis.shared:
                    m.trackers[Keys].axes_met.add(axis)  # it stays alive, and so its identity stays its own
                    found.append((number, id(axis), axis.shared[root]))
            root = root.parent if isinstance(root, Opaque) else None
    return tuple(found)


def shared_by_elements(mode: Mode) -> int:
    return sum([len(axis.shared) for axis in mode.mapped_axes]) if mode.mapped_axes else 0


_NO_LOOPS: frozenset[int] = frozenset()


def inputs_of(m: Machine, func: FunctionValue, bound: dict[str, Value], mode: Mode) -> Inputs:
    """What a function is given by bound arguments, by what it closes over, and by how it runs."""
    loops = _NO_LOOPS if mode.staged or not m.path.loops else frozenset([id(loop) for loop in m.path.loops])
    key = memo_keys.MemoKey(m.trackers[Keys].uses, loops=loops, trace=mode.trace)
    key.presumed = mode.presumed
    if m.trackers[Variations].known and not mode.staged:
        key.variations = m.trackers[Variations].known
    parts = _manner(m, mode, in_loop=bool(loops))
    timing = key.timing = m.trackers[DeviceWork].timing
    for name, value in bound.items():
        if timing and type(value) is HostArray and value.readings:
            parts.append(value.readings)
        key.budget = memo_keys.MAX_NODES
        parts.append((name, key.of(value)))
    if func.closure is not None:
        for name, value in captured_values(m, func).items():
            key.budget = memo_keys.MAX_NODES
            parts.append(("^" + name, key.of(value)))
    if m.path.assumed:
        parts.append(frozenset(c for c in m.path.assumed if not key.numbers.keys().isdisjoint(mentioned(m, c))))
    if key.labels and (m.path.assumed or m.path.conditions):
        parts.append(_parting(m.path.assumed.union(m.path.conditions), key.labels))
    if mode.mapped_axes:
        parts.append(_shared(m, mode, key))
    used = bool(m.trackers[Keys].uses) and any(
        canonical_key(v) in m.trackers[Keys].uses for v in key.objects if isinstance(v, (Array, Opaque))
    )
    try:
        # Two hashes in place of the key itself: thousands of runs are remembered, and keys are large.
        hashes = tuple([hash(part) for part in parts])
        digest = (hash(hashes), hash(hashes[::-1]))
    except TypeError:
        return Inputs(None, key.objects, False)
    return Inputs(digest, key.objects, not used and not (mode.mapped_axes and key.cut))


def _parting(now: frozenset[Condition], labels: set[Condition]) -> frozenset[Condition]:
    """What holds on the path that rules out alternatives of the inputs."""
    return frozenset(
        c for c in now if any(are_mutually_exclusive(frozenset([c]), frozenset([label])) for label in labels)
    )


_TOLD_APART = (0, 4, 10, 15, 20, 99, 100, 1000)
"""Numbers of iterations between which no rule and no tracker sees a difference: a run for each number would use up the runs of
a function that many loops call."""


def _manner(m: Machine, mode: Mode, *, in_loop: bool) -> list[Any]:
    """How code runs, as far as it matters to a run that is remembered. in_loop: in an eager loop of a caller's."""
    # What is made, and what is read, is so in every iteration of that loop, unless a test of its number guards it.
    inner = m.path.loops[-1] if in_loop and m.path.loops else None
    waiting = inner is not None and inner.carries and not inner.coarse and not any(loop.guards for loop in m.path.loops)
    return [
        mode.staged,
        mode.ambient,
        mode.presumed,
        mode.optional,
        mode.shapes_only,
        m.path.caught > 0,
        bool(mode.mapped_axes),
        *(_in_loops(m) if in_loop else (True, False)),
        waiting and not any(loop.runs for loop in m.path.loops) and not is_ready(m),
        bisect_left(_TOLD_APART, math.prod([loop.trip_count for loop in m.path.loops])) if waiting else 0,
        mode.differentiated,
        mode.axes,
        mode.axes_closed and bool(mode.axes),
        m.trackers[DeviceWork].timing and not mode.staged,
        fixed_in(m, mode.trace),
    ]


def _in_loops(m: Machine) -> tuple[bool | str, bool]:
    """Whether few iterations, or the first, come here, or how they find what the last one computed; and whether a test picks
    them by their number."""
    few = any(loop.guards > loop.frequent or loop.runs for loop in m.path.loops)
    return few or (is_ready(m) and "ready"), not any(loop.picked for loop in m.path.loops)


def generalized(value: Value) -> Value:
    """Arguments with their numbers forgotten. Words stay: they name the way that a function takes, and without them it
    would take all."""
    if isinstance(value, Const) and value.value is not None and type(value.value) not in (bool, str):
        return Static(joining.const_kind(value.value))
    if isinstance(value, TupleValue):
        elements = tuple([generalized(v) for v in value.elts])
        same = all(new is old for new, old in zip(elements, value.elts))
        return value if same else TupleValue(elements, value.cls, value.names)
    if isinstance(value, Array) and value.dtype != "key":
        dtype = value.dtype if value.dtype == "bool" else ""
        general = dtype == value.dtype and value.ndim is None and value.length is None and not value.dispatched
        return value if general else Array(value.level, dtype)
    return value


def effects_of(m: Machine, func: FunctionValue, inner: Frame, inputs: Inputs, mark: int) -> Effects | None:
    """What a run since ``mark`` wrote outside of its own frame; None where it wrote what no input leads to."""
    own = inner.slots
    written = [(slots, slot) for slots, slot, _old in m.journal.entries[mark:] if slots is not own]
    index = {id(v.slots): i for i, v in enumerate(inputs.values) if type(v) in _MUTABLE} if written else {}
    outer_frames: set[int] = set()
    outer = func.closure
    while outer is not None:
        outer_frames.add(id(outer.slots))
        outer = outer.parent
    of_inputs: dict[tuple[int, Any], Any] = {}
    for slots, slot in written:
        if m.trackers.owner_of(slots) is not None:
            continue
        if id(slots) in index:
            of_inputs[(index[id(slots)], slot)] = slots.get(slot, MISSING)
        elif id(slots) in outer_frames or m.program.is_variable(slots):
            return None  # writes to variables of enclosing scopes: run it each time
    return Effects(written, [(i, slot, value) for (i, slot), value in of_inputs.items()])


class Effects(msgspec.Struct, frozen=True, eq=False):
    """What a run changed outside of itself. written: all slots. of_inputs: number of the input, slot, new contents."""

    written: list[tuple[dict[Any, Any], Any]]
    of_inputs: list[tuple[int, Any, Any]]


def remembered(
    m: Machine, inputs: Inputs, result: Value, effects: Effects, reports: int, marks: dict[type[Tracker], Any]
) -> Remembered:
    """The run that has just given ``result``. reports: how many emissions there were before. marks: of the trackers."""
    values = inputs.values
    return Remembered(
        values,
        # What the run made is copied, lest it change later; an input stays the input, to be exchanged for another.
        instantiate(result, {id(v): v for v in values}, m, m.path.mode.trace) if is_mutable(result) else result,
        effects.of_inputs,
        m.bus.emissions[reports:],
        len(m.path.stack),
        m.path.mode.trace,
        m.trackers.since(marks, FinishedRun(values, result, effects.written)),
    )
