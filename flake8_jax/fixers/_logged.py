"""What staged code hands to a logger or prints: it gets a tracer once for each compilation, also where no cast raises any more.

Limitations: loggers of other names, values that reach them through containers or other functions.
"""

from __future__ import annotations

import msgspec

from flake8_jax.core import ir
from flake8_jax.fixers._callers import names
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import target_names
from flake8_jax.fixers._source import STATEMENTS, FixSource

LOGGED = (
    "no automatic fix, because the logger would get a traced value once for each compilation; return the value, and log "
    "it in the caller"
)
_LOGGING = frozenset({
    "print", "log", "log_metric", "log_metrics", "log_scalar", "log_dict", "add_scalar", "add_scalars", "write_scalar",
    "write_scalars", "write_summary", "write_metrics", "scalar", "info", "debug", "warning",
})  # fmt: skip
"""Functions and methods, by name, that show or keep a value."""
_COMPUTING = ("jax", "numpy", "math", "scipy", "cmath", "torch")
"""Libraries whose functions of these names compute, or print when the compiled code runs."""


def is_logged(source: FixSource, node: ir.Expr) -> bool:
    """A call that logs takes the value, in the same statement or by the variable that it is assigned to."""
    if _is_in_log(source, node):
        return True
    statement = source.statement(node)
    around = source.functions(node)
    if not isinstance(statement, ir.Assign) or statement.value is not node or len(statement.targets) != 1:
        return False
    bound = target_names(statement.targets[0])
    inside = [name for one in bound for name in names(source, one) if source.functions(name) == around]
    return any(name.start > statement.end and _is_in_log(source, name) for name in inside)


def _is_in_log(source: FixSource, node: ir.Expr) -> bool:
    below: msgspec.Struct = node
    for above in source.ancestors(node):
        if isinstance(above, STATEMENTS):
            return False
        if isinstance(above, ir.Call) and above.func is not below and _logs(source, above):
            return True
        below = above
    return False


def _logs(source: FixSource, call: ir.Call) -> bool:
    name = source.slice(call.func).rpartition(".")[2]
    library = (Imports(source, call).resolve(call.func) or "").partition(".")[0]
    return name in _LOGGING and library not in _COMPUTING
