"""Large arrays that staged code closes over: they become constants of the compiled program.

Vocabulary
----------
captured    read while a function is being compiled, from a variable or an object that is older than that: a module-level
            variable, one of an enclosing function, an attribute of ``self`` that is no argument, an argument that
            ``functools.partial`` holds.
parameters  the first argument of ``model.apply``, ``state.apply_fn``: the weights of a network, of whatever size.
embedded    computed with: only then does the array become part of the program. Its shape alone does not.

Only ``jit`` and ``pmap`` compile constants; a ``scan`` outside of them passes what its body closes over. Not
modeled: defaults of parameters, arrays that a compiled function gives back as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.joining import members_of
from flake8_jax.semantics.domain.loading import is_loaded
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.signatures import underlying
from flake8_jax.semantics.domain.sizes import is_large
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    GRAD,
    Array,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    HostArray,
    Instance,
    ListValue,
    ModuleValue,
    PartialValue,
    Room,
    Site,
    Static,
    TransformedValue,
    Tree,
    TupleValue,
    Unknown,
    Value,
    held_by,
)
from flake8_jax.semantics.events.events import CapturedConstant
from flake8_jax.semantics.events.facts import EXPORTED
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.allocations import escapes_trace

COMPILING = frozenset({"jit", "pjit", "pmap", "filter_jit", "filter_pmap"})
"""Transforms that compile what they stage, by the last part of their names."""


class Capture(msgspec.Struct, frozen=True, eq=False):
    """Where a large array was read that is older than the code being compiled."""

    scope: ModuleScope
    at: Any
    value: Value


class Captures(Tracker):
    """constants: arrays that compiled code closes over, by identity. embedded: those that became part of a program.
    loaded: by the block that binds a variable and its name, whether it holds a data set (see ``domain.loading``).
    data_sets: these matter, for previews. exported: functions that are exported, by identity. applied: where a function
    captures parameters."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.constants: dict[int, Capture] = {}
        self.embedded: list[Value] = []
        self.loaded: dict[tuple[int, str], bool] = {}
        self.data_sets = False
        self.exported: set[int] = set()
        self.applied: dict[int, list[tuple[ModuleScope, int]]] = {}

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> int:
        return len(self.embedded)

    def since(self, mark: int, run: FinishedRun) -> tuple[int, ...] | None:
        """The inputs that the run made part of a program."""
        embedded = frozenset(self.embedded[mark:])
        return tuple([i for i, v in enumerate(run.inputs) if v in embedded]) or None if embedded else None

    def replay(self, record: tuple[int, ...], replay: Replay) -> None:
        if self.constants:
            embed(self.m, [replay.inputs[i] for i in record])


def is_constant(value: Value) -> bool:
    """A large array that is no tracer."""
    return is_large(value) and not (isinstance(value, Array) and value.level >= ABSTRACT - 1)


def track_variable(m: Machine, frame: Frame, node: Any, name: str, value: Value) -> None:
    """A variable is read that holds a large array."""
    around: Frame | None = frame
    while around is not None:
        if name in around.slots and around.slots is not frame.scope.slots:
            if around.trace >= m.path.mode.jitted:
                return
            break
        around = around.parent
    capture(m, frame.scope, node, value)


def track_loaded(m: Machine, frame: Frame, node: ir.Name, value: Value) -> None:
    """Compiled code reads a variable of a function or module around it: does that hold a data set of unknown size?"""
    captures, mode = m.trackers[Captures], m.path.mode
    if not captures.data_sets or mode.presumed or mode.shapes_only:
        return
    around: Frame | None = frame.parent
    while around is not None and node.id not in around.slots:
        around = around.parent
    if around is not None and around.slots is not frame.scope.slots and (around.trace or around.fn is None):
        return
    body = around.fn.body if around is not None and around.fn is not None else frame.scope.tree.body
    key = (id(body), node.id)
    if key not in captures.loaded:
        captures.loaded[key] = is_loaded(body, node.id)
    if captures.loaded[key]:
        captures.constants[id(value)] = Capture(frame.scope, node, value)


MAY_BE_LOADED = frozenset({Array, HostArray, Unknown, Tree})
APPLYING = frozenset({"apply", "apply_fn"})
"""Methods that run a network on its parameters."""
_NO_PARAMETERS = (BuiltinValue, ClassValue, Const, FunctionValue, ModuleValue, Static, TransformedValue)


def track_parameters(m: Machine, frame: Frame, node: ir.Call) -> None:
    """``model.apply(params, x)`` with parameters that are no argument of the compiled function."""
    mode = m.path.mode
    if not node.args or node.args[0].star or node.args[0].keyword is not None:
        return
    if mode.presumed or mode.shapes_only or not m.bus.wants(CapturedConstant):
        return
    names = [part for part in walk(node.args[0].value) if isinstance(part, ir.Name)]
    captured = [(name, _captured_value(m, frame, name.id)) for name in names]
    for name, value in captured:
        if value is not None and all(_may_be_parameters(one) for one in members_of(value)):
            m.bus.emit(CapturedConstant(m.path.context(frame.scope), name, value, 0))
            _track_applied(m, frame.scope, name)
            return


def _track_applied(m: Machine, scope: ModuleScope, name: ir.Name) -> None:
    """Functions that run here capture parameters, which is right if one of them is exported."""
    captures = m.trackers[Captures]
    for function in {id(link.fn) for link in m.path.stack if link.fn is not None}:
        captures.applied.setdefault(function, []).append((scope, name.start))
        if function in captures.exported:
            m.bus.record_fact(EXPORTED, scope, name.start)


def track_exported(m: Machine, function: Value) -> None:
    """``jax.export.export(jax.jit(f))``: what ``f`` captures has to be part of the program."""
    captures, operand = m.trackers[Captures], underlying(function)
    if isinstance(operand, FunctionValue):
        captures.exported.add(id(operand.fn))
        for scope, start in captures.applied.get(id(operand.fn), ()):
            m.bus.record_fact(EXPORTED, scope, start)


MAX_DEPTH = 4


def _may_be_parameters(value: Value, depth: int = MAX_DEPTH) -> bool:
    """Neither code nor a number, nor a container of only those; of an unknown library, an object that is passed as parameters
    holds them."""
    if isinstance(value, (TupleValue, ListValue, DictValue)) and depth and (parts := held_by(value)):
        return any(_may_be_parameters(part, depth - 1) for part in parts)
    known = isinstance(value, External) and value.name.startswith(("jax.", "numpy.", "flax.", "optax.", "haiku."))
    return not known and not isinstance(value, _NO_PARAMETERS)


def _captured_value(m: Machine, frame: Frame, name: str) -> Value | None:
    """What a variable holds that is older than all traces."""
    around: Frame | None = frame
    while around is not None and name not in around.slots:
        around = around.parent
    if around is not None and around.trace:
        return None
    found = (around.slots if around is not None else frame.scope.slots).get(name)
    if not isinstance(found, Value) or (getattr(found, "level", 0) or 0) >= GRAD:
        return None
    return found if name != "self" else None


def track_part(m: Machine, frame: Frame, node: Any, base: Value, value: Value) -> None:
    """A large array is taken out of an object, a module or a container."""
    if isinstance(base, (ModuleValue, ClassValue)) or (
        isinstance(base, (Instance, ListValue, DictValue)) and escapes_trace(m, base, m.path.mode.jitted)
    ):
        capture(m, frame.scope, node, value)


def track_held(m: Machine, partial: PartialValue, site: Site) -> None:
    """``jax.jit(partial(f, table))``: what the partial holds is no argument."""
    for value in (*partial.args, *partial.kwargs.values()):
        if is_large(value):
            capture(m, site.scope, site, value)


def capture(m: Machine, scope: ModuleScope, at: Any, value: Value) -> None:
    """Remember where a constant comes from, until it is computed with."""
    if is_constant(value) and not m.path.mode.presumed and m.bus.wants(CapturedConstant):
        m.trackers[Captures].constants[id(value)] = Capture(scope, at, value)


def embed(m: Machine, values: Iterable[Value]) -> None:
    """Staged code computes with ``values``: those that were captured become part of the program."""
    mode = m.path.mode
    if not mode.jitted or mode.shapes_only:
        return
    room = Room()
    todo = list(values)[::-1]
    while todo:
        value = todo.pop()
        if isinstance(value, (TupleValue, ListValue)):
            if room.enter(value):
                todo += (value.elts if isinstance(value, TupleValue) else value.known() or ())[::-1]
            continue
        found = m.trackers[Captures].constants.get(id(value))
        if found is None and isinstance(value, Array) and value.origin is not None:
            found = m.trackers[Captures].constants.get(id(value.origin))
        if found is not None:
            m.trackers[Captures].embedded.append(found.value)
            size = max(getattr(found.value, "size", 0), 0) * 4
            m.bus.emit(
                CapturedConstant(m.path.context(found.scope), found.at, found.value, size, not is_large(found.value))
            )
