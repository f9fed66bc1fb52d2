"""Module-level variables that change after staged code may have read them.

A compiled function keeps what it read while it was traced, so a later change has no effect on it. Here both halves are
recorded: a read in a trace that JAX keeps (``GlobalRead``), and a change by code that runs later: a function that declares the
name ``global`` and rebinds it, one that puts something into a list or dict, an assignment to a module's attribute, or a
second assignment at the top level below a call.

A change counts if it surely comes after a read: the same entry has read the variable before, or reads it in a loop around
both. A function that no code of the project calls is a setting for users, who make their settings first.

Vocabulary
----------
rebound     a module-level variable gets another value after staged code may have read it.
changed     so does the contents of a module-level list or dict.
code        a function, class or module: replacing one is no change of data.
setting     a change before which the entry has read nothing.
shown       one cell of a notebook defines the reader, has it traced, and changes the variable: its author sees all of it.

What fills itself when it is first asked for (``if CACHE is None``, ``if key not in TABLE``), and what collects functions
or classes (a registry), does not count as changing. Limitations: changes through other names of the same list or dict
that are unknown to the interpreter, attributes of objects.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import names_read
from flake8_jax.semantics.domain.scopes import RUNNING, Frame, ModuleScope
from flake8_jax.semantics.domain.stack import LoopState
from flake8_jax.semantics.domain.values import (
    Array,
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    FunctionValue,
    HostArray,
    ListValue,
    ModuleValue,
    PartialValue,
    Static,
    TransformedValue,
    TupleValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.events.events import GlobalRead
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker

_CODE = (FunctionValue, ClassValue, BoundMethod, PartialValue, TransformedValue, ModuleValue)
_DATA = (Const, Static, Unknown, Array, HostArray, TupleValue)


MAY_CHANGE = frozenset({ListValue, DictValue, *_DATA})
"""What a staged read of a module-level variable is told of."""


class GlobalReads(Tracker):
    """staged: global variables that staged code has read. rebindings: how often they were bound again, and where last.

    read: facts of what the entry has read in traces. made: its settings, with the loops around them. depth: of entries in
    entries. changes: facts of all changes, in order.
    """

    def __init__(self, m: Machine) -> None:
        self.staged: dict[tuple[str, str], dict[tuple[str, int], int]] = {}
        self.rebindings: dict[tuple[str, str], tuple[int, int]] = {}
        self.read: set[str] = set()
        self.made: dict[str, tuple[LoopState, ...]] = {}
        self.depth = 0
        self.changes: list[str] = []
        self.m = m

    def enter(self) -> tuple[set[str], dict[str, tuple[LoopState, ...]]]:
        saved = self.read, self.made
        self.read, self.made = set(), {}
        self.depth += 1
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.depth -= 1
        inner = self.read
        self.read, self.made = saved
        if self.depth:  # an import in the middle of an entry
            self.read = self.read | inner

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> int:
        return len(self.changes)

    def since(self, mark: int, run: FinishedRun) -> tuple[str, ...] | None:
        return tuple(dict.fromkeys(self.changes[mark:])) or None

    def replay(self, record: tuple[str, ...], replay: Replay) -> None:
        for fact in record:
            self.track_change(fact)

    def replay_events(self, record: tuple[str, ...] | None, replay: Replay) -> None:
        """A remembered run reads again what it read."""
        for event in replay.events:
            if isinstance(event, GlobalRead):
                self.track_kept_read(event.fact)
                track_read(self.m, event.scope, event.name, event.context.scope.path, event.at.start)

    def track_kept_read(self, fact: str) -> None:
        """A trace that JAX keeps reads a variable."""
        self.read.add(fact)
        made = self.made.get(fact)
        if made is not None and any(loop in made for loop in self.m.path.loops):
            self.m.bus.record_everywhere(fact)  # the next iteration changes it

    def track_change(self, fact: str) -> None:
        """Eager code changes a variable."""
        path = self.m.path
        self.changes.append(fact)
        if fact in self.read:
            self.m.bus.record_everywhere(fact)
        elif fact not in self.made:
            self.made[fact] = tuple(path.loops)


def is_global(frame: Frame, name: str) -> bool:
    """No function around the running code binds the name, and this one does not rebind it: it is the module's."""
    around: Frame | None = frame
    if frame.fn is not None and name in frame.fn.global_names:
        return False
    while around is not None:
        if name in around.slots and around.slots is not frame.scope.slots:
            return False
        around = around.parent
    return True


def is_code(value: Value | None) -> bool:
    """A function, class or module."""
    return isinstance(value, _CODE)


def rebound(scope: ModuleScope, name: str) -> str:
    """The fact that a module-level variable is rebound after staged code may have read it."""
    return f"rebound {scope.path}:{name}"


def changed(value: Value) -> str:
    """The fact that a module-level list or dict is changed after staged code may have read it."""
    return f"changed {id(value)}"


def emit_global(m: Machine, frame: Frame, node: Any, scope: ModuleScope, name: str, value: Value) -> None:
    """Tell the rules that code reads a module-level variable in a trace that JAX keeps."""
    if not m.path.mode.compiled or m.path.mode.presumed or node is None or not m.bus.wants(GlobalRead):
        return
    if isinstance(value, (ListValue, DictValue)) and not getattr(value, "is_tuple", False):
        m.journal.keep_alive.append(value)
        fact = changed(value)
    elif isinstance(value, _DATA):
        fact = rebound(scope, name)
        track_read(m, scope, name, frame.scope.path, node.start)
        if name not in scope.rebound and value is not scope.slots.get(name) and not isinstance(value, Unknown):
            return
        if isinstance(value, Unknown) and frame.scope.text[node.end : node.end + 1] == "(":
            return  # a function, whatever it is
    else:
        return
    m.trackers[GlobalReads].track_kept_read(fact)
    m.bus.emit(GlobalRead(m.path.context(frame.scope), node, value, name, fact, scope))


def track_read(m: Machine, scope: ModuleScope, name: str, path: str, start: int) -> None:
    """Staged code that the top level of a module calls reads a variable at that place: once more, after it was rebound?"""
    if scope.state != RUNNING or any(loop.node.start <= start < loop.node.end for loop in m.path.loops):
        return  # nothing calls it again, or every iteration redefines it
    first = m.trackers[GlobalReads].staged.setdefault((scope.path, name), {})
    rebindings, last = m.trackers[GlobalReads].rebindings.get((scope.path, name), (0, 0))
    shown = scope.path == path and scope.cell_of(start) == scope.cell_of(last) > 0
    if first.setdefault((path, start), rebindings) < rebindings and not shown:
        m.bus.recorded.add((rebound(scope, name), path, start))


def track_second_assignment(m: Machine, scope: ModuleScope, name: str, start: int) -> None:
    """The top level of a module assigns to a variable that staged code has read."""
    rebindings = m.trackers[GlobalReads].rebindings
    if (scope.path, name) in m.trackers[GlobalReads].staged:
        rebindings[scope.path, name] = rebindings.get((scope.path, name), (0, 0))[0] + 1, start


def track_rebinding(m: Machine, frame: Frame, name: str, scope: ModuleScope | None = None) -> None:
    """Eager code rebinds a module-level variable: ``global``, or an attribute of a module."""
    if m.path.mode.staged or m.path.mode.presumed or _fills_itself(m, frame.fn, name) or _is_temporary(frame):
        return
    m.trackers[GlobalReads].track_change(rebound(scope if scope is not None else frame.scope, name))


def track_contents(
    m: Machine, frame: Frame, node: Any, value: Value, put: Value | None, key: Value | None = None
) -> None:
    """Eager code of a function changes what is in a list or dict: an item that was there, under ``key`` where one is
    given. What is only ever added to is a registry or a log."""
    if m.path.mode.staged or m.path.mode.presumed or frame.fn is None or not m.bus.wants(GlobalRead) or is_code(put):
        return
    if not isinstance(value, (ListValue, DictValue)) or _is_temporary(frame):
        return
    held = [v for slot, v in value.slots.items() if isinstance(slot, int) or type(slot) is tuple]
    if isinstance(value, DictValue) and isinstance(key, Const):
        held = [v for v in (value.slots.get(("k", key.value)),) if v is not None]
    base = _base_name(node)
    if any(isinstance(v, _DATA) for v in held) and (base is None or not _fills_itself(m, frame.fn, base)):
        m.journal.keep_alive.append(value)
        m.trackers[GlobalReads].track_change(changed(value))


def _is_temporary(frame: Frame) -> bool:
    """A context manager or a test, which change what they change for the time being."""
    fn = frame.fn
    return frame.scope.is_test or (fn is not None and (fn.is_generator or fn.name in ("__enter__", "__exit__")))


def _base_name(node: Any) -> str | None:
    """The name that an item, attribute or method call starts with."""
    while isinstance(node, (ir.Subscript, ir.Attribute, ir.Call)):
        node = node.func if isinstance(node, ir.Call) else node.value
    return node.id if isinstance(node, ir.Name) else None


def _fills_itself(m: Machine, fn: ir.Function | None, name: str) -> bool:
    """The function looks at the variable in a test before it changes it."""
    if fn is None:
        return False
    tested = m.program.tested_names.get(id(fn))
    if tested is None:
        tested = m.program.tested_names[id(fn)] = _tested_names(fn)
    return name in tested


def _tested_names(fn: ir.Function) -> frozenset[str]:
    """The names that the tests of a function read."""
    found: set[str] = set()
    todo: list[Any] = list(fn.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ir.If, ir.While, ir.IfExp, ir.Assert)):
            found.update(names_read(node.test))
        if isinstance(node, (ir.If, ir.While, ir.For, ir.With, ir.Try)):
            for field in ("body", "orelse", "finalbody"):
                todo += getattr(node, field, ())
            todo += [s for handler in getattr(node, "handlers", ()) for s in handler.body]
    return frozenset(found)
