"""Runs that need not be repeated: what they were given, what they gave, and doing it again to other inputs.

Vocabulary
----------
effects     what a run changed outside of itself: key uses and slots of its inputs, by the input's number.
transplant  a remembered result for other inputs: inputs are exchanged, everything made in the run is made anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain import boundary, joining
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.stack import Link
from flake8_jax.semantics.domain.values import (
    NO_BIRTH,
    Array,
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    FunctionValue,
    GeneratorValue,
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
    freshen,
    part_of,
)
from flake8_jax.semantics.machine.bus import Emission
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.captures import Captures, embed
from flake8_jax.semantics.trackers.clocks import Slice, repeat_log, repeat_warm
from flake8_jax.semantics.trackers.freshness import now
from flake8_jax.semantics.trackers.globals import repeat_reads
from flake8_jax.semantics.trackers.keys import Keys, note_drawn
from flake8_jax.semantics.trackers.recipes import repeat_tangents
from flake8_jax.semantics.trackers.unrolling import repeat_work
from flake8_jax.semantics.trackers.variation import Varying, vary_again


def call_text(m: Machine, fn: ir.Function) -> str:
    """The sentence for a call, for evidence."""
    return f"{m.path.stack[-1].function if m.path.stack else 'module'} calls {fn.qualname}"


class Remembered(msgspec.Struct, frozen=True, eq=False):
    """A run that need not be repeated: its inputs in the order of visit, its result, effects and reports.

    depth: how many links the call stack had outside of it. trace: the one that it ran in. work, varies, inside: what the
    run means to loops around it (see ``unrolling``). embedded: inputs that it makes part of the compiled program. logged:
    what it has added to the log of device work. varying: what of its result varies over the loops around (see
    ``variation``).
    """

    inputs: list[Any]
    result: Value
    use_effects: list[tuple[int, tuple[str, ...], Any]]
    slot_effects: list[tuple[int, Any, Any]]
    emissions: list[Emission]
    depth: int
    trace: int
    work: int
    varies: bool
    inside: int
    embedded: tuple[int, ...]
    logged: Slice | None = None
    varying: Varying = ()


def path_of(
    key: Any, index_of_key: dict[int, int], taken: dict[int, tuple[Array, str]]
) -> tuple[int, tuple[str, ...]] | None:
    """From which input, by which steps, a used key was taken. taken: the keys taken out of arrays of keys."""
    steps: list[str] = []
    value = key
    parent: Value
    while id(value) not in index_of_key:
        if id(value) in taken:
            parent, step = taken[id(value)]
        elif isinstance(value, Opaque) and value.parent is not None:
            parent, step = value.parent, value.step
        else:
            return None
        steps.append(step)
        value = canonical_key(parent)
    return index_of_key[id(value)], tuple(reversed(steps))


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


def repeat(m: Machine, found: Remembered, inputs: list[Any], scope: ModuleScope, node: Any, fn: ir.Function) -> Value:
    """Do again what a remembered run did, to these inputs."""
    mapping: dict[int, Any] = {}
    link = Link(scope, node, "call", fn.qualname, call_text(m, fn), 0, fn)
    outside = (*m.path.stack, link)
    if found.emissions:
        repeat_warm(m, [e.event for e in found.emissions])
    if found.logged is not None:
        repeat_log(m, found.logged, found.depth, outside, mapping)
    if found.emissions:
        repeat_reads(m, [e.event for e in found.emissions])
        m.bus.emissions += [
            msgspec.structs.replace(e, chain=outside + e.chain[found.depth + 1 :]) for e in found.emissions
        ]
    repeat_work(m, found.work, found.inside, varies=found.varies)
    if m.trackers[Captures].constants:
        embed(m, [inputs[i] for i in found.embedded])
    same = True
    for old, new in zip(found.inputs, inputs, strict=True):
        mapping[id(old)] = new
        same = same and old is new
    for i, steps, uses in found.use_effects:
        key: Value = canonical_key(inputs[i])
        for step in steps:
            if isinstance(key, Opaque):
                label = step
                owner: Opaque = key
                key = part_of(owner, step, lambda label=label: Unknown(label))  # type: ignore[misc]
            elif isinstance(key, Array):
                key = boundary.key_taken(key, step)
        if any(use.draws for use in uses):
            note_drawn(m, key)
        earlier = m.trackers[Keys].uses.get(key, ())
        m.journal.write(m.trackers[Keys].uses, key, (*earlier, *[_here(m, u, scope, node) for u in uses])[-6:])
    for i, slot, value in found.slot_effects:
        m.journal.write(
            inputs[i].slots, slot, transplant(value, mapping, m, found.trace) if isinstance(value, Value) else value
        )
    result = transplant(found.result, mapping, m, found.trace)
    repeat_tangents(m, found.result, result, inputs)
    if found.varying:
        vary_again(m, found.varying, result)
    return result


def _here(m: Machine, use: Any, scope: ModuleScope, node: Any) -> Any:
    """A use inside a remembered run, as it stands on the present call path."""
    from flake8_jax.semantics.trackers.keys import current_path

    path = current_path(m, scope, node if node is not None else use.path[-1].node)
    return replace(use, path=path, conditions=frozenset(m.path.conditions))


_KEPT = frozenset({Const, Static, External, BuiltinValue, ClassValue, FunctionValue})


def transplant(
    value: Value, mapping: dict[int, Any], m: Machine, trace: int = 0, depth: int = 8, room: Room | None = None
) -> Value:
    """A remembered result for other inputs: inputs are exchanged, everything made in the run is made anew.

    trace: the one that the run was part of. What is older than that was not made in it.
    """
    replaced = mapping.get(id(value))
    if replaced is not None:
        return replaced  # type: ignore[no-any-return]
    if type(value) in _KEPT or depth == 0:
        return value
    if isinstance(value, Opaque) and value.parent is not None:
        parent = mapping.get(id(value.parent))
        if isinstance(parent, Opaque):
            label = value.step
            return part_of(parent, label, lambda: freshen(value))
    if isinstance(value, (Array, Opaque)):
        origin = value.origin if isinstance(value, (Array, Tree, Unknown)) else None
        made = freshen(value)
        if isinstance(made, Array) and made.dispatched:
            made.dispatched = id(m.path.loops[-1]) if m.path.loops else 1
        if origin is not None:
            made.origin = mapping.get(id(origin), origin)  # type: ignore[attr-defined]
        return made

    room = room if room is not None else Room()
    if not room.enter(value):
        return value

    def inner(v: Value) -> Value:
        return transplant(v, mapping, m, trace, depth - 1, room)

    if trace > 0 and isinstance(value, (Instance, ListValue, DictValue, ExternalInstance)) and value.born < trace:
        return value
    if isinstance(value, Instance):
        copy = Instance(value.cls, exact=value.exact, level=value.level, born=_born_again(m, value))
        copy.complete = value.complete
        mapping[id(value)] = copy
        for name, v in value.slots.items():
            copy.slots[name] = inner(v) if isinstance(v, Value) else v
        return copy
    if isinstance(value, BoundMethod):
        return BoundMethod(value.func, inner(value.self_value), now(m))
    if isinstance(value, PartialValue):
        return PartialValue(
            value.func, tuple(inner(v) for v in value.args), {k: inner(v) for k, v in value.kwargs.items()}, now(m)
        )
    if isinstance(value, GeneratorValue):
        return GeneratorValue(
            inner(value.element),
            fresh=value.fresh,
            some=value.some,
            born=_born_again(m, value),
            numbers=value.numbers,
            count=value.count,
        )
    if isinstance(value, UnionValue):  # what its conditions look at belongs to the remembered run
        return joining.union_of([inner(v) for v in value.members])
    return joining.map_leaves(value, inner, _born_again(m, value))


def _born_again(m: Machine, value: Value) -> int:
    """The birth of a copy that the present trace makes."""
    return m.path.mode.trace if getattr(value, "born", NO_BIRTH) != NO_BIRTH else NO_BIRTH
