"""Updates of parameters and of states that no code uses.

Vocabulary
----------
update      a value that takes the place of another: what an optimizer makes of parameters or of its state,
            ``state.apply_gradients``, a ``tree.map`` over parameters and gradients, a parameter less its gradient; and a
            container of updates.
source      the value that an update takes the place of.
summary     the parameters of a function whose updates it returns, and at which position of its result (-1: all of it).
lost        no code reads an update (see ``domain.reading``).

Nothing is recorded unless a rule asks for it. Limitations: updates that arithmetic of other kinds makes, updates in lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import bound_paths, path_of, statement_at
from flake8_jax.semantics.domain.reading import Reading
from flake8_jax.semantics.domain.signatures import underlying
from flake8_jax.semantics.domain.values import (
    Array,
    BoundMethod,
    DictValue,
    External,
    ExternalInstance,
    ExternalMethod,
    FunctionValue,
    Instance,
    ListValue,
    Opaque,
    PartialValue,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    held_by,
)
from flake8_jax.semantics.events.events import LossKind, LostResult
from flake8_jax.semantics.machine.tracker import Tracker
from flake8_jax.semantics.trackers.eager_steps import OPTIMIZERS
from flake8_jax.semantics.trackers.eagerness import may_be_staged

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.arguments import Call
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.domain.stack import LoopState
    from flake8_jax.semantics.machine.core import Machine

_APPLYING = frozenset({"optax.apply_updates", "equinox.apply_updates"})
_MAPPING = frozenset({"jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map"})
_GRADIENTS = frozenset({"grad", "value_and_grad", "filter_grad", "filter_value_and_grad"})
_STATEFUL = frozenset({
    "adabelief", "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamaxw", "adamw", "adan", "amsgrad", "ema", "fromage",
    "lamb", "lars", "lion", "momo", "nadam", "nadamw", "novograd", "radam", "rmsprop", "rprop", "scale_by_adam",
    "scale_by_rms", "sm3", "trace", "yogi",
})  # fmt: skip
"""Optimizers of optax that gather something over the steps."""
_GATHERS = " that gathers"
_MAX_VISITS = 60
_MAX_CHAIN = 12
_HOLDERS = (TupleValue, DictValue, Instance, ExternalInstance)
Summary = dict[int, set[str]]


class Change(NamedTuple):
    """A call gives an update of an argument: at this position of its result; the IR of the argument. optimizer: of the
    state of one that gathers."""

    position: int
    argument: ir.Expr | None
    optimizer: bool


class _Advance(NamedTuple):
    """A loop puts the updates of a variable back into it."""

    name: str
    statement: ir.Assign
    argument: ir.Expr


class Updates(Tracker):
    """sources: by update. parts: of an unknown result, the source of the part under a step. gradients: what ``grad``
    returned. summaries: by the identity of the function. reading: by that of the block. advances: by the outermost loop."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.wanted = m.bus.wants(LostResult)
        self.sources: dict[Value, Value] = {}
        self.parts: dict[Value, tuple[str, Value]] = {}
        self.gradients: set[Value] = set()
        self.summaries: dict[int, Summary] = {}
        self.reading: dict[int, Reading] = {}
        self.advances: dict[int, list[_Advance]] = {}
        self.finished: tuple[FunctionValue, dict[str, Value]] | None = None

    def enter(self) -> Any:
        saved = self.sources, self.parts, self.gradients, self.advances
        self.sources, self.parts, self.gradients, self.advances = {}, {}, set(), {}
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.sources, self.parts, self.gradients, self.advances = saved

    def joined(self, contents: list[Any], result: Value) -> None:
        if self.sources and result not in self.sources:
            found = [self.sources.get(c) for c in contents if isinstance(c, Value)]
            source = next((s for s in found if s is not None and s is not result), None)
            if source is not None:
                self.sources[result] = source

    # --- functions ------------------------------------------------------------------------------------------

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> tuple[FunctionValue, dict[str, Value]]:
        return function, bound

    def returned(self, mark: tuple[FunctionValue, dict[str, Value]], *, suspended: bool) -> None:
        self.finished = None if suspended else mark

    def settle(self, mark: int, result: Value) -> None:
        if not self.wanted or self.finished is None or not (self.sources or self.parts or self.gradients):
            return
        function, bound = self.finished
        inputs = _inside(bound)
        pairs = [(-1, result)] if not isinstance(result, TupleValue) or result.cls is not None else []
        pairs += list(enumerate(result.elts)) if isinstance(result, TupleValue) and result.cls is None else []
        for position, value in pairs:
            for part in _components(value):
                name = self._source_among(part, inputs)
                if name is not None:
                    self.summaries.setdefault(id(function.fn), {}).setdefault(position, set()).add(name)

    def _source_among(self, value: Value, inputs: dict[int, str]) -> str | None:
        """The parameter of which, or of a part of which, the value is an update."""
        for _ in range(_MAX_CHAIN):
            source = self.source_of(value)
            if source is None or source is value:
                return None
            owner: Value | None = source
            while owner is not None:
                if id(owner) in inputs:
                    return inputs[id(owner)]
                owner = owner.parent if isinstance(owner, Opaque) else None
            value = source
        return None

    def source_of(self, value: Value) -> Value | None:
        """What the value takes the place of, where it is an update."""
        found = self.sources.get(value)
        if found is None and isinstance(value, Opaque) and value.parent in self.parts:
            step, source = self.parts[value.parent]
            return source if value.step == step else None
        recipe = value.recipe if isinstance(value, Array) else None
        if found is None and recipe is not None and recipe.name in ("-", "+") and len(recipe.operands) == 2:
            return recipe.operands[0] if self._is_gradient(recipe.operands[1]) else None
        return found

    def _is_gradient(self, value: Value, depth: int = 3) -> bool:
        if value in self.gradients:
            return True
        recipe = value.recipe if isinstance(value, Array) else None
        if isinstance(value, Opaque) and value.parent is not None and depth:
            return self._is_gradient(value.parent, depth - 1)
        return bool(recipe and depth) and any(self._is_gradient(v, depth - 1) for v in recipe.operands)  # type: ignore[union-attr]

    def read_in(self, frame: Frame) -> Reading:
        """What the running function, or the module, reads where."""
        body = frame.fn.body if frame.fn is not None else frame.scope.tree.body
        found = self.reading.get(id(body))
        if found is None:
            found = self.reading[id(body)] = Reading(body)
        return found

    # --- loops ----------------------------------------------------------------------------------------------

    def loop_leave(self, frame: Frame, loop: LoopState, at: ir.Expr, trips: int | None) -> None:
        advances = self.advances.pop(id(loop), None)
        if advances and not frame.without_events and not may_be_staged(self.m, loop):
            for name in dict.fromkeys(advance.name for advance in advances):
                self._emit_initial(frame, loop, name, [a for a in advances if a.name == name])

    def _emit_initial(self, frame: Frame, loop: LoopState, name: str, advances: list[_Advance]) -> None:
        """If no code reads the loop's result of a variable, emit the read of the value from before the loop."""
        reading, node = self.read_in(frame), loop.node
        own = [(a.argument.start, a.argument.end) for a in advances]
        if reading.is_read(name, node.end) or reading.is_captured(name):
            return
        if any(not any(s <= place < e for s, e in own) for place in reading.within(name, node.start, node.end)):
            return
        written = self.m.journal.entries[loop.base :]
        initial = next((old for slots, slot, old in written if slots is frame.slots and slot == name), None)
        if not isinstance(initial, Value):
            return
        held = {id(initial), *[id(v) for v in _components(initial)]}
        bound = bound_paths(node)
        for other, value in list(frame.slots.items()):
            if other == name or id(value) not in held or other in bound or not _is_data(value):
                continue
            use = reading.first_use(other, node.end)
            if use is not None:
                context = self.m.path.context(frame.scope)
                self.m.bus.emit(LostResult(context, use, "initial", name, other))
                return


def _is_data(value: Any) -> bool:
    return isinstance(value, (Array, Tree, Unknown, DictValue, TupleValue, Instance, ExternalInstance))


def _inside(bound: dict[str, Value]) -> dict[int, str]:
    """The identities of what arguments hold, with the parameter."""
    found: dict[int, str] = {}
    for name, value in bound.items():
        todo = [value]
        while todo and len(found) < _MAX_VISITS:
            one = todo.pop()
            if id(one) not in found and isinstance(one, (*_HOLDERS, Array, Opaque, ListValue, UnionValue)):
                found[id(one)] = name
                todo += held_by(one)
    return found


def _components(value: Value, depth: int = 2) -> Iterator[Value]:
    """The value, and what the container or state that it is holds."""
    yield value
    if depth and isinstance(value, (*_HOLDERS, UnionValue)):
        for part in held_by(value)[:20]:
            yield from _components(part, depth - 1)


# --- calls ----------------------------------------------------------------------------------------------------


def track_result(m: Machine, func: Value, at: Call, result: Value) -> None:
    """A call gave ``result``."""
    updates = m.trackers[Updates]
    changes = _changes(updates, func, at, result)
    if changes and isinstance(at.node, ir.Call) and m.path.loops and not m.path.mode.presumed:
        for change in changes:
            _judge(m, updates, at, change)


def _changes(updates: Updates, func: Value, at: Call, result: Value) -> list[Change]:
    """The updates that a call gives."""
    args = at.args
    if isinstance(func, External):
        last = func.name.rpartition(".")[2]
        if func.name in _APPLYING and args.values:
            updates.sources[result] = args.values[0]
        elif func.name in _MAPPING and len(args.values) > 2 and result is not args.values[1]:
            updates.sources[result] = args.values[1]
        elif func.name.startswith("optax."):
            _mark_stateful(last, args.values, args.kwargs, result)
        return []
    if isinstance(func, TransformedValue) and func.name.rpartition(".")[2] in _GRADIENTS:
        updates.gradients.update(_components(result))
        return []
    name = (
        func.label
        if isinstance(func, Unknown)
        else f"{func.cls}.{func.name}"
        if isinstance(func, ExternalMethod)
        else ""
    )
    if name:
        return _changes_of_library(updates, name, func, at, result)
    function = underlying(func)
    summary = updates.summaries.get(id(function.fn)) if isinstance(function, FunctionValue) else None
    if summary is None or not isinstance(function, FunctionValue):
        return []
    nodes = _nodes_by_parameter(func, function, at)
    return [Change(i, nodes[name], False) for i, names in summary.items() for name in sorted(names) if name in nodes]


def _changes_of_library(updates: Updates, name: str, func: Value, at: Call, result: Value) -> list[Change]:
    args = at.args
    if name.endswith(".apply_gradients") and isinstance(func, ExternalMethod):
        updates.sources[result] = func.self_value
        node = at.node.func if isinstance(at.node, ir.Call) else None
        return [Change(-1, node.value if isinstance(node, ir.Attribute) else None, False)]
    plain = name.removesuffix(_GATHERS)
    if plain not in OPTIMIZERS or not plain.startswith("optax."):
        return []
    state = args.values[1] if len(args.values) > 1 else args.kwargs.get("state")
    node = args.nodes[1] if len(args.nodes) > 1 else args.keyword_nodes.get("state")
    if state is None:
        return []
    if isinstance(result, TupleValue) and len(result.elts) == 2:
        updates.sources[result.elts[1]] = state
    else:
        updates.parts[result] = ("[1]", state)
    return [Change(1, node, name.endswith(_GATHERS))]


def _mark_stateful(last: str, values: list[Value], kwargs: dict[str, Value], result: Value) -> None:
    """An optimizer that gathers something carries that in the label of its ``update``."""
    update = result.elts[1] if isinstance(result, TupleValue) and len(result.elts) == 2 else None
    if not isinstance(update, Unknown) or _GATHERS in update.label or not update.label.endswith(".update"):
        return
    gathers = last in _STATEFUL or (last in ("sgd", "noisy_sgd") and "momentum" in kwargs)
    inner = [v.elts[1] for v in values if isinstance(v, TupleValue) and len(v.elts) == 2]
    if gathers or any(isinstance(v, Unknown) and _GATHERS in v.label for v in inner):
        update.label += _GATHERS


def _nodes_by_parameter(func: Value, function: FunctionValue, at: Call) -> dict[str, ir.Expr | None]:
    """The IR of the arguments of a call, by parameter."""
    skip, current = 0, func
    while isinstance(current, (BoundMethod, PartialValue, TransformedValue)):
        if isinstance(current, TransformedValue):
            current = current.operand
            continue
        skip += 1 if isinstance(current, BoundMethod) else len(current.args)
        current = current.func
    names = [p.name for p in function.fn.params if p.kind not in ("kwonly", "vararg", "kwarg")][skip:]
    return {**dict(zip(names, at.args.nodes)), **at.args.keyword_nodes}


# --- what becomes of an update ------------------------------------------------------------------------------------


def _judge(m: Machine, updates: Updates, at: Call, change: Change) -> None:
    frame, argument = at.frame, change.argument
    body = frame.fn.body if frame.fn is not None else frame.scope.tree.body
    statement = statement_at(body, at.node)
    path = path_of(argument) if argument is not None else ""
    if not path or argument is None or not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
        return
    target = _target_of(statement, at.node, change.position)
    if isinstance(target, ir.Name) and target.id == path and frame.loops and not m.path.mode.staged:
        outermost = frame.loops[0]
        updates.advances.setdefault(id(outermost), []).append(_Advance(path, statement, argument))
    if target is None or not _is_lost(updates.read_in(frame), frame, statement, target):
        return
    if change.optimizer:
        if _is_from_outside(frame, path):
            _emit(m, at, "optimizer", path)
    elif frame.loops and not m.path.mode.staged and not may_be_staged(m, frame.loops[-1]):
        if path not in bound_paths(frame.loops[-1].node) and _is_read_beside(updates.read_in(frame), frame, path):
            _emit(m, at, "dropped", path)


def _emit(m: Machine, at: Call, how: LossKind, path: str) -> None:
    m.bus.emit(LostResult(m.path.context(at.frame.scope), at.node, how, path, ""))


def _target_of(statement: ir.Assign, call: ir.Node, position: int) -> ir.Expr | None:
    """What the statement binds to an element of what a call gives."""
    target = statement.targets[0]
    if statement.value is not call:
        return None
    if position < 0:
        return target
    elements = target.elts if isinstance(target, (ir.Tuple, ir.List)) else []
    starred = any(isinstance(element, ir.Starred) for element in elements)
    return elements[position] if not starred and position < len(elements) else None


def _is_lost(reading: Reading, frame: Frame, statement: ir.Stmt, target: ir.Expr) -> bool:
    """The target is a variable that no code reads from there on."""
    if not isinstance(target, ir.Name) or (frame.fn is None and target.id != "_"):
        return False
    if frame.fn is not None and target.id in (*frame.fn.global_names, *frame.fn.nonlocal_names):
        return False
    if reading.is_read(target.id, statement.end) or reading.is_captured(target.id):
        return False
    if not frame.loops:
        return True
    loop = frame.loops[0].node
    places = reading.within(target.id, loop.start, statement.start)
    own = reading.within(target.id, statement.start, statement.end)
    return not places and not own


def _is_from_outside(frame: Frame, path: str) -> bool:
    """The state is the same in every step: nothing here binds it, or only the lost update does."""
    name = path.partition(".")[0]
    if frame.loops:
        return path not in bound_paths(frame.loops[-1].node)
    if frame.fn is None:
        return False
    return any(p.name == name for p in frame.fn.params) or name not in frame.fn.local_names


def _is_read_beside(reading: Reading, frame: Frame, path: str) -> bool:
    """Something reads the state that the loop was to advance: behind the loop, or elsewhere in the loops around."""
    if "." in path:
        return True
    inner, outer = frame.loops[-1].node, frame.loops[0].node
    if reading.is_read(path, inner.end):
        return True
    return any(not inner.start <= place < inner.end for place in reading.within(path, outer.start, outer.end))
