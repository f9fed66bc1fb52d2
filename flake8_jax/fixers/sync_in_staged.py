"""JAX204: a wait or a copy does nothing while tracing, so the call is dropped.

The fix is safe where every run traces the value: eager code would no longer wait, or get no NumPy array.

Limitations: ``device_get`` of many.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._expressions import Effect, effect
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._safety import decided
from flake8_jax.fixers._source import FixSource, repair
from flake8_jax.fixers._staging import is_surely_traced
from flake8_jax.fixers.host_item import drop_method
from flake8_jax.semantics.events.events import LibraryCall, MethodCall


@repair("sync-in-staged")
def fix(event: LibraryCall | MethodCall, source: FixSource) -> Fix | None:
    found = _dropped(event, source)
    if found is None:
        return None
    fix, value = found
    otherwise = "callers outside tracing no longer wait, or get no NumPy array"
    return decided(fix, safe=is_surely_traced(source, value), otherwise=otherwise)


def _dropped(event: LibraryCall | MethodCall, source: FixSource) -> tuple[Fix, ir.Expr] | None:
    """The fix, and the value that is waited for."""
    call = event.at
    if isinstance(event, MethodCall):
        if call.args or not isinstance(call.func, ir.Attribute):
            return None
        value: ir.Expr = call.func.value
        name = f".{event.method}()"
    else:
        if len(call.args) != 1 or call.args[0].star or call.args[0].keyword:
            return None
        value = call.args[0].value
        name = f"`{source.slice(call.func)}`"
    message = f"Drop {name.strip('`') if name.startswith('.') else name}: there is nothing to wait for while tracing"
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
    text = source.argument(value) if isinstance(above, (ir.Argument, ir.Return, ir.Assign)) else source.atom(value)
    if isinstance(above, (ir.Return, ir.Assign)):
        text = source.line_value(value)
    return Fix(message, "safe", (Edit(call.start, call.end, text),)), value
