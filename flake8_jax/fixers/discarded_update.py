"""JAX506: ``x.at[i].set(v)`` becomes ``x = x.at[i].set(v)``. Limitations: arrays of an enclosing scope."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import UPDATED, unsafe
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.fixers._updates import rebindable
from flake8_jax.semantics.events.events import Discarded, FileRead


@fixer("discarded-update")
def fix(event: Discarded | FileRead, source: FixSource) -> Fix | None:
    if isinstance(event, FileRead):
        return None
    array = _updated(event.at)
    statement = source.statement(event.at)
    if array is None or not isinstance(statement, ir.ExprStmt) or statement.value is not event.at:
        return None
    text = f"{rebindable(source, array)} = "
    return unsafe("Assign the new array", UPDATED, (Edit(statement.start, statement.start, text),))


def _updated(node: ir.Node) -> ir.Expr | None:
    """The array behind ``x.at[i].set(v)``, or behind a chain of those."""
    found: ir.Expr | None = None
    while (
        isinstance(node, ir.Call)
        and isinstance(node.func, ir.Attribute)
        and isinstance(node.func.value, ir.Subscript)
        and isinstance(node.func.value.value, ir.Attribute)
        and node.func.value.value.attr == "at"
    ):
        found = node = node.func.value.value.value
    return found
