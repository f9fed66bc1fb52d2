"""From an IR node to the function that runs it, from a value to how it is called, from a name to its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.core import ir
from flake8_jax.knowledge.model import FunctionFact
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.code import is_always_evaluated
from flake8_jax.semantics.domain.scopes import RUN as HAS_RUN
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.stack import NORMAL, RAISE, Flow
from flake8_jax.semantics.domain.values import (
    Const,
    Deferred,
    DictValue,
    External,
    FunctionValue,
    ListValue,
    PartialValue,
    Static,
    TransformedValue,
    TupleValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.limits import BudgetSpentError

EVALUATE: dict[type, Callable[[Machine, Frame, Any], Value]] = {}
"""Filled in by ``expressions``, which needs ``evaluate`` itself."""


RUN: dict[type, Callable[[Machine, Frame, Any], Flow]] = {}
"""How a statement runs; filled in by ``statements``."""

CALL: dict[type, Callable[[Machine, Any, Call], Value]] = {}
"""How a kind of value is called; filled in by the modules that model it."""

SPECIAL: dict[str, Callable[[Machine, Frame, Any, Arguments], Value]] = {}
"""How a library function runs that no fact of the knowledge tables describes, by canonical name."""

ATTRIBUTE: dict[type, Callable[[Machine, Frame, Any, Any, str], Value]] = {}
"""How an attribute of a kind of value is read; filled in by ``attributes``."""

DESCRIBE: dict[type, Callable[[Machine, ModuleScope, Frame | None, Any], Value | None]] = {}
"""The value that a kind of annotation describes; filled in by ``annotations``."""

PASSED_FUNCTIONS: list[Callable[[Machine, Frame, Any, str, FunctionFact, dict[str, Value]], None]] = []
"""What runs the functions that are passed to a library which stages or calls them (with the library function's name,
fact and bound arguments); filled in by ``models.library``."""


def evaluate(m: Machine, frame: Frame, node: ir.Expr) -> Value:
    """The value of an expression."""
    value = EVALUATE[type(node)](m, frame, node)
    if m.observer is not None:
        m.observer(frame, node, value)
    return value


_CONTAINERS = (DictValue, ListValue, TupleValue)
_FUNCTIONS = (FunctionValue, PartialValue, TransformedValue)


def lookup(m: Machine, frame: Frame, name: str) -> Value | None:
    """The value bound to a name as seen from ``frame``; None where nothing binds it."""
    scope_frame: Frame | None = frame
    fn = frame.fn
    if not (fn is not None and name in fn.global_names):
        while scope_frame is not None:
            value = scope_frame.slots.get(name)
            if value is not None:
                return m.program.resolve(value) if isinstance(value, Deferred) else value
            scope_frame = scope_frame.parent
    value = m.program.variable(frame.scope, name)
    if frame.scope.versions and fn is not None and frame.scope.state == HAS_RUN:
        value = frame.scope.version(name, fn.body[0].start) or value
    if value is None:
        return None
    if isinstance(value, Deferred):
        value = m.program.resolve(value)
    if frame.scope.redefined and _is_another_by_then(frame, name, value):
        return Unknown(name)
    return Unknown(name, host_test=True) if m.path.stack and _is_rebound(m, frame, name, value) else value


def _is_another_by_then(frame: Frame, name: str, value: Value) -> bool:
    """A script redefines a function after the one that calls it, or imports another module under a name: which of them its
    calls met, its top level has shown."""
    last = frame.scope.redefined.get(name)
    if (
        last is None
        or frame.fn is None
        or frame.scope.state != HAS_RUN
        or not isinstance(value, (*_FUNCTIONS, External))
    ):
        return False
    return frame.fn.body[0].start < last


def _is_rebound(m: Machine, frame: Frame, name: str, value: Value) -> bool:
    """A variable of the module may hold something else by the time that a function reads it."""
    if name in frame.scope.rebound:
        # What a script has left in the name is not what its earlier calls have met.
        if isinstance(value, (Const, Static)) or (frame.scope.state == HAS_RUN and isinstance(value, _CONTAINERS)):
            return True
    return m.program.is_replaced(frame.scope, name, value)


def run_block(m: Machine, frame: Frame, body: list[ir.Stmt]) -> Flow:
    """Run statements until one does not fall through. What was learnt on the way ends with the block."""
    conditions = len(m.path.conditions)
    flow: Flow = NORMAL
    doubtful, doubt_from = frame.doubtful, -1
    loop = m.path.loops[-1] if m.path.loops else None
    guards, picked, frequent = (loop.guards, loop.picked, loop.frequent) if loop is not None else (0, 0, 0)
    for statement in body:
        m.path.steps += 1
        if m.path.steps > m.path.step_limit:
            raise BudgetSpentError
        if m.observer is not None:
            m.observer(frame, statement, None)
        flow = RUN[type(statement)](m, frame, statement)
        if frame.failed is not None:
            failed, frame.failed = frame.failed, None
            goes_on = m.program.goes_on and not m.path.mode.staged and not frame.attempts
            if flow == NORMAL and not goes_on and is_always_evaluated(statement, failed):
                flow = RAISE
        if flow != NORMAL:
            break
        if frame.doubtful and not doubtful:
            # ``if isinstance(x, str): return …`` came before: what follows is the other branch of that test.
            doubtful, doubt_from = True, len(m.bus.emissions)
    if doubt_from >= 0:
        m.bus.drop_errors(doubt_from)
    if loop is not None:
        loop.guards, loop.picked, loop.frequent = guards, picked, frequent
    del m.path.conditions[conditions:]
    return flow
