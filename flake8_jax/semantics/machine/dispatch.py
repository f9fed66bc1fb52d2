"""From an IR node to the function that runs it, from a value to how it is called, from a name to its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import NORMAL
from flake8_jax.semantics.domain.values import Const, Deferred, Static, Unknown, Value
from flake8_jax.semantics.machine.core import BudgetSpentError, Machine

EVALUATE: dict[type, Callable[[Machine, Frame, Any], Value]] = {}
"""Filled in by ``expressions``, which needs ``evaluate`` itself."""


RUN: dict[type, Callable[[Machine, Frame, Any], int]] = {}
"""How a statement runs; filled in by ``statements``."""

CALL: dict[type, Callable[[Machine, Frame, Any, Any, Any, bool, bool], Value]] = {}
"""How a kind of value is called (with ``used`` and ``decorating``, as in ``calls.call``); filled in by the modules that
model it."""


def evaluate(m: Machine, frame: Frame, node: ir.Expr) -> Value:
    """The value of an expression."""
    return EVALUATE[type(node)](m, frame, node)


def lookup(m: Machine, frame: Frame, name: str) -> Value | None:
    """The value bound to a name as seen from ``frame``; None where nothing binds it."""
    scope_frame: Frame | None = frame
    fn = frame.fn
    if not (fn is not None and name in fn.global_names):
        while scope_frame is not None:
            value = scope_frame.slots.get(name)
            if value is not None:
                return m.resolve(value) if isinstance(value, Deferred) else value
            scope_frame = scope_frame.parent
    value = frame.scope.slots.get(name)
    if value is not None:
        if isinstance(value, Deferred):
            value = m.resolve(value)
        if name in frame.scope.rebound and isinstance(value, (Const, Static)) and m.stack:
            return Unknown(name, host_test=True)
        return value
    return None


def run_block(m: Machine, frame: Frame, body: list[ir.Stmt]) -> int:
    """Run statements until one does not fall through. What was learnt on the way ends with the block."""
    conditions = len(m.conditions)
    flow = NORMAL
    doubtful, doubt_from = frame.doubtful, -1
    loop = m.loops[-1] if m.loops else None
    guards = loop.guards if loop is not None else 0
    for statement in body:
        m.steps += 1
        if m.steps > m.step_limit:
            raise BudgetSpentError
        flow = RUN[type(statement)](m, frame, statement)
        if flow != NORMAL:
            break
        if frame.doubtful and not doubtful:
            # ``if isinstance(x, str): return …`` came before: what follows is the other arm of that test.
            doubtful, doubt_from = True, len(m.emissions)
    if doubt_from >= 0:
        m.drop_errors(doubt_from)
    if loop is not None:
        loop.guards = guards
    del m.conditions[conditions:]
    return flow
