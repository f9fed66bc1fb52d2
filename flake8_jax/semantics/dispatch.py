"""From an IR expression to the function that evaluates it, and from a name to its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.machine import Machine
from flake8_jax.semantics.scopes import Frame
from flake8_jax.semantics.values import (
    Const,
    Deferred,
    Static,
    Unknown,
    Value,
)

EVALUATE: dict[type, Callable[[Machine, Frame, Any], Value]] = {}
"""Filled in by ``expressions``, which needs ``evaluate`` itself."""


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
