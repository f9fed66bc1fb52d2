"""Code that only waits until results are computed, and so reads nothing of them.

``jax.block_until_ready(out)``, ``out.block_until_ready()``, a map of that over a tree, or a function of the project that does
nothing else: ``def wait(out): jax.tree.map(lambda a: a.block_until_ready(), out); return out``.

Limitations: functions that are methods, or that wait for what another function of the project waits for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, last_name
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.signatures import underlying
from flake8_jax.semantics.domain.values import FunctionValue

WAIT: Final = "block_until_ready"


def is_wait(statement: ir.Stmt, scope: ModuleScope, body: Iterable[ir.Stmt]) -> bool:
    """The statement does nothing but wait. body: of the function, or module, that it stands in."""
    if isinstance(statement, ir.If):  # ``if hasattr(out, "block_until_ready"): out.block_until_ready()``
        return _asks_type(statement.test) and all(
            is_wait(one, scope, body) for one in statement.body + statement.orelse
        )
    call = statement.value if isinstance(statement, ir.ExprStmt) else None
    if not isinstance(call, ir.Call):
        return False
    mapped = call.args[0].value if call.args else None
    if isinstance(mapped, ir.Lambda):
        return _names_wait(mapped)
    return is_waiting(call.func, scope, body)


def _asks_type(test: ir.Expr) -> bool:
    return isinstance(test, ir.Call) and last_name(test.func) in ("hasattr", "isinstance")


def is_waiting(func: ir.Expr, scope: ModuleScope, body: Iterable[ir.Stmt]) -> bool:
    """What is called waits for what it gets, and gives that back or nothing."""
    if last_name(func) == WAIT:
        return True
    function = _function_of(func.id, scope, body) if isinstance(func, ir.Name) else None
    return function is not None and _only_waits(function)


def _function_of(name: str, scope: ModuleScope, body: Iterable[ir.Stmt]) -> ir.Function | None:
    for statement in body:
        if isinstance(statement, ir.FunctionDef) and statement.function.name == name:
            return statement.function
    value = scope.slots.get(name)
    inner = underlying(value) if value is not None else None
    return inner.fn if isinstance(inner, FunctionValue) else None


def _only_waits(function: ir.Function) -> bool:
    around = (ir.If, ir.For, ir.Try, ir.Pass)
    simple = [one for one in all_statements(function.body) if not isinstance(one, around) and not _is_docstring(one)]
    return any(map(_names_wait, simple)) and all(_names_wait(one) or _gives_back(one) for one in simple)


def _gives_back(statement: ir.Stmt) -> bool:
    """The statement returns a variable, a constant or nothing."""
    return isinstance(statement, ir.Return) and isinstance(statement.value, (ir.Name, ir.Constant, type(None)))


def _is_docstring(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Constant)


def _names_wait(node: Any) -> bool:
    return any(
        (isinstance(part, ir.Attribute) and part.attr == WAIT) or (isinstance(part, ir.Constant) and part.value == WAIT)
        for part in walk(node)
    )
