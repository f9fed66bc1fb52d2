"""Functions that compile again in each call, because they apply ``jit`` to a function object that they have just made.

Vocabulary
----------
maker       the run of a function of a module, or of a method, that applies ``jit`` outside of its own loops.
own         the function that is compiled is made in that run: a closure, a bound method, a partial, ``grad(f)``.
place       a call of a function, by where it stands. Calls in test files do not count.
repeated    the function has several places, or one in a loop; or it is public, takes arguments, belongs to a module of a
            package that is no script, and no code of the project calls it, so that its users do.
example     a place at the top level or in ``main`` of a script that uses the package: users do the same, more often.

A loop around the call is the concern of ``freshness``. Limitations: places in functions that run once, users of methods that
a subclass overrides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, last_name, names_read
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.stack import Link
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    DictValue,
    FunctionValue,
    ListValue,
    PartialValue,
    TransformedValue,
    TupleValue,
    UnionValue,
    Value,
)
from flake8_jax.semantics.events.facts import is_called_again
from flake8_jax.semantics.events.per_call import CompiledPerCall
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.freshness import COMPILING, KEPT, Freshness, drives
from flake8_jax.semantics.trackers.unjitted import RECURRING

_STARTING = frozenset({"main", "run", "cli"})
_ONCE = frozenset({"__init__", "__post_init__", "__new__", "__init_subclass__", "__call__", "call", "forward", "setup"})
_FEW = 4


class _Made(msgspec.Struct, frozen=True, eq=False):
    """What ``jit`` returned at ``node``. loops: so many ran around that."""

    value: TransformedValue
    maker: Link
    node: Any
    loops: int


class PerCall(Tracker):
    """places: where functions are called, by function, with the module if it is outside of functions. making: functions
    that compile in each call. made: what their runs made, by identity, with the maker. scripts: whether the
    module is one, by path."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.places: dict[int, dict[tuple[str, int], ModuleScope | None]] = {}
        self.making: set[int] = set()
        self.made: dict[int, _Made] = {}
        self.scripts: dict[str, bool] = {}

    def enter(self) -> Any:
        saved, self.made = self.made, {}
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.made = saved

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> int:
        self._track_place(self.m.path.stack)
        return id(function.fn)

    def since(self, mark: int, run: FinishedRun) -> int | None:
        return mark if mark in self.making else None

    def replay(self, record: int, replay: Replay) -> None:
        self._track_place(replay.outside)

    def settle(self, mark: int, result: Value) -> None:
        if self.made:
            track_given_away(self.m, result)

    def _track_place(self, stack: Sequence[Link]) -> None:
        link, caller = stack[-1], stack[-2].fn if len(stack) > 1 else None
        if link.kind != "call" or link.node is None or link.fn is None or link.scope.is_test:
            return
        places = self.places.setdefault(id(link.fn), {})
        is_outside = caller is None or caller.name in _STARTING
        places[link.scope.path, link.node.start] = link.scope if is_outside else None
        if len(places) > 1 or any(not 0 < loop.trip_count <= _FEW for loop in self.m.path.loops):
            self.m.bus.record_everywhere(is_called_again(link.fn))


def track_compiling(m: Machine, frame: Frame, node: Any, made: TransformedValue) -> None:
    """``made`` is what ``jit`` returned just now: remember it if a function makes it in each call."""
    path, freshness = m.path, m.trackers[Freshness]
    if made.name not in COMPILING or not path.stack or not m.bus.wants(CompiledPerCall):
        return
    link = path.stack[-1]
    if path.mode.staged or path.mode.presumed or freshness.caching_calls or freshness.choosing:
        return
    if link.fn is None or frame.fn is not link.fn or len(path.loops) > path.loop_base:
        return
    if not _is_plain(link.fn) or frame.scope.is_test or id(link.fn) in freshness.disguised:
        return
    if _is_own(frame, node, made):
        m.trackers[PerCall].made[id(made)] = _Made(made, link, node, len(path.loops))


def _is_plain(fn: ir.Function) -> bool:
    """A function of a module, or a method, that may run more than once."""
    if fn.is_lambda or fn.is_generator or "<locals>" in fn.qualname or fn.name in _STARTING or fn.name in _ONCE:
        return False
    return not fn.name.startswith("test")


def _is_own(frame: Frame, node: Any, made: TransformedValue) -> bool:
    """What is compiled is a function object that the running function has made."""
    operand = made.operand
    if isinstance(operand, FunctionValue):
        return not operand.cached and _is_inside(operand.closure, frame)
    if made.name == "equinox.filter_jit" or not isinstance(node, ir.Call) or not node.args or frame.fn is None:
        return False
    given = node.args[0].value
    if isinstance(operand, BoundMethod):
        return isinstance(given, ir.Attribute)
    if isinstance(given, ir.Name):
        local = given.id in frame.fn.local_names and all(p.name != given.id for p in frame.fn.params)
        assigned = [n for statement in frame.fn.body for n in walk(statement) if isinstance(n, ir.Assign)]
        bound = [n.value for n in assigned if any(isinstance(t, ir.Name) and t.id == given.id for t in n.targets)]
        if not local or len(bound) != 1:
            return False
        given = bound[0]
    if isinstance(operand, TransformedValue):
        return isinstance(given, ir.Call) and (operand.site.start, operand.site.end) == (given.start, given.end)
    return isinstance(operand, PartialValue) and isinstance(given, ir.Call) and last_name(given.func) == "partial"


def _is_inside(closure: Frame | None, frame: Frame) -> bool:
    while closure is not None:
        if closure is frame:
            return True
        closure = closure.parent
    return False


def track_called_by_maker(m: Machine, made: TransformedValue) -> None:
    """The compiled function is called while its maker runs."""
    found = m.trackers[PerCall].made.get(id(made))
    if m.path.mode.jitted or found is None or all(link is not found.maker for link in m.path.stack):
        return
    link, node, fn = found.maker, found.node, found.maker.fn
    if fn is None or _gives_function(fn) or (len(m.path.loops) == found.loops and drives(fn)):
        return  # a function that trains for many steps does this once before
    tracker = m.trackers[PerCall]
    tracker.making.add(id(fn))
    captured = _captured(fn, made.operand)
    if _is_for_users(m, link, made, captured):
        m.bus.record_everywhere(is_called_again(fn))
    context = m.path.context(made.site.scope)
    m.bus.emit(CompiledPerCall(context, node, made.name, made.operand, fn, captured, is_called_again(fn), KEPT))


def _captured(fn: ir.Function, operand: Value) -> tuple[str, ...]:
    """The parameters that the compiled function reads from its maker."""
    if not isinstance(operand, FunctionValue):
        return ()
    read = set().union(*[names_read(part) for part in operand.fn.body]) - set(operand.fn.local_names)
    return tuple([p.name for p in fn.params if p.name in read and p.name != "self"])


def _is_for_users(m: Machine, link: Link, made: TransformedValue, captured: tuple[str, ...]) -> bool:
    """The function is public, and no code of the project calls it."""
    fn, scope = link.fn, made.site.scope
    if fn is None or not fn.params:
        return False
    if RECURRING.search(fn.name) and _is_called_in_examples_alone(m, fn, scope):
        return True
    if any(part.startswith("_") for part in fn.qualname.split(".")):
        return False
    if isinstance(made.operand, TransformedValue):
        return False  # ``jit(vmap(env.reset))``, once before a training
    return not m.trackers[PerCall].places.get(id(fn)) and not _is_script(m, scope)


def _is_called_in_examples_alone(m: Machine, fn: ir.Function, scope: ModuleScope) -> bool:
    """No place of a function of the module ``scope`` is more than an example. A script evaluates a model once."""
    places = m.trackers[PerCall].places.get(id(fn), {})
    if places and (_EVALUATING.search(fn.name) or _is_script(m, scope)):
        return False
    return all(caller not in (None, scope) and _is_script(m, caller) for caller in places.values())


_EVALUATING = re.compile("eval|valid|accura|acc|metric|learn")


def _is_script(m: Machine, scope: ModuleScope) -> bool:
    """The module lies in no package, or does something when it runs: a notebook, a ``__main__`` block, a call at the top
    level."""
    known = m.trackers[PerCall].scripts
    if scope.path not in known:
        body = scope.tree.body
        known[scope.path] = (
            scope.path.endswith(".ipynb")
            or "." not in scope.name
            or any(
                (isinstance(s, ir.If) and "__name__" in names_read(s.test))
                or isinstance(s, (ir.For, ir.While))
                or (isinstance(s, ir.ExprStmt) and isinstance(s.value, ir.Call))
                for s in body
            )
        )
    return known[scope.path]


def _gives_function(fn: ir.Function) -> bool:
    """The function may return one that it has made: what is compiled may live on in that."""
    statements = list(all_statements(fn.body))
    made = {s.function.name for s in statements if isinstance(s, ir.FunctionDef)}
    returned = [s.value for s in statements if isinstance(s, ir.Return) and s.value is not None]
    for value in returned:
        held = value.elts if isinstance(value, ir.Tuple) else [value]
        if any(isinstance(v, ir.Lambda) or (isinstance(v, ir.Name) and v.id in made) for v in held):
            return True
    return False


def track_given_away(m: Machine, value: Value, depth: int = 3) -> None:
    """The value outlives the run: a result, or what an object or a container holds."""
    made = m.trackers[PerCall].made
    if not made:
        return
    found = made.get(id(value))
    if found is not None and found.value is value:
        m.bus.record_fact(KEPT, found.value.site.scope, found.node.start)
    if depth:
        for part in _parts(value):
            track_given_away(m, part, depth - 1)


def _parts(value: Value) -> tuple[Value, ...]:
    if isinstance(value, TupleValue):
        return value.elts
    if isinstance(value, UnionValue):
        return value.members
    if isinstance(value, TransformedValue):
        return (value.operand,)
    if isinstance(value, PartialValue):
        return (value.func, *value.args)
    if isinstance(value, (ListValue, DictValue)):
        return tuple(part for part in value.slots.values() if isinstance(part, Value))
    return ()
