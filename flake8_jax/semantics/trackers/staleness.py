"""Variables that compiled code reads while JAX traces it, and that other code rebinds afterwards.

A compiled function keeps the values that it read while JAX traced it: attributes of an object that is no traced argument,
and variables of enclosing functions. Module-level variables belong to ``globals``.

Vocabulary
----------
cell        a variable: the slots of an object, of a list or dict (``CONTENTS``), or of a frame, and a slot.
wrapper     what JAX keeps one compiled version for: a function object, or else what ``jit`` made of it. The same code makes
            another one each time that it runs.
stale       the wrapper has read the cell, the cell was rebound, and the same expression reads it for that wrapper again.
            JAX does not run that expression again.
awaited     a method rebinds a cell of its object that a compiled method has read: the next call of the method is stale.

form        what is known of the arguments of a call that decides whether JAX traces again: static values, dtypes, shapes. A
            call of another form than the one before the write reads the new value.

Limitations: a call with other shapes or static arguments that jaxlint does not know, which JAX traces again; writes that
nothing in the project makes; Flax modules that compiled code captures.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.core.testing import is_test_function
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.conditions import normal_condition
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.values import (
    MISSING,
    Array,
    BoundMethod,
    Const,
    DictValue,
    ExternalInstance,
    FunctionValue,
    HostArray,
    Instance,
    ListValue,
    Static,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    site_of,
)
from flake8_jax.semantics.events.events import StaleRead
from flake8_jax.semantics.events.facts import MADE_AGAIN
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.allocations import escapes_trace
from flake8_jax.semantics.trackers.captures import COMPILING

CONTENTS = "contents"
"""The slot that stands for all elements of a list or dict."""

MAX_ACTIONS = 400
"""A run that reads and writes more cells than this is not done again for them."""
MAX_READINGS = 100
"""So many readings of one cell are told apart."""

_DATA = frozenset(
    {Const, Static, Unknown, Array, HostArray, Tree, TupleValue, ListValue, DictValue, Instance, ExternalInstance, UnionValue}
)  # fmt: skip
_DESCRIBED = re.compile(r"\.(?:apply_fn|tx|shape|dtype|ndim|size)\b")
"""Parts of a training state, or of an array, that stay the same when another one takes its place."""
_AUGMENTED = re.compile(r"\s*(?:[-+*/%&|^@]|//|\*\*|<<|>>)=")
"""What follows a variable that an operator changes in place."""
_MUTABLE = (ListValue, DictValue, Instance, ExternalInstance)
_CONSTRUCTORS = frozenset({"__init__", "__post_init__", "__new__", "setup", "__enter__", "__exit__"})


WrapperKey = tuple[Any, ...]
"""The code that makes a wrapper, and the objects that the wrapper holds."""


Form = tuple[tuple[Any, tuple[Any, ...]], ...]
"""What is known of the arguments of a call, by position or name; None for a part that is not known."""


class Reading(NamedTuple):
    """A wrapper has read a cell at a node, in a call of that form. written: the node that has rebound the cell since then, 0
    if none has. Nodes are identities."""

    wrapper: WrapperKey
    form: Form
    node: int
    written: int


AROUND: WrapperKey = ("around",)


class Action(NamedTuple):
    """A cell is read for a wrapper (``AROUND``: the one that runs around), or written (``wrapper`` None)."""

    slots: Any
    slot: Any
    node: int
    wrapper: WrapperKey | None
    form: Form

    def key(self) -> tuple[int, Any, int, WrapperKey | None, Form]:
        return id(self.slots), self.slot, self.node, self.wrapper, self.form


class Record(NamedTuple):
    """What a remembered run did to cells, with the number of the input that has them (-1: an older object), and the wrappers
    that it made."""

    actions: tuple[tuple[int, Action], ...]
    made: tuple[WrapperKey, ...]


class Spot(NamedTuple):
    """Where a cell is read or written. name: of the cell, as the code there spells it. function: the one around."""

    scope: ModuleScope
    node: Any
    name: str
    function: ir.Function | None


class Staleness(Tracker):
    """cells: the readings of each cell on the running path, by the identity of its slots. spots: nodes by identity.
    log: all actions of the entry. first: where the log names some slots first. making: the wrappers that were made, in order.
    made: how many there were with each. running: the outermost wrapper that runs, in a call of the ``form``.
    wrappers: what ``jit`` made of them. read_by: the cells that a wrapper has read. awaited: readings whose next call is
    stale, with the wrapper's holder."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.cells: dict[Any, Any] = {}
        self.spots: dict[int, Spot] = {}
        self.log: list[Action] = []
        self.first: dict[int, int] = {}
        self.made: dict[WrapperKey, int] = {}
        self.making: list[WrapperKey] = []
        self.running: WrapperKey | None = None
        self.form: Form = ()
        self.wrappers: dict[WrapperKey, TransformedValue] = {}
        self.read_by: dict[WrapperKey, set[Any]] = {}
        self.awaited: list[tuple[Instance, TransformedValue, Spot]] = []

    def enter(self) -> Any:
        saved = self.cells, self.log, self.first, self.making, self.made, self.running, self.read_by
        self.cells, self.log, self.first = {}, [], {}
        self.making, self.made, self.running, self.read_by = [], {}, None, {}
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.cells, self.log, self.first, self.making, self.made, self.running, self.read_by = saved

    def owns(self, slots: dict[Any, Any]) -> bool:
        return slots is self.cells

    def merge(self, contents: list[Any]) -> Any:
        """The readings of any of the paths."""
        return frozenset().union(*[readings for readings in contents if readings is not MISSING])

    # --- remembered runs ---------------------------------------------------------------------------------

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> tuple[int, int]:
        return len(self.log), len(self.making)

    def since(self, mark: tuple[int, int], run: FinishedRun) -> Record | None:
        """The actions of the run, each the first and the last time that it is made, with the number of the input whose
        cell it is about (-1: of another object, which is older than the run)."""
        begin, wrappers = mark
        actions = self.log[begin:]
        made = tuple(dict.fromkeys(self.making[wrappers:]))
        if not actions and not made:
            return None
        first = {action.key(): i for i, action in reversed(list(enumerate(actions)))}
        last = {action.key(): i for i, action in enumerate(actions)}
        kept = sorted({*first.values(), *last.values()})
        if len(kept) > MAX_ACTIONS or len(made) > MAX_ACTIONS:
            return None
        index = {id(v.slots): i for i, v in enumerate(run.inputs) if isinstance(v, _MUTABLE)}
        record: list[tuple[int, Action]] = []
        for action in map(actions.__getitem__, kept):
            if action.wrapper is not None and action.wrapper == self.running:
                record.append((index.get(id(action.slots), -1), action._replace(wrapper=AROUND, form=())))
            elif id(action.slots) in index or self.first[id(action.slots)] < begin:
                if action.wrapper is None or self.made.get(action.wrapper, 0) <= wrappers:
                    record.append((index.get(id(action.slots), -1), action))
        return Record(tuple(record), made) if record or made else None

    def replay(self, record: Record, replay: Replay) -> None:
        path = self.m.path
        for wrapper in record.made:
            self.make(wrapper)
        stack, path.stack = path.stack, list(replay.outside)
        for number, action in record.actions:
            slots = replay.inputs[number].slots if number >= 0 else action.slots
            if action.wrapper is None:
                self.write(slots, action.slot, action.node, replay.inputs[number] if number >= 0 else None)
            elif action.wrapper != AROUND:
                self.read(action._replace(slots=slots))
            elif self.running is not None:
                self.read(action._replace(slots=slots, wrapper=self.running, form=self.form))
        path.stack = stack

    def replayed(self, record: Any, replay: Replay, result: Value) -> None:
        """A remembered run may have replaced wrappers."""
        for owner, tv, spot in self.awaited:
            if not any(value is tv for value in owner.slots.values()):
                self.m.bus.record_fact(MADE_AGAIN, spot.scope, spot.node.start)

    def track(self, action: Action) -> None:
        """An action is made."""
        self.first.setdefault(id(action.slots), len(self.log))
        self.log.append(action)

    # --- cells ---------------------------------------------------------------------------------------------

    def read(self, action: Action) -> None:
        """A wrapper reads a cell."""
        slots, slot, node, wrapper, form = action
        if wrapper is None:
            return
        self.track(action)
        key = (id(slots), slot)
        known = self.cells.get(key, frozenset())
        before = [r for r in known if r.wrapper == wrapper and r.node == node and not _differ(r.form, form)]
        stale = [r for r in before if r.written]
        if stale:
            self.emit(node, min(stale, key=self._order).written)
        elif not any(r.form == form for r in before) and len(known) < MAX_READINGS:
            self.m.journal.keep_alive.append(slots)
            self.read_by.setdefault(wrapper, set()).add(key)
            self.m.journal.write(self.cells, key, known | {Reading(wrapper, form, node, 0)})

    def make(self, wrapper: WrapperKey) -> None:
        """Code makes a wrapper: JAX knows nothing of this one."""
        self.making.append(wrapper)
        self.made[wrapper] = len(self.making)
        if wrapper in self.read_by:
            self.forget(wrapper)

    def forget(self, wrapper: WrapperKey) -> None:
        """JAX has nothing of that wrapper: it is made now, or its cache is cleared."""
        for key in self.read_by.pop(wrapper, ()):
            known = self.cells.get(key, frozenset())
            self.m.journal.write(self.cells, key, frozenset([r for r in known if r.wrapper != wrapper]))

    def _order(self, reading: Reading) -> tuple[str, int]:
        spot = self.spots[reading.written]
        return spot.scope.path, spot.node.start

    def write(self, slots: dict[Any, Any], slot: Any, node: int, owner: Value | None = None) -> None:
        """A cell, maybe of the object ``owner``, is rebound."""
        self.track(Action(slots, slot, node, None, ()))
        key = (id(slots), slot)
        known = self.cells.get(key)
        if not known or all(r.written for r in known):
            return
        if isinstance(owner, Instance) and owner.made_in < 0 and not _is_constructor(self.m, owner):
            for reading in known:
                if not reading.written and self._stays(reading.wrapper, owner):
                    tv = self.wrappers[reading.wrapper]
                    if any(value is tv for value in owner.slots.values()):
                        self.awaited.append((owner, tv, self.spots[reading.node]))
                    self.emit(reading.node, node, unless=MADE_AGAIN)
        marked = frozenset([r if r.written else r._replace(written=node) for r in known])
        self.m.journal.write(self.cells, key, marked)

    def _stays(self, wrapper: WrapperKey, owner: Instance) -> bool:
        """A later call of a method of ``owner`` gets the same wrapper: it is a method, or the object got it before."""
        tv = self.wrappers.get(wrapper)
        if tv is None:
            return False
        if isinstance(tv.operand, FunctionValue) and tv.operand.closure is None:
            return True
        slots = owner.slots
        set_here = {slot for written, slot, _ in self.m.journal.entries if written is slots}
        return any(v is tv for slot, v in slots.items() if slot not in set_here)

    def emit(self, node: int, written: int, unless: str = "") -> None:
        """Tell the rules of a stale reading. unless: what withdraws the report."""
        spot, writing = self.spots[node], self.spots[written]
        context = self.m.path.context(spot.scope)
        written_at = site_of(writing.scope, writing.node)
        self.m.bus.emit(StaleRead(context, spot.node, spot.name, spot.function, written_at, unless))


def begin_compiled(m: Machine, tv: TransformedValue, args: Arguments) -> WrapperKey | None:
    """What ``tv`` wraps is about to run with ``args``: the wrapper that ran before, for ``end_compiled``."""
    staleness = m.trackers[Staleness]
    saved = staleness.running
    if (
        saved is None
        and tv.name.rpartition(".")[2] in COMPILING
        and not m.path.mode.shapes_only
        and m.bus.wants(StaleRead)
    ):
        m.journal.keep_alive.append(tv)
        staleness.running, staleness.form = _wrapper(tv), _form(args)
        staleness.wrappers[staleness.running] = tv
    return saved


def end_compiled(m: Machine, saved: WrapperKey | None) -> None:
    """It has run."""
    m.trackers[Staleness].running = saved


def _form(args: Arguments) -> Form:
    """What is known of the arguments that a compiled function gets."""
    given = [*enumerate(args.values), *args.kwargs.items()]
    return tuple([(name, described) for name, value in given if (described := _described(value))])


def _described(value: Value) -> tuple[Any, ...]:
    """A static value, the dtype and shape of an array, or nothing."""
    if isinstance(value, Const):
        return ("constant", type(value.value), value.value)
    if isinstance(value, Array):
        return ("array", value.dtype or None, value.ndim, value.length)
    return ()


def _differ(one: Form, other: Form) -> bool:
    """A part that is known of both is another one, so JAX traces both calls."""
    known = dict(one)
    return any(
        name in known
        and (
            len(known[name]) != len(parts)
            or any(None not in (a, b) and a != b for a, b in zip(known[name], parts, strict=True))
        )
        for name, parts in other
    )


def _wrapper(tv: TransformedValue) -> WrapperKey:
    """``jax.jit(f)`` finds what was compiled for ``f``; ``nnx.jit(f)`` begins from scratch."""
    operand = tv.operand
    return _key(operand if isinstance(operand, FunctionValue) and not tv.name.startswith("flax.") else tv)


def _key(value: Value) -> WrapperKey:
    if isinstance(value, FunctionValue):
        return ("function", id(value.fn), id(value.closure))
    if isinstance(value, BoundMethod):
        return ("method", _key(value.func), id(value.self_value))
    if isinstance(value, TransformedValue):
        return (value.name, value.site.scope.path, value.site.start, _key(value.operand))
    return ("object", id(value))


def track_made(m: Machine, made: FunctionValue | TransformedValue) -> None:
    """A function is defined inside of another one, or ``jit`` is applied."""
    if m.bus.wants(StaleRead):
        m.trackers[Staleness].make(_key(made))


# --- readings -----------------------------------------------------------------------------------------


def track_attribute(m: Machine, frame: Frame, node: Any, base: Instance, name: str, value: Value) -> None:
    """Compiled code reads an attribute of an object."""
    if node is None or type(value) not in _DATA or not _is_emitting(m) or "pytree" in base.cls.traits:
        return
    if escapes_trace(m, base, m.path.mode.jitted) and not _is_called(frame, node):
        _track(m, frame, node, base.slots, name, value)


def track_enclosed(m: Machine, frame: Frame, node: ir.Name, value: Value) -> None:
    """Compiled code reads a variable that it does not bind itself."""
    if type(value) not in _DATA or not _is_emitting(m):
        return
    around = frame.parent
    while around is not None:
        if node.id in around.slots and around.slots is not frame.scope.slots:
            if around.fn is not None and around.trace < m.path.mode.jitted and not _is_called(frame, node):
                _track(m, frame, node, around.slots, node.id, value)
            return
        around = around.parent


def _is_emitting(m: Machine) -> bool:
    mode = m.path.mode
    return (
        m.trackers[Staleness].running is not None
        and not mode.presumed
        and not mode.shapes_only
        and m.bus.wants(StaleRead)
    )


def _is_called(frame: Frame, node: Any) -> bool:
    """The value is called, so it is a function, whatever it is."""
    return frame.scope.text[node.end : node.end + 1] == "("


def _track(m: Machine, frame: Frame, node: Any, slots: dict[Any, Any], slot: str, value: Value) -> None:
    staleness = m.trackers[Staleness]
    text = frame.scope.text
    if staleness.running is None or _DESCRIBED.match(text, node.end) or _is_changed(text, node):
        return
    staleness.spots[id(node)] = Spot(frame.scope, node, text[node.start : node.end], frame.fn)
    staleness.read(Action(slots, slot, id(node), staleness.running, staleness.form))
    if isinstance(value, (ListValue, DictValue)):
        staleness.read(Action(value.slots, CONTENTS, id(node), staleness.running, staleness.form))


def _is_changed(text: str, node: Any) -> bool:
    """``self.traces += 1``: compiled code counts how often JAX traces it, so it is meant to run then."""
    spelled = f"{text[node.start : node.end]} = "
    return bool(_AUGMENTED.match(text, node.end)) or text.endswith(spelled, 0, node.start)


# --- writes --------------------------------------------------------------------------------------------


def track_rebound_attribute(m: Machine, frame: Frame, node: Any, base: Instance, name: str, value: Value) -> None:
    """An attribute of an object is about to be set."""
    for owner, tv, spot in m.trackers[Staleness].awaited:
        if owner is base and base.slots.get(name) is tv and value is not tv:
            m.bus.record_fact(MADE_AGAIN, spot.scope, spot.node.start)
    if not _may_write(m, frame, node) or _is_same(base.slots.get(name), value) or _is_constructor(m, base):
        return
    if frame.fn is not None and name in _filled(m, frame.fn):
        return
    _write(m, frame, node, base.slots, name, base)


def track_rebound_variable(m: Machine, frame: Frame, node: Any, slots: dict[Any, Any], name: str, value: Value) -> None:
    """A variable of a function is about to be bound."""
    staleness = m.trackers[Staleness]
    if (slots is frame.slots and (id(slots), name) not in staleness.cells) or not _may_write(m, frame, node):
        return
    if not _is_same(slots.get(name), value) and slots is not frame.scope.slots:
        _write(m, frame, node, slots, name)


def track_replaced_item(m: Machine, frame: Frame, node: Any, base: Value, key: Value | None) -> None:
    """An item of a list or dict is about to be set."""
    if isinstance(base, (ListValue, DictValue)) and _may_write(m, frame, node):
        slot = ("k", key.value) if isinstance(base, DictValue) and isinstance(key, Const) else None
        if slot is None or slot in base.slots or "*" in base.slots:
            _write(m, frame, node, base.slots, CONTENTS)


def forget_compiled(m: Machine, tv: TransformedValue | None = None) -> None:
    """JAX throws away what it has compiled: of all functions, or of one."""
    staleness = m.trackers[Staleness]
    for wrapper in list(staleness.read_by) if tv is None else [_wrapper(tv)]:
        staleness.forget(wrapper)


def _may_write(m: Machine, frame: Frame, node: Any) -> bool:
    mode, fn = m.path.mode, frame.fn
    if mode.staged or mode.presumed or node is None or not m.bus.wants(StaleRead) or frame.scope.is_test:
        return False
    if any(loop.picked for loop in m.path.loops):
        return False  # the first iteration sets things up
    if any(key[0] == "is" and truth for key, truth in map(normal_condition, m.path.conditions)):
        return False  # what is None yet is made
    if fn is not None and is_test_function(fn):
        return False  # it checks what JAX keeps
    return fn is None or not (fn.is_generator or fn.name in ("__enter__", "__exit__"))


def _write(m: Machine, frame: Frame, node: Any, slots: dict[Any, Any], slot: str, owner: Value | None = None) -> None:
    staleness = m.trackers[Staleness]
    staleness.spots[id(node)] = Spot(frame.scope, node, frame.scope.text[node.start : node.end], frame.fn)
    staleness.write(slots, slot, id(node), owner)


def _is_constructor(m: Machine, base: Value) -> bool:
    """An object is being set up: that happens once."""
    return any(link.receiver is base and link.fn is not None and link.fn.name in _CONSTRUCTORS for link in m.path.stack)


def _is_same(old: Value | None, new: Value) -> bool:
    """The variable has that value already."""
    if old is new:
        return True
    return (
        isinstance(old, Const)
        and isinstance(new, Const)
        and (type(old.value), old.value) == (type(new.value), new.value)
    )


def _filled(m: Machine, fn: ir.Function) -> frozenset[str]:
    """Attributes that a function sets if they are not there yet: ``if self.cache is None: self.cache = …``."""
    found: frozenset[str] | None = m.program.filled_attributes.get(id(fn))
    if found is None:
        found = m.program.filled_attributes[id(fn)] = frozenset(_asked_for(fn))
    return found


def _asked_for(fn: ir.Function) -> set[str]:
    """Attributes that the tests of a function ask for: whether they are None, or there at all."""
    found: set[str] = set()
    todo: list[Any] = list(fn.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ir.If):
            found |= _asked_in(node.test)
        for field in ("body", "orelse", "finalbody"):
            todo += getattr(node, field, None) or ()
        todo += [s for handler in getattr(node, "handlers", ()) for s in handler.body]
    return found


def _asked_in(test: ir.Expr) -> set[str]:
    found: set[str] = set()
    todo: list[Any] = [test]
    while todo:
        node = todo.pop()
        if isinstance(node, ir.BoolOp):
            todo += node.values
        elif isinstance(node, ir.UnaryOp):
            todo.append(node.operand)
        elif isinstance(node, ir.Compare) and all(op in ("is", "is not") for op in node.ops):
            todo.append(node.left)
        elif isinstance(node, ir.Attribute):
            found.add(node.attr)
        elif isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == "hasattr":
            found |= {
                a.value.value for a in node.args if isinstance(a.value, ir.Constant) and isinstance(a.value.value, str)
            }
    return found
