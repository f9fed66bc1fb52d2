"""JAX505: ``x[i] = v`` becomes ``x = x.at[i].set(v)``.

Not modelled: several targets, unpacking into items, ``del``, arrays of an enclosing scope (the name would become local).
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._expressions import Effect, effect
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, repair
from flake8_jax.fixers._updates import rebindable
from flake8_jax.semantics.events import Store

_METHODS = {"+": "add", "*": "multiply", "/": "divide", "**": "power"}


@repair("array-item-assignment")
def fix(event: Store, source: FixSource) -> Fix | None:
    target = event.at
    if not isinstance(target, ir.Subscript):
        return None
    statement = source.statement(target)
    if isinstance(statement, ir.Assign) and len(statement.targets) == 1 and statement.targets[0] is target:
        method, value = "set", source.argument(statement.value)
    elif isinstance(statement, ir.AugAssign) and statement.target is target:
        found = _augmented(source, target, statement)
        if found is None:
            return None
        method, value = found
    else:
        return None
    array = rebindable(source, target.value)
    kept = [(part.start, part.end) for part in (target.value, target.index, statement.value)]
    if source.lost_comments(statement.start, statement.end, kept):
        return None
    text = f"{array} = {array}.at[{source.slice(target.index)}].{method}({value})"
    return Fix(f"Bind the name to `.at[…].{method}(…)`", "safe", (Edit(statement.start, statement.end, text),))


def _augmented(source: FixSource, target: ir.Subscript, statement: ir.AugAssign) -> tuple[str, str] | None:
    """The method that does what an operator does, and its argument."""
    if statement.op in _METHODS:
        return _METHODS[statement.op], source.argument(statement.value)
    if statement.op == "-":
        return "add", f"-{source.atom(statement.value)}"
    if effect(target, Imports(source, target)) is not Effect.PURE:
        return None
    return "set", f"{source.slice(target)} {statement.op} {source.atom(statement.value)}"
