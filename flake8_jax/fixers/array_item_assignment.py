"""JAX505: ``x[i] = v`` becomes ``x = x.at[i].set(v)``, and with a traced mask for ``i`` ``x = jnp.where(i, v, x)``.

The fix binds the name to a new array, so it is safe where this name alone refers to the old one. It is not offered where
nothing reads the name afterwards, where a caller writes into the result in place, where the assignment would raise, and
in Pallas kernels, whose references take items.

Limitations: several targets, unpacking into items, ``del``, arrays of an enclosing scope (the name would become local).
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import (
    INDEX_FIRST,
    NEGATIVE,
    NUMPY_CALLER,
    OTHER_REFERENCES,
    OWNER,
    REPLACED,
    TWICE,
    WRAPS,
    decided,
)
from flake8_jax.fixers._conditions import (
    evaluates_in_any_order,
    is_kernel,
    is_local_array,
    is_read_after,
    is_signed,
    is_surely_array,
    may_be_host_attribute,
    selects_each_item_once,
    takes_no_attribute,
)
from flake8_jax.fixers._expressions import Effect, effect
from flake8_jax.fixers._given_back import is_written_by_callers
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._masks import selected
from flake8_jax.fixers._source import Declined, FixSource, Refused, fixer
from flake8_jax.fixers._updates import rebindable
from flake8_jax.semantics.domain.masks import holds_traced_mask
from flake8_jax.semantics.domain.values import SliceValue, TupleValue, Value, holds_tracer
from flake8_jax.semantics.events.events import Store

_METHODS = {"+": "add", "*": "multiply", "/": "divide", "**": "power"}
_FOR_WRITERS = (
    "no automatic fix, because a caller assigns to items of the result; return a NumPy array, or use .at[…] in both"
)


@fixer("array-item-assignment")
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
    if _is_used_as_dict(source, target.value):
        return None
    if _is_for_numpy(source, statement):
        return None
    if isinstance(target.value, ir.Name) and is_written_by_callers(source, target.value):
        raise Declined(_FOR_WRITERS)
    if is_kernel(source, target) or isinstance(target.index, (ir.List, ir.Comprehension)):
        return None  # ``.at`` takes no list as an index
    kept = [(part.start, part.end) for part in (target.value, target.index, statement.value)]
    if source.lost_comments(statement.start, statement.end, kept):
        return None
    if event.index is not None and holds_traced_mask(event.index):
        return _by_mask(event, source, target, statement, method)
    text = f"{array} = {array}.at[{source.slice(target.index)}].{method}({value})"
    message = f"Replace the assignment with `.at[…].{method}(…)`"
    fix = Fix(message, "safe", (Edit(statement.start, statement.end, text),))
    fix = _decided(fix, source, target, statement)
    return decided(fix, safe=not _has_traced_bound(event.index), otherwise=WRAPS)


def _is_used_as_dict(source: FixSource, node: ir.Expr) -> bool:
    """The function asks the name for items, as a dict has them, although a caller passes an array."""
    around = source.functions(node)
    return (
        isinstance(node, ir.Name)
        and bool(around)
        and any(
            isinstance(part, ir.Attribute)
            and part.attr in ("items", "keys", "values", "setdefault")
            and isinstance(part.value, ir.Name)
            and part.value.id == node.id
            for part in walk(around[0])
        )
    )


def _has_traced_bound(index: Value | None) -> bool:
    """A slice of the index has a traced bound, which JAX does not take either: it needs another fix as well."""
    if isinstance(index, TupleValue):
        return any(_has_traced_bound(part) for part in index.elts)
    bounds = (index.lower, index.upper, index.step) if isinstance(index, SliceValue) else ()
    return any(bound is not None and holds_tracer(bound) for bound in bounds)


def _by_mask(
    event: Store, source: FixSource, target: ir.Subscript, statement: ir.Assign | ir.AugAssign, method: str
) -> Fix | None:
    """``x[mask] = v`` becomes ``x = jnp.where(mask, v, x)``: ``.at`` takes no traced mask.

    Raises:
        Refused: the new array would be lost, or cannot be assigned.
    """
    imports = Imports(source, target)
    is_subtraction = isinstance(statement, ir.AugAssign) and statement.op == "-"
    text = None if is_subtraction else selected(source, imports, target, event.base, method, statement.value)
    if text is None:
        return None
    edit = Edit(statement.start, statement.end, f"{source.slice(target.value)} = {text}")
    fix = Fix("Replace the assignment with `jnp.where`", "safe", (edit, *imports.edits))
    return decided(_decided(fix, source, target, statement), safe=False, otherwise=REPLACED)


def _is_for_numpy(source: FixSource, statement: ir.Stmt) -> bool:
    """A branch around chooses NumPy (``backend = np``): what it defines works on arrays of NumPy."""
    for above in source.ancestors(statement):
        if not isinstance(above, ir.If):
            continue
        block = above.body if above.body[0].start <= statement.start < above.body[-1].end else above.orelse
        chosen = (s.value for s in block if isinstance(s, ir.Assign) and isinstance(s.value, ir.Name))
        if any(Imports(source, value).resolve(value) == "numpy" for value in chosen):
            return True
    return False


def _decided(fix: Fix, source: FixSource, target: ir.Subscript, statement: ir.Assign | ir.AugAssign) -> Fix:
    """The fix, safe or not.

    Raises:
        Refused: the new array would be lost, or cannot be assigned.
    """
    array = target.value
    if not isinstance(array, ir.Name):
        if isinstance(array, ir.Attribute) and (
            takes_no_attribute(source, array) or may_be_host_attribute(source, array)
        ):
            raise Refused
        return decided(fix, safe=False, otherwise=OWNER)
    if not is_local_array(source, array, statement):
        if source.functions(array) and not is_read_after(source, array, statement):
            raise Refused
        if not is_surely_array(source, array):
            return decided(fix, safe=False, otherwise=NUMPY_CALLER)
        return decided(fix, safe=False, otherwise=OTHER_REFERENCES)
    if isinstance(statement, ir.Assign) and not evaluates_in_any_order(
        target.index, statement.value, Imports(source, target)
    ):
        return decided(fix, safe=False, otherwise=INDEX_FIRST)
    if isinstance(statement, ir.AugAssign) and statement.op == "-" and not is_signed(statement.value):
        return decided(fix, safe=False, otherwise=NEGATIVE)
    once = isinstance(statement, ir.Assign) or selects_each_item_once(source, target.index)
    return decided(fix, safe=once, otherwise=TWICE)


def _augmented(source: FixSource, target: ir.Subscript, statement: ir.AugAssign) -> tuple[str, str] | None:
    """The method that does what an operator does, and its argument."""
    if statement.op in _METHODS:
        return _METHODS[statement.op], source.argument(statement.value)
    if statement.op == "-":
        return "add", f"-{source.operand(statement.value)}"
    if effect(target, Imports(source, target)) is not Effect.PURE:
        return None
    return "set", f"{source.slice(target)} {statement.op} {source.operand(statement.value)}"
