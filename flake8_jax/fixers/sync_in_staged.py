"""JAX204: a wait or a copy does nothing while tracing, so the call is dropped.

The fix is safe where every run traces the value: eager code would no longer wait, or get no NumPy array.

Limitations: ``device_get`` of many.
"""

from __future__ import annotations

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import NO_WAIT, decided
from flake8_jax.fixers._conditions import is_called_by_name, is_surely_traced
from flake8_jax.fixers._expressions import Effect, effect
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.fixers.host_item import drop_method
from flake8_jax.semantics.events.events import LibraryCall, MethodCall


@fixer("sync-in-staged")
def fix(event: LibraryCall | MethodCall, source: FixSource) -> Fix | None:
    found = _dropped(event, source)
    if found is None:
        return None
    fix, value = found
    is_traced = is_surely_traced(source, value)
    if not is_traced and isinstance(event, LibraryCall) and isinstance(source.parent(event.at), ir.Return):
        return None  # the callers outside of tracing want the copy on the host
    return decided(fix, safe=is_traced, otherwise=NO_WAIT)


def _dropped(event: LibraryCall | MethodCall, source: FixSource) -> tuple[Fix, ir.Expr] | None:
    """The fix, and the value that is waited for."""
    call = event.at
    value = _awaited(event, source)
    if value is None:
        return None
    name = f".{event.method}()" if isinstance(event, MethodCall) else f"`{source.slice(call.func)}`"
    message = f"Remove {name}, which does nothing at trace time"
    above = source.parent(call)
    if isinstance(above, ir.ExprStmt) and effect(value, Imports(source, call)) is Effect.PURE:
        if source.comments(call.start, call.end):
            return None
        return Fix(message, "safe", (source.delete_statement(above),)), value
    if isinstance(event, MethodCall):
        if event.method == "copy_to_host_async":
            return None
        return Fix(message, "safe", (drop_method(source, call),)), value
    if source.lost_comments(call.start, call.end, [(value.start, value.end)]):
        return None
    return Fix(message, "safe", (Edit(call.start, call.end, _spelled(source, value, above)),)), value


def _awaited(event: LibraryCall | MethodCall, source: FixSource) -> ir.Expr | None:
    """The object of the method, or the one argument of the function."""
    call = event.at
    if isinstance(event, LibraryCall) and not is_called_by_name(event, source):
        return None
    if isinstance(event, MethodCall):
        return call.func.value if not call.args and isinstance(call.func, ir.Attribute) else None
    if len(call.args) != 1 or call.args[0].star or call.args[0].keyword:
        return None
    return call.args[0].value


def _spelled(source: FixSource, value: ir.Expr, above: msgspec.Struct) -> str:
    """The value as it can stand in place of the call."""
    if isinstance(above, (ir.Return, ir.Assign)):
        return source.line_value(value)
    return source.argument(value) if isinstance(above, ir.Argument) else source.atom(value)
