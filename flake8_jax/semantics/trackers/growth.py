"""Arrays that eager loops copy in every iteration: to make them longer, or to change a few elements.

Vocabulary
----------
made        an array that an eager loop made from others. Its *parts* are those that it holds all of.
site        the operation that copied the parts: it joins arrays (``append``, ``concatenate``), or updates elements
            (``x.at[i].set(v)``). What rearranges or joins alternatives has no site.
carried     at the end of an iteration, a variable or an attribute holds what was made from its value at the start.
listed      an array is made of a list that gets longer in every iteration (see ``variation``).

Nothing is recorded unless a rule asks for it. Limitations: arrays in containers that unknown code changes, generators.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import nodes_around
from flake8_jax.semantics.domain.values import (
    Array,
    DictValue,
    ExternalInstance,
    Instance,
    ListValue,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.events.events import CopyKind, LoopCopy
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.eager_steps import decodes, feeds_model
from flake8_jax.semantics.trackers.eagerness import fills_in_order, has_known_caller, is_short, is_surely_eager
from flake8_jax.semantics.trackers.freshness import loop_fact
from flake8_jax.semantics.trackers.variation import shape_of

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.arguments import Call
    from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
    from flake8_jax.semantics.domain.stack import Link, LoopState, Writes
    from flake8_jax.semantics.machine.core import Machine

_JOINING = frozenset(
    {"append", "column_stack", "concat", "concatenate", "dstack", "hstack", "insert", "vstack", "r_", "c_"}
)
_LISTING = _JOINING | {"array", "asarray", "stack"}
_UPDATING = frozenset({"dynamic_update_slice", "dynamic_update_slice_in_dim", "dynamic_update_index_in_dim"})
_KEEPING = frozenset({
    "abs", "array", "asarray", "astype", "atleast_1d", "atleast_2d", "block_until_ready", "clip", "copy", "device_put",
    "empty_like", "flatten", "full_like", "maximum", "minimum", "nan_to_num", "ones_like", "ravel", "reshape", "sort",
    "zeros_like",
})  # fmt: skip
"""Functions and methods whose result is as large as their first argument."""
_NAMESPACES = ("jax.numpy.", "jax.lax.", "jax.device_put", "jax.block_until_ready")
_SETTING_UP = frozenset({"__init__", "__post_init__", "setup"})
FEW = 16
"""So many copies are not worth a thought."""
_MAX_STEPS = 200
_MAX_DEPTH = 40
_HOLDERS = (TupleValue, ListValue, DictValue, Instance, ExternalInstance)


class Site(msgspec.Struct, frozen=True, eq=False):
    """Where a copy is made. stack: the call stack there."""

    node: ir.Node
    scope: ModuleScope
    how: CopyKind
    stack: tuple[Link, ...]


class Made(msgspec.Struct, frozen=True, eq=False):
    """What an array was made from, and by which operations."""

    parts: tuple[Value, ...]
    sites: tuple[Site, ...] = ()


class _Output(msgspec.Struct, frozen=True, eq=False):
    """Where a run left an array that it made of its inputs: an element of its result (-1: all of it), or a slot of the
    input with that number. sources: numbers of inputs."""

    place: int
    slot: Any
    sources: tuple[int, ...]
    sites: tuple[Site, ...]


class Growth(Tracker):
    """made: what eager loops that still run made, by the array."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.wanted = m.bus.wants(LoopCopy)
        self.made: dict[Value, Made] = {}
        self.order: list[Value] = []

    @property
    def listens(self) -> bool:
        """Eager code in a loop runs, and a rule wants to know."""
        return self.wanted and bool(self.m.path.loops) and not self.m.path.mode.staged

    def track(self, result: Value, parts: Iterable[Value], site: Site | None = None) -> None:
        """``result`` holds all of the parts."""
        held = tuple([part for part in parts if part is not result])
        if not held or not isinstance(result, (Array, Unknown, UnionValue, TupleValue)):
            return
        if result in self.made:  # the same value on both branches
            before = self.made[result]
            held, sites = (*before.parts, *held), before.sites
            self.made[result] = Made(held[-8:], sites if site is None else (*sites, site)[-4:])
        else:
            self.made[result] = Made(held, () if site is None else (site,))
        self.order.append(result)

    def joined(self, contents: list[Any], result: Value) -> None:
        if self.made and self.listens:
            parts = [c for c in contents if isinstance(c, Value)]
            if any(part in self.made for part in parts):
                self.track(result, parts)

    def sites_to(self, value: Value, old: Value) -> list[Site]:
        """The operations between ``old`` and ``value``, if that was made from it."""
        return _Search(self.made, old).run(value)

    # --- loops ----------------------------------------------------------------------------------------------

    def widen(self, frame: Frame, loop: LoopState, branches: list[Writes], written: list[Any]) -> bool:
        if not self.made or is_short(self.m, frame, loop, FEW):
            return False
        if not is_surely_eager(self.m, loop) and not decodes(self.m, loop):
            return False
        # What a library without known callers updates in a loop may be a few elements of a small array.
        certain = has_known_caller(self.m) or loop.carries or loop.coarse or fills_in_order(loop)
        emitted: set[int] = set()
        begun = False
        for slots, slot, old in written:
            where = (id(slots), slot)
            if not isinstance(old, Value):
                begun = begun or any(where in branch and self._is_made(branch[where][2]) for branch in branches)
                continue
            for branch in branches:
                new = branch[where][2] if where in branch else None
                for before, after in _pairs(old, new):
                    for site in self.sites_to(after, before):
                        if id(site.node) not in emitted and (certain or site.how != "updated"):
                            emitted.add(id(site.node))
                            self._emit(site, frame, loop)
        # ``out = x if i == 0 else concatenate([out, x])``: what the first iteration binds, the next one may copy.
        again = begun and Growth not in loop.records
        if again:
            loop.records[Growth] = True
        return again

    def _is_made(self, content: Any) -> bool:
        return isinstance(content, Value) and content in self.made

    def _emit(self, site: Site, frame: Frame, loop: LoopState) -> None:
        path = self.m.path
        unless = "" if is_surely_eager(self.m, loop) else loop_fact(loop.node)
        fed = feeds_model(loop)
        event = LoopCopy(path.context(site.scope), site.node, site.how, loop.node, frame.scope, unless, fed)
        self.m.bus.emit(event, below=site.stack[len(path.stack) :])

    def loop_leave(self, frame: Frame, loop: LoopState, at: ir.Expr, trips: int | None) -> None:
        if not self.m.path.loops:
            self.made.clear()
            self.order.clear()

    def enter(self) -> Any:
        saved = self.made, self.order
        self.made, self.order = {}, []
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.made, self.order = saved

    # --- remembered runs ------------------------------------------------------------------------------------

    def call(self, function: Any, bound: dict[str, Value]) -> tuple[int, int]:
        return len(self.order), len(self.m.path.stack) - 1

    def since(self, mark: tuple[int, int], run: FinishedRun) -> tuple[list[_Output], int] | None:
        if not self.made or len(self.order) <= mark[0]:
            return None
        inputs = {id(value): i for i, value in enumerate(run.inputs) if isinstance(value, Value)}
        slots_of = {id(value.slots): i for i, value in enumerate(run.inputs) if isinstance(value, _SLOTTED)}
        places: list[tuple[int, Any, Any]] = [(-1, None, run.result)]
        if isinstance(run.result, TupleValue):
            places += [(-2 - i, None, part) for i, part in enumerate(run.result.elts)]
        places += [(slots_of[id(s)], slot, s.get(slot)) for s, slot in run.written if id(s) in slots_of]
        found: list[_Output] = []
        for place, slot, value in places:
            if isinstance(value, Value) and value in self.made:
                sources, sites = self._traced_back(value, inputs)
                if sources:
                    found.append(_Output(place, slot, sources, sites))
        return (found, mark[1]) if found else None

    def _traced_back(self, value: Value, inputs: dict[int, int]) -> tuple[tuple[int, ...], tuple[Site, ...]]:
        """The inputs that an array was made from, and the operations between them."""
        sources: dict[int, None] = {}
        sites: dict[Site, None] = {}
        todo, seen = [value], {value}
        while todo and len(seen) < _MAX_STEPS:
            made = self.made.get(todo.pop())
            if made is None:
                continue
            sites.update(dict.fromkeys(made.sites))
            for part in made.parts:
                if id(part) in inputs:
                    sources[inputs[id(part)]] = None
                elif part not in seen:
                    seen.add(part)
                    todo.append(part)
        return tuple(sources), tuple(sites)

    def replayed(self, record: tuple[list[_Output], int] | None, replay: Replay, result: Value) -> None:
        if record is None or not self.listens:
            return
        outputs, depth = record
        for output in outputs:
            value = _output_now(output, replay.inputs, result)
            if value is not None:
                parts = [replay.inputs[i] for i in output.sources]
                sites = [_moved(site, replay.outside, depth) for site in output.sites]
                self.track(value, parts)
                if value in self.made:
                    self.made[value] = Made(self.made[value].parts, tuple(sites))


_SLOTTED = (ListValue, DictValue, Instance, ExternalInstance)


def _moved(site: Site, outside: tuple[Link, ...], depth: int) -> Site:
    return msgspec.structs.replace(site, stack=(*outside, *site.stack[depth + 1 :]))


def _output_now(output: _Output, inputs: list[Any], result: Value) -> Value | None:
    if output.place == -1:
        return result
    if output.place < -1:
        elements = result.elts if isinstance(result, TupleValue) else ()
        return elements[-2 - output.place] if -2 - output.place < len(elements) else None
    found = inputs[output.place].slots.get(output.slot)
    return found if isinstance(found, Value) else None


class _Search:
    """Looks for the operations between an array and one that it was made from."""

    def __init__(self, made: dict[Value, Made], old: Value) -> None:
        self.made = made
        self.old = old
        self.reaches: dict[Value, bool] = {}
        self.sites: dict[Site, None] = {}
        self.left = _MAX_STEPS

    def run(self, value: Value) -> list[Site]:
        self._visit(value, 0)
        return list(self.sites)

    def _visit(self, value: Value, depth: int) -> bool:
        """Whether the old array is a part of ``value``."""
        made = self.made.get(value)
        self.left -= 1
        if made is None or depth > _MAX_DEPTH or self.left < 0:
            return False
        self.reaches[value] = False
        found = False
        for part in made.parts:
            known = self.reaches.get(part)
            found = part is self.old or (self._visit(part, depth + 1) if known is None else known) or found
        self.reaches[value] = found
        if found:
            self.sites.update(dict.fromkeys(made.sites))
        return found


def _pairs(old: Value, new: Any) -> Iterator[tuple[Value, Value]]:
    """What a variable held before, and what it holds now; of tuples, element by element."""
    if not isinstance(new, Value) or (new is old and not isinstance(new, Array)):
        return
    if isinstance(old, TupleValue) and isinstance(new, TupleValue) and len(old.elts) == len(new.elts):
        yield from zip(old.elts, new.elts)
    else:
        yield old, new


# --- what is made ---------------------------------------------------------------------------------------------


def _site(m: Machine, frame: Frame, node: Any, how: CopyKind) -> Site | None:
    """The operation that runs now; None where a remainder of the loop's counter guards it, or an object is set up."""
    if how == "updated" and any(link.fn is not None and link.fn.name in _SETTING_UP for link in m.path.stack):
        return None
    if any(loop.guards > loop.picked or (loop.guards and _is_periodic(frame, loop, node)) for loop in m.path.loops):
        return None
    return Site(node, frame.scope, how, tuple(m.path.stack))


def _is_periodic(frame: Frame, loop: LoopState, node: ir.Node) -> bool:
    """A test around the operation takes a remainder: ``if i % 100 == 0 and i > 0``."""
    around = nodes_around([loop.node], node.start, node.end) if loop in frame.loops else ()
    tests = [outer.test for outer in around if isinstance(outer, ir.If)]
    return any(isinstance(part, ir.BinOp) and part.op == "%" for test in tests for part in walk(test))


def track_library_call(m: Machine, at: Call, name: str, result: Value) -> None:
    """A library function gave ``result``."""
    growth = m.trackers[Growth]
    if not growth.listens or not name.startswith(_NAMESPACES):
        return
    last = name.rpartition(".")[2]
    values = [*at.args.values, *at.args.kwargs.values()]
    if last in _LISTING and values and isinstance(values[0], ListValue):
        _emit_listed(m, at, values[0])
    if last in _JOINING:
        _track_joined(m, at.frame, at.node, values, result)
    elif last in _UPDATING and values:
        track_update(m, at.frame, at.node, values[0], result)
    elif last in _KEEPING and values:
        growth.track(result, values[:1])


def _track_joined(m: Machine, frame: Frame, node: Any, values: Sequence[Value], result: Value) -> None:
    parts = [p for v in values for p in (_elements(v) if isinstance(v, (TupleValue, ListValue)) else (v,))]
    arrays = [part for part in parts if isinstance(part, (Array, Unknown, UnionValue))]
    site = _site(m, frame, node, "joined")
    if site is not None and len(parts) > 1 and not _doubles(m, arrays):
        m.trackers[Growth].track(result, arrays, site)


def _doubles(m: Machine, parts: Sequence[Value]) -> bool:
    """``concatenate([x, x])``, ``concatenate([x, zeros_like(x)])``: an array is as long as another one of them."""
    sources = [_source(m.trackers[Growth].made, part) for part in parts]
    return len(set(sources)) < len(sources)


def _source(made: dict[Value, Made], value: Value) -> Value:
    """The array whose size the value has."""
    found = made.get(value)
    for _ in range(_MAX_DEPTH):
        if found is None or found.sites or len(found.parts) != 1:
            break
        value = found.parts[0]
        found = made.get(value)
    return value


def _elements(value: TupleValue | ListValue) -> tuple[Value, ...]:
    return value.elts if isinstance(value, TupleValue) else value.known() or ()


def _emit_listed(m: Machine, at: Call, values: ListValue) -> None:
    """An array is made of a list: tell the rules if the list is longer in every iteration."""
    variation = shape_of(m, values)
    site = _site(m, at.frame, at.node, "listed")
    if variation is None or variation.ragged or variation.open or site is None or 0 < variation.loop.trip_count < FEW:
        return  # a list that is begun again, such as that of an episode, does not grow
    if not is_surely_eager(m, variation.loop):
        return
    m.bus.emit(LoopCopy(m.path.context(at.frame.scope), at.node, "listed", variation.loop.node, at.frame.scope))


def track_index_trick(m: Machine, frame: Frame, node: Any, name: str, index: Value, result: Value) -> None:
    """``jnp.r_[x, y]`` gave ``result``."""
    if m.trackers[Growth].listens and name.startswith(_NAMESPACES):
        _track_joined(m, frame, node, (index,), result)


def track_update(m: Machine, frame: Frame, node: Any, base: Value, result: Value) -> None:
    """``base.at[i].set(v)`` gave ``result``."""
    growth = m.trackers[Growth]
    if growth.listens:
        site = _site(m, frame, node, "updated")
        if site is not None:
            growth.track(result, (base,), site)


def track_method(m: Machine, name: str, base: Value, result: Value) -> None:
    """A method of an array gave ``result``."""
    growth = m.trackers[Growth]
    if growth.made and growth.listens and name in _KEEPING:
        growth.track(result, (base,))
