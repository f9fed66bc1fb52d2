"""Compiled calls in eager loops whose results replace their arguments, so that the arguments could be donated.

Vocabulary
----------
step        such a call: ``state, loss = train_step(state, batch)``, or ``new = f(x)`` and later ``x = new``.
replaced    the argument's variable holds the result from there on, and held the argument since the iteration began: it
            is carried from iteration to iteration, and not one of a loop's elements, which others may hold as well.
look back   code reads the old value after the call, or something else still holds it: it may not be donated.
keep        a value, or a part of it, goes into a container or another variable: the same, for the next iteration.

Nothing is recorded unless a rule asks for it. Limitations: items as targets, values that unknown code keeps, or that it
makes of one and the same array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import names_read, rest_of_block
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.signatures import underlying
from flake8_jax.semantics.domain.trees import leaves_of
from flake8_jax.semantics.domain.values import (
    Array,
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    FunctionValue,
    GeneratorValue,
    Instance,
    ListValue,
    Opaque,
    Room,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    canonical_key,
    held_by,
)
from flake8_jax.semantics.events.events import UndonatedStep
from flake8_jax.semantics.machine.tracker import Tracker
from flake8_jax.semantics.trackers.reads import Reads

if TYPE_CHECKING:
    from flake8_jax.semantics.machine.core import Machine

KEPT = "the argument is looked at after the call"
Slot = tuple[dict[Any, Any], str]
"""A dictionary of variables or attributes, and the name in it."""
_CARRIED = (Array, Tree, Unknown, TupleValue, ListValue, DictValue, Instance, UnionValue)


class Step(msgspec.Struct, frozen=True, eq=False):
    """A call that got a value as an argument. entry: the outermost link of the call stack then; open: alternatives and
    conditions around the call. kept: the results, and the function, stay alive with it."""

    node: ir.Call
    scope: ModuleScope
    parameter: str
    tv: TransformedValue
    result: Value
    entry: int
    open: tuple[int, int]


@dataclass(slots=True, eq=False)
class Steps:
    """What was met so far. taken: by argument; carried: by the result that replaced one; kept: values that went
    somewhere; calls: identities of the calls; names: replaced parameters by the call, in all iterations that were run;
    looked: calls and parameters whose argument code read after the call, be it replaced or not. pending: variables
    that the running assignment gives a part of an unknown result."""

    taken: dict[Value, Step] = field(default_factory=dict)
    carried: dict[Value, Step] = field(default_factory=dict)
    kept: set[Value] = field(default_factory=set)
    calls: set[int] = field(default_factory=set)
    names: dict[int, list[str]] = field(default_factory=dict)
    looked: set[tuple[int, str]] = field(default_factory=set)
    pending: list[tuple[Slot, Step]] = field(default_factory=list)


class TrainingSteps(Tracker):
    """taken: the steps that loops around have taken, None before the first. read: where functions name their variables."""

    def __init__(self, m: Machine) -> None:
        self.taken: Steps | None = None
        self.read: dict[int, dict[str, list[int] | None]] = {}


def track_step(
    m: Machine, frame: Frame, node: ir.Call, tv: TransformedValue, named: list[tuple[str, Value]], result: Value
) -> None:
    """A compiled function that donates nothing was called in a loop: which of its arguments will be replaced?"""
    if m.path.loops[-1].kind not in ("for", "while"):
        return
    steps = m.trackers[TrainingSteps]
    if steps.taken is None:
        steps.taken = Steps()
    m.trackers[Reads].matter = True
    steps.taken.calls.add(id(node))
    state = (frame.branches, len(m.path.conditions))
    leaves: set[Value] = set()
    unchanged = {canonical_key(v) for v in (result.elts if isinstance(result, TupleValue) else (result,))}
    for parameter, value in named:
        key = canonical_key(value)
        if parameter and isinstance(value, _CARRIED) and key not in unchanged:
            steps.taken.taken[key] = Step(node, frame.scope, parameter, tv, result, _entry(m), state)
        for leaf in _held_arrays(value):
            if leaf in leaves:  # one array in two places: it cannot be donated twice
                m.bus.record_fact(KEPT, frame.scope, node.start)
            leaves.add(leaf)


def _held_arrays(value: Value, depth: int = 4, room: Room | None = None) -> list[Value]:
    if isinstance(value, (Array, Tree, Unknown)):
        return [canonical_key(value)]
    room = room if room is not None else Room()
    parts = _parts(value)
    return (
        [v for part in parts for v in _held_arrays(part, depth - 1, room)]
        if depth and parts and room.enter(value)
        else []
    )


def _entry(m: Machine) -> int:
    return m.path.stack[0].serial if m.path.stack else 0


def _owners(value: Value) -> Iterator[Value]:
    """The value, and what it is a part of."""
    current: Value | None = canonical_key(value)
    while current is not None:
        yield current
        parent = current.parent if isinstance(current, Opaque) else None
        current = canonical_key(parent) if parent is not None else None


def look_back(m: Machine, value: Value, depth: int = 2) -> None:
    """Code reads a value, or passes it on: it may be an argument of an earlier step."""
    steps = m.trackers[TrainingSteps].taken
    if m.path.mode.staged or steps is None or not steps.taken:
        return
    for owner in _owners(value):
        step = steps.taken.get(owner)
        if step is not None and step.entry == _entry(m):
            steps.looked.add((id(step.node), step.parameter))
            if step.parameter in steps.names.get(id(step.node), ()):
                _supersede(m, step)
    if depth:
        for part in _parts(value):
            look_back(m, part, depth - 1)


def keep(m: Machine, value: Value, depth: int = 2) -> None:
    """A value goes where a later iteration may find it."""
    steps = m.trackers[TrainingSteps].taken
    if m.path.mode.staged or steps is None:
        return
    for owner in _owners(value):
        steps.kept.add(owner)
        _supersede(m, steps.carried.get(owner))
    if depth:
        for part in _parts(value):
            keep(m, part, depth - 1)


def hand_over(m: Machine, func: Value, values: list[Value]) -> None:
    """A function is called: it looks at its arguments, and one of the project may keep parts of the state that
    something made for the call brings along."""
    steps = m.trackers[TrainingSteps].taken
    if m.path.mode.staged or steps is None:
        return
    for value in values:
        look_back(m, value)
        if isinstance(func, (FunctionValue, BoundMethod, ClassValue)) and isinstance(value, (DictValue, ListValue)):
            if value not in steps.carried:
                for part in _parts(value):
                    for owner in _owners(part):
                        _supersede(m, steps.carried.get(owner))


def give_back(m: Machine, value: Value) -> None:
    """A function returns a value, or several: the caller may look at them."""
    for part in value.elts if isinstance(value, TupleValue) else (value,):
        if not isinstance(part, UnionValue):
            look_back(m, part, 0)


def _supersede(m: Machine, step: Step | None) -> None:
    if step is not None and step.entry == _entry(m):
        m.bus.record_fact(KEPT, step.scope, step.node.start)


def _parts(value: Value) -> Sequence[Value]:
    """What a state holds directly: a generator is not one, and neither is an object that is not a pytree."""
    if isinstance(value, GeneratorValue) or (isinstance(value, Instance) and "pytree" not in value.cls.traits):
        return ()
    return held_by(value)


def emit_steps(m: Machine, frame: Frame, node: ir.Assign, value: Value) -> None:
    """An assignment is about to replace arguments of a step by its results: tell the rules."""
    steps = m.trackers[TrainingSteps].taken
    if steps is None or m.path.mode.staged or not m.path.loops or m.path.loops[-1].kind not in ("for", "while"):
        return
    found: dict[int, Step] = {}
    for target in node.targets:
        for single, new in _pairs(target, value):
            step = _replaced(m, frame, node, single, new)
            if step is not None:
                found[id(step.node)] = step
                _track_replaced(m, step, _slot(frame, single), new)
            elif new is not None and not (_holds(frame, single, new) or _is_passing(m, frame, node, single)):
                keep(m, new)
    for step in found.values():
        context, function = m.path.context(step.scope), _function(step.tv)
        names, large = steps.names[id(step.node)], m.program.mentions_large_layers((step.scope, step.tv.site.scope))
        m.bus.emit(UndonatedStep(context, step.node, names, function, step.tv.site, KEPT, large))


def _track_replaced(m: Machine, step: Step, slot: Slot | None, new: Value | None) -> None:
    """A result of a step takes the place of its argument, in this variable or attribute."""
    steps = m.trackers[TrainingSteps].taken
    assert steps is not None
    names = steps.names.setdefault(id(step.node), [])
    names += [step.parameter] if step.parameter not in names else []
    if (id(step.node), step.parameter) in steps.looked:
        _supersede(m, step)
    if new is not None:
        steps.carried.update(dict.fromkeys((canonical_key(new), *_held_arrays(new)), step))
    elif slot is not None:
        steps.pending.append((slot, step))


def track_bound(m: Machine) -> None:
    """The assignment is done: its targets hold the parts of a result that is not known."""
    steps = m.trackers[TrainingSteps].taken
    if steps is None or not steps.pending:
        return
    for (slots, name), step in steps.pending:
        value = slots.get(name)
        if isinstance(value, Value):
            steps.carried[canonical_key(value)] = step
    steps.pending.clear()


def _is_passing(m: Machine, frame: Frame, node: ir.Assign, target: ir.Expr) -> bool:
    """It is a result of a step itself, or goes to a local variable that is read in the same iteration alone, by statements
    that follow in the same block, or before the loops."""
    steps = m.trackers[TrainingSteps].taken
    if steps is not None and id(node.value) in steps.calls:
        return True
    if not isinstance(target, ir.Name) or frame.fn is None or not frame.loops:
        return False
    known = m.trackers[TrainingSteps].read
    places = known.get(id(frame.fn))
    if places is None:
        places = known[id(frame.fn)] = _reads_by_name(frame.fn)
    reads = places.get(target.id, ())
    first, last = rest_of_block(frame.fn.body, node)
    begin = frame.loops[0].node.start
    return reads is not None and all(first <= at < last or node.start <= at < node.end or at < begin for at in reads)


def _reads_by_name(fn: ir.Function) -> dict[str, list[int] | None]:
    """Where a function names each of its variables; None for those that its own functions read, whenever they run."""
    found: dict[str, list[int] | None] = {}
    for statement in fn.body:
        for n in walk(statement):
            if isinstance(n, ir.Name):
                places = found.setdefault(n.id, [])
                if places is not None:
                    places.append(n.start)
            elif isinstance(n, ir.Function):
                found.update(dict.fromkeys(names_read(n.body).difference(n.local_names)))
    return found


def _holds(frame: Frame, target: ir.Expr, value: Value) -> bool:
    """The target already holds the value, or what it is made of: it moves nowhere else."""
    slot = _slot(frame, target)
    old = slot[0].get(slot[1]) if slot is not None else None
    if not isinstance(old, Value):
        return False
    parts = {canonical_key(old), *_held_arrays(old)}
    return any(owner in parts for part in (value, *_parts(value)) for owner in _owners(part))


def _function(value: Value) -> ir.Function | None:
    function = underlying(value)
    return function.fn if isinstance(function, FunctionValue) else None


def _pairs(target: ir.Expr, value: Value) -> Iterator[tuple[ir.Expr, Value | None]]:
    """Each name or attribute that is assigned to, with its new value where that is known."""
    if isinstance(target, (ir.Name, ir.Attribute)):
        yield target, value
    elif isinstance(target, (ir.Tuple, ir.List)):
        elements = value.elts if isinstance(value, TupleValue) and len(value.elts) == len(target.elts) else None
        for i, inner in enumerate(target.elts):
            if elements is not None:
                yield from _pairs(inner, elements[i])
            elif isinstance(value, (Unknown, Tree)) and isinstance(inner, (ir.Name, ir.Attribute)):
                yield inner, None


def _slot(frame: Frame, target: ir.Expr) -> Slot | None:
    """Where a target keeps its value: a local variable, or an attribute of a known object."""
    if isinstance(target, ir.Name):
        return frame.slots, target.id
    if isinstance(target, ir.Attribute) and isinstance(target.value, ir.Name):
        owner = frame.slots.get(target.value.id)
        return (owner.slots, target.attr) if isinstance(owner, Instance) else None
    return None


def _replaced(m: Machine, frame: Frame, node: ir.Assign, target: ir.Expr, new: Value | None) -> Step | None:
    """The step whose argument the target holds, if the new value is a result of it and the old one is carried."""
    slot, steps = _slot(frame, target), m.trackers[TrainingSteps].taken
    old = slot[0].get(slot[1]) if slot is not None else None
    if slot is None or steps is None or not isinstance(old, Value):
        return None
    step = steps.taken.get(canonical_key(old))
    if step is None or step.entry != _entry(m) or step.open != (frame.branches, len(m.path.conditions)):
        return None
    if not _is_result(step, node, old, new) or not _is_carried(m, frame, target, slot, old):
        return None
    if canonical_key(old) in steps.kept or _is_held(frame, slot, old):
        m.bus.record_fact(KEPT, step.scope, step.node.start)
    return step


def _is_result(step: Step, node: ir.Assign, old: Value, new: Value | None) -> bool:
    """What is assigned is a result of the step, and may take the place of the old value."""
    if new is None:
        return step.node is node.value
    return (step.node is node.value or _is_of(new, step.result)) and _alike(old, new)


def _is_carried(m: Machine, frame: Frame, target: ir.Expr, slot: Slot, old: Value) -> bool:
    """The variable, and no other, has held the old value since the iteration began."""
    loop = m.path.loops[-1]
    if isinstance(target, ir.Name) and (not frame.loops or frame.loops[-1] is not loop):
        return False  # a variable of a function called in the loop: its caller knows what is carried
    if any(slots is slot[0] and name == slot[1] for slots, name, _ in m.journal.entries[loop.mark :]):
        return False
    # An alias: ``new = step(x); x = new`` is reported where ``x`` is replaced.
    return not any(
        value is old and not (frame.slots is slot[0] and name == slot[1]) for name, value in frame.slots.items()
    )


def _is_of(new: Value, result: Value) -> bool:
    """The value is the result of a call, or an element of it."""
    if new is result or (isinstance(new, Opaque) and new.parent is result):
        return True
    return isinstance(result, TupleValue) and any(new is element for element in result.elts)


def _alike(old: Value, new: Value) -> bool:
    """The new value may have the size of the old one, and is worth the trouble."""
    if isinstance(new, Array):
        if new.ndim == 0 or new.dtype in ("key", "bool") or new.resized:
            return False
        if isinstance(old, Array):
            return old.ndim is None or new.ndim is None or old.ndim == new.ndim
        return isinstance(old, (Tree, Unknown, UnionValue))
    if isinstance(new, Const) or not _has_room(new):
        return False
    return isinstance(old, (Tree, Unknown, UnionValue)) or isinstance(new, (Tree, Unknown)) or type(old) is type(new)


def _has_room(new: Value) -> bool:
    """A pytree of results may hold one that is worth the memory of an argument."""
    leaves = leaves_of(new)
    small = [leaf for leaf in leaves if isinstance(leaf, Array) and (leaf.ndim == 0 or leaf.resized)]
    return not leaves or len(small) < len(leaves)


def _is_held(frame: Frame, slot: Slot, old: Value) -> bool:
    """A container or an object in another variable holds the old value as well."""
    for value in frame.slots.values():
        if isinstance(value, TupleValue) and any(part is old for part in value.elts):
            return True
        if isinstance(value, (ListValue, DictValue, Instance)):
            if any(
                part is old and not (value.slots is slot[0] and key == slot[1]) for key, part in value.slots.items()
            ):
                return True
    return False
