"""What differs from one iteration of a loop outside tracing to the next: numbers, and the shapes of arrays.

Vocabulary
----------
variation   how a value differs over the iterations of a running loop. *of a number*: the value itself changes. *of a
            shape*: an array, a list, or anything that can be sliced changes its size.
distinct    nearly every iteration has a new value. A remainder, a minimum, a rounded number or a power of two has few
            values, so it is not distinct. A value that changes only in some iterations is not distinct either.
numbers     the values of an integer in the order of the iterations, if the bounds of the loop are known.
growth      an array that is concatenated from others grows if it replaces one of them at the end of an iteration. A number
            that is stepped (``n += 1``) and a list that gets elements grow, too.
ragged      a slice between two such numbers has the same size in all iterations except the last, which gets the rest.

The variations of a loop are known while it runs (``Variations.known``) and forgotten when it ends. In traced code nothing
varies, because JAX unrolls the loop.

Limitations: sizes that depend on the contents of arrays (except masks), iterables with unknown elements (except
``loaders``), generators, recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain import joining, varying
from flake8_jax.semantics.domain.code import path_of
from flake8_jax.semantics.domain.emptied import emptied_lists
from flake8_jax.semantics.domain.values import (
    Array,
    Const,
    HostArray,
    Instance,
    ListValue,
    SliceValue,
    Static,
    TransformedValue,
    Tree,
    TupleValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.domain.varying import FEW, Variation
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers import grown as grown_parts

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.domain.stack import LoopState, Writes
    from flake8_jax.semantics.machine.core import Machine

MAX_NUMBERS = 512


class Variations(Tracker):
    """known: variations by value, while their loop runs. grown: what was concatenated, with what it was made of."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.known: dict[Value, Variation] = {}
        self.grown: dict[Value, frozenset[Value]] = {}

    @property
    def matter(self) -> bool:
        """Something varies, or grew."""
        return bool(self.known or self.grown)

    def joined(self, contents: list[Any], result: Value) -> None:
        if self.known:
            vary_joined(self.m, [c for c in contents if isinstance(c, Value)], result)

    def widen(self, frame: Frame, loop: LoopState, branches: list[Writes], written: list[Any]) -> bool:
        return bool(loop.stepped or loop.drifting or loop.appended or self.grown) and track_growth(
            self.m, frame, loop, branches, written
        )

    def since(self, mark: None, run: FinishedRun) -> tuple[Varying, grown_parts.GrownParts] | None:
        varying = variations_of(self.m, run)
        grown = grown_parts.grown_by(self.grown, run.inputs, run.result) if self.grown else ()
        return (varying, grown) if varying or grown else None

    def replayed(self, record: tuple[Varying, grown_parts.GrownParts] | None, replay: Replay, result: Value) -> None:
        if record is None:
            return
        varying, grown = record
        if varying and not self.m.path.mode.staged:
            vary_again(self.m, varying, replay.inputs, result)
        if grown and self.m.path.loops:
            grown_parts.grow_again(self.grown, grown, replay.inputs, result)


# --- where it begins ----------------------------------------------------------------------------------


def vary(m: Machine, value: Value, variation: Variation) -> None:
    """``value`` has that variation, if it is anything that can have one."""
    if type(value) in varying.VARYING:
        m.trackers[Variations].known[value] = variation


def track_counter(m: Machine, loop: LoopState, value: Value, numbers: Sequence[int] | None) -> None:
    """``value`` counts the iterations of an eager loop."""
    if m.path.mode.staged or not isinstance(value, Static):
        return
    known = tuple(numbers) if numbers is not None and len(numbers) <= MAX_NUMBERS else None
    vary(m, value, Variation(loop, numbers=known, source=value))


def track_elements(m: Machine, loop: LoopState, known: Sequence[Value], joined: Value) -> None:
    """A loop runs over these elements; ``joined`` stands for any one of them."""
    if m.path.mode.staged:
        return
    if isinstance(joined, TupleValue):
        rows = [v.elts for v in known if isinstance(v, TupleValue) and len(v.elts) == len(joined.elts)]
        if len(rows) == len(known):
            for column, element in zip(zip(*rows), joined.elts):
                track_elements(m, loop, column, element)
    elif isinstance(joined, Static) and all(isinstance(v, Const) for v in known):
        values = [v.value for v in known if isinstance(v, Const)]
        numbers = tuple(values) if all(type(v) is int for v in values) else None
        distinct = len(set(values)) > FEW
        vary(m, joined, Variation(loop, distinct=distinct, numbers=numbers, source=joined, listed=True))


class Update(NamedTuple):
    """``old op right`` takes the place of ``old``."""

    op: str
    old: Value
    right: Value

    @property
    def moves_on(self) -> bool:
        """A number that is another one each time, as far as the operands tell."""
        kinds = {_number_kind(self.old), _number_kind(self.right)}
        if self.op in ("+", "-"):
            return kinds != {"?"} and kinds <= {"int", "float", "?"}
        return self.op in ("*", "/") and _number_kind(self.old) == "float" and kinds <= {"int", "float", "?"}


def track_augmented(m: Machine, frame: Frame, target: ir.Expr, op: str, old: Value, right: Value) -> None:
    """``target op= right``."""
    update = Update(op, old, right)
    if isinstance(target, ir.Name):
        _track_step(m, frame, frame.slots, target.id, update)
    elif isinstance(target, ir.Attribute) and isinstance(target.value, ir.Name):
        owner = frame.slots.get(target.value.id)
        if isinstance(owner, Instance):
            _track_step(m, frame, owner.slots, target.attr, update)


def _track_step(m: Machine, frame: Frame, slots: dict[Any, Any], name: str, update: Update) -> None:
    """``name`` is updated: on every path of the loop, a number that moves on."""
    if not frame.loops or m.path.mode.staged or name not in slots:
        return
    loop: LoopState = frame.loops[-1]
    if not loop.unrolled and loop.branches == frame.branches and update.moves_on:
        loop.stepped.add((id(slots), name))


def track_self_update(m: Machine, frame: Frame, node: ir.Assign) -> None:
    """``x = x op y``, or ``x = y op x`` where that is the same; ``x = int(x * y)``, which need not change it."""
    target, update = node.targets[0], node.value
    if not isinstance(target, ir.Name) or len(node.targets) != 1:
        return
    if not isinstance(update, ir.BinOp):
        _track_drift(m, frame, target.id, update)
        return
    left, right = update.left, update.right
    if update.op in "+*" and isinstance(right, ir.Name) and right.id == target.id:
        left, right = right, left
    if not isinstance(left, ir.Name) or left.id != target.id:
        return
    other = frame.slots.get(right.id) if isinstance(right, ir.Name) else None
    if isinstance(right, ir.Constant) and right.kind in ("int", "float"):
        other = Const(right.value)
    old = frame.slots.get(target.id)
    if old is not None and other is not None:
        _track_step(m, frame, frame.slots, target.id, Update(update.op, old, other))


_ROUNDING = frozenset({"int", "float", "round", "max", "min"})


def _track_drift(m: Machine, frame: Frame, name: str, update: ir.Expr) -> None:
    """``name`` gets a number that the loop computes from its old value."""
    loop: LoopState = frame.loops[-1]
    if m.path.mode.staged or loop.unrolled or loop.guards or name not in frame.slots:
        return
    if (id(frame.slots), name) not in loop.drifting and _moves(update, name):
        loop.drifting.add((id(frame.slots), name))


def _moves(node: ir.Expr, name: str) -> bool:
    """``int(name * decay)``, ``max(name - 1, least)``."""
    if not isinstance(node, ir.Call) or not isinstance(node.func, ir.Name) or node.func.id not in _ROUNDING:
        return False
    for argument in node.args:
        part = argument.value
        if isinstance(part, ir.BinOp) and part.op in ("+", "-", "*", "/", "//"):
            if any(isinstance(side, ir.Name) and side.id == name for side in (part.left, part.right)):
                return True
        elif _moves(part, name):
            return True
    return False


def _number_kind(value: Value) -> str:
    """The type of a number; ``?`` where it is not known whether it is one."""
    if isinstance(value, Unknown):
        return "?"
    return joining.const_kind(value.value) if isinstance(value, Const) else getattr(value, "kind", "")


def track_appended(m: Machine, value: ListValue) -> None:
    """A list gets longer. One that is still there in the next iteration is longer in each."""
    if not m.path.mode.staged:
        for loop in m.path.loops:
            loop.appended.append(value)


def track_shortened(m: Machine, value: Value) -> None:
    """Something is taken out of a list: its length is not known then."""
    if m.path.loops and isinstance(value, ListValue):
        m.journal.keep_alive.append(value)
        for loop in m.path.loops:
            loop.shortened.add(id(value))
        m.trackers[Variations].known.pop(value, None)


def track_filled_up(m: Machine, value: ListValue, node: Any) -> None:
    """A list gets as many elements as it lacks: ``b.extend([0] * (n - len(b)))``, ``while len(b) < n: b.append(0)``. How long
    it is then, has nothing to do with the loops around."""
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
        path, given = path_of(node.func.value), [argument.value for argument in node.args]
    elif isinstance(node, ir.AugAssign):
        path, given = path_of(node.target), [node.value]
    else:
        path, given = "", []
    if path and any(_measures(one, path) for one in given):
        track_shortened(m, value)
    innermost = m.path.loops[-1] if m.path.loops else None
    if innermost is not None and isinstance(innermost.node, ir.While) and _measures(innermost.node.test, path):
        m.journal.keep_alive.append(value)
        for loop in m.path.loops[:-1]:
            loop.shortened.add(id(value))


def track_emptied(m: Machine, frame: Frame, value: ListValue, base: ir.Expr) -> None:
    """A list gets an element that a loop around it empties when the data say so: it may have another length each time."""
    if m.path.mode.staged or shape_of(m, value) is not None:
        return
    for loop in reversed(frame.loops):
        node = loop.node
        if loop.unrolled or not isinstance(node, (ir.For, ir.While)) or loop.scope is not frame.scope:
            return
        emptied = loop.records.get(Variations)
        if emptied is None:
            emptied = loop.records[Variations] = emptied_lists(node, frame.scope.text)
        if frame.scope.text[base.start : base.end] in emptied:
            vary(m, value, Variation(loop, of_shape=True, open=True))
            return


def _measures(node: Any, path: str) -> bool:
    """``len(path)`` stands in an expression."""
    return bool(path) and any(
        isinstance(n, ir.Call)
        and isinstance(n.func, ir.Name)
        and n.func.id == "len"
        and len(n.args) == 1
        and path_of(n.args[0].value) == path
        for n in walk(node)
    )


def track_growth(
    m: Machine, frame: Frame, loop: LoopState, branches: list[Writes], written: Iterable[tuple[Any, Any, Any]]
) -> bool:
    """At the end of an iteration: what of the loop's state varies. written: slots, slot and contents before. Whether
    something was found that is new."""
    found = _track_longer(m, frame, loop)
    grown = m.trackers[Variations].grown
    if m.path.mode.staged or not (loop.stepped or loop.drifting or grown):
        return found
    for slots, slot, old in list(written):
        where = (id(slots), slot)
        now = slots.get(slot)
        if not isinstance(now, Value) or not isinstance(old, Value):
            continue
        if where in loop.stepped and isinstance(now, (Static, Unknown)):
            vary(m, now, Variation(loop))
        elif where in loop.drifting and isinstance(now, (Static, Unknown)):
            vary(m, now, Variation(loop, distinct=False, drifts=True))
        elif not grown or not _vary_longer(
            m, loop, now, [_longer(grown, old, branch.get(where)) for branch in branches]
        ):
            continue
        found = found or where not in loop.growing
        loop.growing.add(where)
    return found


def _track_longer(m: Machine, frame: Frame, loop: LoopState) -> bool:
    """The lists that an iteration has appended to vary. Whether a variable holds one of them that did not vary yet."""
    found = False
    for value in loop.appended:
        if id(value) not in loop.shortened and value not in m.trackers[Variations].known:
            vary(m, value, Variation(loop, of_shape=True))
            found = found or any(value is held for held in _held_by(frame))
    loop.appended = []
    return found


def _held_by(frame: Frame) -> Iterator[Any]:
    """What the variables of a function hold, and the attributes of the objects among them."""
    for known in list(frame.slots.values()):
        yield known
        if isinstance(known, Instance):
            for held in known.slots.values():
                yield held
                if isinstance(held, Instance):
                    yield from held.slots.values()


def _longer(grown: grown_parts.Grown, old: Value, write: tuple[Any, Any, Any] | None) -> set[grown_parts.Place]:
    """Which leaves a branch has made longer."""
    return grown_parts.longer_leaves(grown, old, write[2]) if write is not None else set()


def _vary_longer(m: Machine, loop: LoopState, now: Value, longer: Sequence[set[grown_parts.Place]]) -> bool:
    """The leaves that are longer, whichever branch was taken, vary. Whether there are any."""
    places = set.intersection(*longer) if longer else set()
    for place, leaf in grown_parts.leaves(now) if places else ():
        if place in places:
            vary(m, leaf, Variation(loop, of_shape=True))
    return bool(places)


def forget(m: Machine, loop: LoopState) -> None:
    """The loop has ended."""
    known = m.trackers[Variations].known
    around = m.path.loops[-1] if m.path.loops and _ends_by_data(loop) else None
    for value, variation in [(v, variation) for v, variation in known.items() if variation.loop is loop]:
        del known[value]
        if around is not None and isinstance(value, ListValue) and variation.of_shape and not around.unrolled:
            vary(m, value, Variation(around, of_shape=True, open=True))
    if not m.path.loops:
        m.trackers[Variations].grown.clear()


def _ends_by_data(loop: LoopState) -> bool:
    """``while not done``, or a loop that a ``break`` may leave: how often it runs is another number each time."""
    if isinstance(loop.node, ir.While):
        return bool(loop.exits) or not any(isinstance(part, (ir.Compare, ir.Constant)) for part in walk(loop.node.test))
    return bool(loop.exits)


# --- how it goes on -------------------------------------------------------------------------------------


def number_of(m: Machine, value: Value | None) -> Variation | None:
    """How a number varies; None for anything else."""
    found = m.trackers[Variations].known.get(value) if value is not None else None
    return found if found is not None and not found.of_shape else None


def shape_of(m: Machine, value: Value | None) -> Variation | None:
    """How a shape varies; None where it does not."""
    found = m.trackers[Variations].known.get(value) if value is not None else None
    return found if found is not None and found.of_shape else None


_ON_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "//": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0, "min": min, "max": max,
}  # fmt: skip
_MONOTONE = frozenset({"+", "-", "*", "/"})
_ELEMENTWISE = _MONOTONE | {"**", "//", "%", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^"}


def vary_binary(m: Machine, op: str, left: Value, right: Value, result: Value) -> None:
    """``result`` is ``left op right``."""
    shape = shape_of(m, left) or shape_of(m, right)
    if shape is not None:
        if op in _ELEMENTWISE and isinstance(result, (Array, HostArray, Unknown)):
            vary(m, result, shape)
        return
    a, b = number_of(m, left), number_of(m, right)
    if a is None and b is None:
        return
    numbers = _numbers(op, left, a, right, b)
    distinct = all(v is None or v.distinct for v in (a, b)) and _stays_distinct(op, left, a, b, result)
    known = a or b
    if known is not None:
        listed = any(v is not None and v.listed for v in (a, b))
        vary(m, result, Variation(known.loop, False, distinct, numbers, known.source, listed=listed))


def _stays_distinct(op: str, left: Value, a: Variation | None, b: Variation | None, result: Value) -> bool:
    """Whether distinct operands give distinct results."""
    if isinstance(result, (Array, HostArray)):  # of unknown contents: a mask, say
        return True
    if op in ("==", "!=", "<", "<=", ">", ">=") or (a is not None and b is not None and op not in "+*"):
        return False
    if op == "**":  # ``2 ** i`` is meant to be large soon
        return not (b is not None and isinstance(left, Const) and type(left.value) is int)
    return op in _MONOTONE


def _numbers(op: str, left: Value, a: Variation | None, right: Value, b: Variation | None) -> tuple[int, ...] | None:
    """The integers that ``left op right`` is, iteration by iteration."""
    function = _ON_NUMBERS.get(op)
    ours = a.numbers if a is not None else _constant(left)
    theirs = b.numbers if b is not None else _constant(right)
    if function is None or ours is None or theirs is None:
        return None
    if a is not None and b is not None:
        return tuple(map(function, ours, theirs)) if a.source is b.source else None
    count = len(ours) if a is not None else len(theirs)
    return tuple(map(function, ours if a is not None else ours * count, theirs if b is not None else theirs * count))


def _constant(value: Value) -> tuple[int, ...] | None:
    return (value.value,) if isinstance(value, Const) and type(value.value) is int else None


def vary_unary(m: Machine, value: Value, result: Value) -> Value:
    """``-value``, ``+value`` or ``~value``: the result, which is another value than the operand."""
    variation = m.trackers[Variations].known.get(value)
    if variation is None:
        return result
    if result is value and isinstance(value, Static):
        result = Static(value.kind)
    vary(m, result, msgspec.structs.replace(variation, numbers=None))
    return result


def vary_builtin(m: Machine, name: str, values: Sequence[Value], result: Value) -> Value:
    """The builtin ``name`` gave ``result``: the same, or another value like it where it varies in another way."""
    known = m.trackers[Variations].known
    variation = next((known[v] for v in values if v in known), None)
    if variation is None:
        _vary_reading(m, name, values, result)
        return result
    if result is values[0] and isinstance(result, Static):
        result = Static(result.kind)
    if name in ("min", "max") and len(values) == 2:
        numbers = _numbers(name, values[0], number_of(m, values[0]), values[1], number_of(m, values[1]))
        vary(m, result, Variation(variation.loop, distinct=False, numbers=numbers, source=variation.source))
    elif variation.of_shape:
        _vary_size(m, name, values[0], variation, result)
    elif name in ("float", "str", "repr") or (name in ("int", "abs") and getattr(values[0], "kind", "") == "int"):
        vary(m, result, variation if name == "int" else msgspec.structs.replace(variation, numbers=None))
    else:
        depend(m, values, result)
    return result


def _vary_reading(m: Machine, name: str, values: Sequence[Value], result: Value) -> None:
    """``float(loss)`` of what an iteration has computed is another number each time."""
    awaited = values[0].dispatched if len(values) == 1 and isinstance(values[0], Array) else 0
    loop = next((loop for loop in m.path.loops if id(loop) == awaited), None) if name == "float" else None
    if loop is not None and isinstance(result, Static):
        vary(m, result, Variation(loop))


def _vary_size(m: Machine, name: str, value: Value, variation: Variation, result: Value) -> None:
    """A builtin was called on what varies in size."""
    if name == "len":
        look_at_size(m, value)
        if not variation.ragged:
            vary(m, result, Variation(variation.loop))
    elif name in ("list", "tuple"):
        vary(m, result, variation)


def depend(m: Machine, inputs: Iterable[Value], result: Value) -> None:
    """``result`` hangs on ``inputs`` in a way that is not known: if they vary it may, but whether it takes many values is
    not known."""
    if result in m.trackers[Variations].known or isinstance(result, (Array, HostArray)):
        return
    for value in inputs:
        variation = number_of(m, value)
        if variation is not None:
            vary(m, result, Variation(variation.loop, distinct=False))
            return


def vary_text(m: Machine, parts: Iterable[Value], result: Value) -> None:
    """A string with these values in it."""
    for part in parts:
        variation = number_of(m, part)
        if variation is not None and variation.distinct:
            vary(m, result, Variation(variation.loop))


def vary_joined(m: Machine, parts: Sequence[Value], result: Value) -> None:
    """``result`` is one of ``parts``, depending on the path: it varies if all of them do."""
    if result in m.trackers[Variations].known:
        return
    found = [m.trackers[Variations].known.get(part) for part in parts]
    first = found[0] if found else None
    if first is not None and all(
        v is not None and v.of_shape == first.of_shape and v.distinct and not v.ragged for v in found
    ):
        few = any(v is not None and v.few for v in found)
        vary(m, result, Variation(first.loop, of_shape=first.of_shape, few=few))
    else:
        depend(m, parts, result)


# --- slices -----------------------------------------------------------------------------------------------


def vary_item(m: Machine, base: Value, index: Value, taken: Value) -> None:
    """``taken`` is ``base[index]``: a slice between numbers that vary has a shape that does."""
    if m.path.mode.staged or type(taken) not in varying.VARYING:
        return
    if isinstance(taken, Static) or not isinstance(index, (SliceValue, TupleValue, Array, HostArray)):
        depend(m, (index,), taken)
        return
    parts = index.elts if isinstance(index, TupleValue) else (index,)
    for axis, part in enumerate(parts):
        variation: Variation | None = None
        if isinstance(part, SliceValue):
            length = getattr(base, "length", None) if axis == 0 else None
            variation = _of_slice(m, part, length)
        elif isinstance(part, (Array, HostArray)):
            number = number_of(m, part)
            is_mask = part.dtype == "bool" and number is not None
            by_mask = (
                Variation(number.loop, of_shape=True, masked=isinstance(base, Array)) if is_mask and number else None
            )
            variation = shape_of(m, part) or by_mask
        if variation is not None:
            vary(m, taken, variation)
            return


def _of_slice(m: Machine, part: SliceValue, length: int | None) -> Variation | None:
    """How the size of a slice varies. length: of what is sliced, where known."""
    bounds = (part.lower, part.upper, part.step)
    found = [number_of(m, v) for v in bounds]
    varying = [v for v in found if v is not None]
    if not varying:
        return None
    first, between = varying[0], found[0] is not None and found[1] is not None
    columns = _bounds_by_iteration(bounds, found, length)
    if columns is not None and all(v.source is first.source for v in varying):
        sizes = _sizes(columns, len(first.numbers or ()), length)
        if sizes is not None:
            return _of_sizes(first, sizes, between=between)
    if between or not all(v.distinct and not v.listed for v in varying):
        return None
    return Variation(first.loop, of_shape=True)


def _of_sizes(number: Variation, sizes: Sequence[int], *, between: bool = False) -> Variation | None:
    """How a shape varies that has these sizes, iteration by iteration. between: two numbers that vary."""
    several = len(set(sizes))
    if several > FEW and not number.listed:
        return Variation(number.loop, of_shape=True)
    if (
        several == 2
        and (between or len(sizes) > 2 or not number.listed)
        and 0 < sizes[-1] < sizes[0]
        and len({*sizes[:-1]}) == 1
    ):
        return Variation(number.loop, of_shape=True, ragged=True)
    distinct = several == len(sizes) > 1
    return Variation(number.loop, of_shape=True, few=True) if distinct else None


def _bounds_by_iteration(
    bounds: Sequence[Value | None], found: Sequence[Variation | None], length: int | None
) -> list[tuple[int | None, ...]] | None:
    """The bounds of a slice, iteration by iteration; None where one of them is not known, or counts from an end that is
    not."""
    columns: list[tuple[int | None, ...]] = []
    for bound, variation in zip(bounds, found):
        column = (None,) if bound is None else _constant(bound) if variation is None else variation.numbers
        if column is None:
            return None
        columns.append(column)
    from_end = length is None and any(n is not None and n < 0 for column in columns for n in column)
    return None if from_end else columns


def _sizes(columns: Sequence[tuple[int | None, ...]], count: int, length: int | None) -> list[int] | None:
    """The sizes that a slice has, iteration by iteration; None where they hang on an unknown length."""
    rows = zip(*[c * count if len(c) == 1 else c for c in columns])
    if length is None and (columns[0] == (None,) or columns[1] == (None,)) and columns[1] == (None,):
        return None
    limit = length if length is not None else 1 << 60
    try:
        return [len(range(*slice(*row).indices(limit))) for row in rows]
    except (ValueError, OverflowError):
        return None


# --- library functions -------------------------------------------------------------------------------------

_SMOOTH = frozenset({
    "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan", "atanh",
    "cbrt", "cos", "cosh", "degrees", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "pow", "power", "radians",
    "sin", "sinh", "sqrt", "square", "tan", "tanh", "float32", "float64", "float_power", "asarray", "array",
})  # fmt: skip
"""Distinct numbers give distinct results, as far as a schedule goes."""
_COMPARING = frozenset({
    "equal", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_not", "logical_or", "not_equal",
})  # fmt: skip
"""Functions that give masks."""
_SAME_SHAPE = frozenset({
    "abs", "absolute", "add", "array", "asarray", "ascontiguousarray", "ceil", "clip", "copy", "cos", "cumprod", "cumsum",
    "device_put", "divide", "exp", "expm1", "flip", "floor", "isnan", "log", "log1p", "logical_not", "maximum", "minimum",
    "multiply", "negative", "ones_like", "power", "relu", "roll", "round", "sigmoid", "sign", "sin", "softmax", "sort",
    "argsort", "sqrt", "square", "subtract", "tanh", "where", "zeros_like", "full_like", "float32", "int32", "astype",
    "fliplr", "flipud", "ravel", "flatten",
})  # fmt: skip
_GLUED = frozenset(
    {"append", "column_stack", "concat", "concatenate", "dstack", "hstack", "row_stack", "stack", "vstack"}
)
_KEEPING_METHODS = frozenset({"astype", "copy", "flatten", "ravel", "block_until_ready"})
_FILLED = frozenset({"empty", "full", "ones", "zeros", "arange", "eye", "identity"})
_SCHEDULE = "optax.Schedule.__call__"
_LIBRARIES = ("jax.", "numpy.", "math.")
_ARRAY_LIBRARIES = ("jax.numpy.", "jax.lax.", "numpy.")


def vary_call(m: Machine, name: str, values: Sequence[Value], bound: dict[str, Value], result: Value) -> None:
    """The library function ``name`` gave ``result``."""
    last = name.rpartition(".")[2]
    if type(result) not in varying.VARYING:
        return
    if m.path.loops and name.startswith(_ARRAY_LIBRARIES):
        _track_grown(m, last, values, result)
    if m.path.mode.staged:
        return
    if not name.startswith(_LIBRARIES):
        _vary_schedule(m, name, values, result)
    elif last in _GLUED or (last in ("array", "asarray") and isinstance(values[0] if values else None, ListValue)):
        _vary_glued(m, values, result)
    elif m.trackers[Variations].known:
        if last in _FILLED or "shape" in bound:
            _vary_filled(m, last, bound, result)
        _vary_computed(m, last, values, result)


def _vary_schedule(m: Machine, name: str, values: Sequence[Value], result: Value) -> None:
    number = number_of(m, values[0]) if values and name == _SCHEDULE else None
    if number is not None and number.distinct:
        vary(m, result, Variation(number.loop))
    else:
        depend(m, values, result)


def _vary_computed(m: Machine, last: str, values: Sequence[Value], result: Value) -> None:
    """A function of JAX, NumPy or ``math``: of its first argument whose shape varies, else of its first such number."""
    shape = next((v for v in (shape_of(m, value) for value in values) if v is not None), None)
    if shape is not None:
        if last in _SAME_SHAPE:
            vary(m, result, shape)
        return
    number = next((v for v in (number_of(m, value) for value in values) if v is not None), None)
    if number is not None and number.distinct and (last in _SMOOTH or last in _COMPARING):
        vary(m, result, Variation(number.loop))
    else:
        depend(m, values, result)


def _vary_filled(m: Machine, last: str, bound: dict[str, Value], result: Value) -> None:
    """An array made in a shape that is asked for."""
    if last == "arange":
        found = [number_of(m, bound.get(name)) for name in ("start", "stop")]
        varying = [v for v in found if v is not None]
        sizes = varying if len(varying) == 1 else []
    else:
        asked = bound.get("shape") or bound.get("N") or bound.get("n")
        parts = asked.elts if isinstance(asked, TupleValue) else (asked,)
        sizes = [v for v in (number_of(m, part) for part in parts) if v is not None]
    variation = _of_number(sizes[0]) if sizes and not isinstance(result, Static) else None
    if variation is not None:
        vary(m, result, variation)


def _of_number(size: Variation) -> Variation | None:
    """How a shape varies of which one number is ``size``."""
    if size.numbers is not None:
        return _of_sizes(size, size.numbers)
    return Variation(size.loop, of_shape=True, few=size.listed) if size.distinct else None


def _joined_parts(m: Machine, values: Sequence[Value]) -> list[Value]:
    """What is put together: arrays, or the elements of sequences of them."""
    parts: list[Value] = []
    for value in values:
        if isinstance(value, TupleValue):
            parts += value.elts
        elif isinstance(value, ListValue) and value.known() is not None and value not in m.trackers[Variations].known:
            parts += value.known() or ()
        else:
            parts.append(value)
    return parts


def _track_grown(m: Machine, last: str, values: Sequence[Value], result: Value) -> None:
    """An array was put together from others, or holds what such an array holds. In compiled code as well, which may return it
    to a loop that gives it back."""
    grown = m.trackers[Variations].grown
    if last in _GLUED:
        parts = [p for p in _joined_parts(m, values) if isinstance(p, (Array, HostArray, Unknown, Tree))]
        if parts and not isinstance(result, ListValue):
            grown[result] = frozenset(parts)
    elif last in _SAME_SHAPE and values and values[0] in grown:
        grown[result] = frozenset(values[:1])


def track_released(m: Machine, called: TransformedValue, inside: Value, outside: Value) -> None:
    """Compiled code returned ``inside`` to an eager loop."""
    if called.fact.result == "same" and m.path.loops and not m.path.mode.staged and m.trackers[Variations].grown:
        grown_parts.track_release(m.trackers[Variations].grown, inside, outside)


def _vary_glued(m: Machine, values: Sequence[Value], result: Value) -> None:
    """Arrays put together: of two sizes that vary, one may make up for the other."""
    found = [v for v in (shape_of(m, part) for part in _joined_parts(m, values)) if v is not None]
    if len(found) == 1:
        vary(m, result, found[0])


def vary_method(m: Machine, name: str, base: Value, result: Value) -> None:
    """The method ``name`` of an array gave ``result``."""
    if name not in _KEEPING_METHODS or not isinstance(result, (Array, HostArray, Unknown)):
        return
    if base in m.trackers[Variations].grown:
        m.trackers[Variations].grown[result] = frozenset([base])
    shape = shape_of(m, base)
    if shape is not None and not m.path.mode.staged:
        vary(m, result, shape)


def look_at_size(m: Machine, value: Value) -> None:
    """Code asks for the size of a slice: what is left over in the last iteration is taken care of."""
    known = m.trackers[Variations].known
    variation = known.get(value)
    if variation is None or not variation.ragged:
        return
    del known[value]
    if variation.batch:  # of which all parts have one size
        for other in [v for v, found in known.items() if found.batch and found.loop is variation.loop]:
            del known[other]


# --- remembered runs -----------------------------------------------------------------------------------------


Varying = tuple[tuple[int, int, Variation], ...]
"""Which parts of a function's result vary (-1 is the whole of it), like which of its inputs (-1: like none), and how."""


def variations_of(m: Machine, run: FinishedRun) -> Varying:
    """How a function's result varies."""
    known, result = m.trackers[Variations].known, run.result
    if not known:
        return ()
    parts = [(-1, result), *enumerate(result.elts if isinstance(result, TupleValue) else ())]
    found = [(i, known.get(part)) for i, part in parts]
    varying = [(i, variation) for i, variation in found if variation is not None]
    if not varying:
        return ()
    loops = {id(v.loop): i for i, value in enumerate(run.inputs) if (v := _known_of(known, value)) is not None}
    return tuple([(i, loops.get(id(v.loop), -1), v) for i, v in varying])


def _known_of(known: dict[Value, Variation], value: Any) -> Variation | None:
    return known.get(value) if isinstance(value, Value) else None


def vary_again(m: Machine, varying: Varying, inputs: Sequence[Any], result: Value) -> None:
    """A remembered run is done again: what varied in its result like one of its inputs varies with the loop of that one,
    all else with the innermost loop that runs now."""
    known = m.trackers[Variations].known
    for i, source, variation in varying:
        part = result if i < 0 else result.elts[i] if isinstance(result, TupleValue) and i < len(result.elts) else None
        if not m.path.loops or part is None:
            continue
        like = _known_of(known, inputs[source]) if source >= 0 else None
        if like is not None or not variation.ragged:
            loop = like.loop if like is not None else m.path.loops[-1]
            numbers = variation.numbers if like is not None else None
            same = msgspec.structs.replace(variation, loop=loop, numbers=numbers, source=like.source if like else None)
            vary(m, part, same)
