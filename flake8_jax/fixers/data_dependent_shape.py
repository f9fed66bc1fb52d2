"""JAX106: a reduction over ``x[mask]`` becomes a reduction over ``x`` with ``where=mask``, and an update of ``x.at[mask]`` a
``jnp.where``.

Limitations: reductions along an axis, masks of another rank than the array, results that keep the masked shape.
"""

from __future__ import annotations

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import COUNTED, MASKED, REPLACED, unsafe
from flake8_jax.fixers._expressions import Effect, condition, effect
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._masks import selected
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.domain.values import Array
from flake8_jax.semantics.events.events import Indexing, LibraryCall, MethodCall

_WHERE = frozenset(["sum", "mean", "prod", "any", "all", "std", "var"])
_EXTREME = frozenset(["max", "min"])


@fixer("data-dependent-shape")
def fix(event: Indexing | LibraryCall | MethodCall, source: FixSource) -> Fix | None:
    if not isinstance(event, Indexing) or isinstance(event.at.index, ir.Tuple):
        return None
    if event.mode == "at":
        return _updated(event, source)
    if event.mode != "load":
        return None
    base, mask = event.base, event.index
    ranks = {v.ndim for v in (base, mask) if isinstance(v, Array) and v.ndim is not None}
    if len(ranks) > 1:
        return None
    imports = Imports(source, event.at)
    if effect(event.at, imports) is Effect.EFFECT:
        return None
    found = _reduction(source, imports, event.at)
    if found is None:
        return _count(source, imports, event)
    call, name = found
    array = source.argument(event.at.value)
    where = condition(source, event.at.index, imports)
    if name in _EXTREME:
        if not (isinstance(base, Array) and base.dtype == "float"):
            return None
        infinity = imports.spell("jax.numpy.inf")
        initial = infinity if name == "min" else f"-{infinity}"
        where = f"{where}, initial={initial}"
    elif name not in _WHERE:
        return None
    if source.lost_comments(call.start, call.end, [(event.at.value.start, event.at.value.end)]):
        return None
    text = f"{imports.spell(f'jax.numpy.{name}')}({array}, where={where})"
    edit = Edit(call.start, call.end, text)
    return unsafe("Reduce over the whole array with `where=`", MASKED, (edit, *imports.edits))


def _updated(event: Indexing, source: FixSource) -> Fix | None:
    """``x.at[mask].set(0)`` is ``jnp.where(mask, 0, x)``."""
    at, method = event.at.value, source.parent(event.at)
    call = source.parent(method)
    if not isinstance(at, ir.Attribute) or not isinstance(method, ir.Attribute) or not isinstance(call, ir.Call):
        return None
    if call.func is not method or len(call.args) != 1 or call.args[0].keyword or call.args[0].star:
        return None
    if isinstance(source.parent(call), ir.ExprStmt):
        return None  # nothing gets the new array, which is another finding (JAX506)
    imports = Imports(source, event.at)
    target = msgspec.structs.replace(event.at, value=at.value)
    text = selected(source, imports, target, event.base, method.attr, call.args[0].value)
    if text is None or source.comments(call.start, call.end):
        return None
    return unsafe("Replace the update with `jnp.where`", REPLACED, (Edit(call.start, call.end, text), *imports.edits))


def _count(source: FixSource, imports: Imports, event: Indexing) -> Fix | None:
    """``len(x[mask])``, ``x[mask].size`` and ``x[mask].shape[0]`` are the number of true elements."""
    node = _counting(source, event)
    if node is None or source.comments(node.start, node.end):
        return None
    text = f"{imports.spell('jax.numpy.sum')}({condition(source, event.at.index, imports)})"
    edit = Edit(node.start, node.end, text)
    return unsafe("Count the true elements of the mask", COUNTED, (edit, *imports.edits))


def _counting(source: FixSource, event: Indexing) -> ir.Expr | None:
    """The expression around a masked array that gives its length."""
    above = source.parent(event.at)
    if isinstance(above, ir.Attribute) and above.attr == "size":
        return above if isinstance(event.base, Array) and event.base.ndim == 1 else None
    if isinstance(above, ir.Attribute) and above.attr == "shape":
        item = source.parent(above)
        if isinstance(item, ir.Subscript) and isinstance(item.index, ir.Constant) and item.index.value == 0:
            return item
        return None
    call = source.parent(above) if isinstance(above, ir.Argument) else None
    if isinstance(call, ir.Call) and isinstance(call.func, ir.Name) and call.func.id == "len":
        return call
    return None


def _reduction(source: FixSource, imports: Imports, masked: ir.Subscript) -> tuple[ir.Call, str] | None:
    """``x[mask].sum()`` or ``jnp.sum(x[mask])``, with the reduction's name."""
    above = source.parent(masked)
    if isinstance(above, ir.Attribute):
        call = source.parent(above)
        if isinstance(call, ir.Call) and call.func is above and not call.args:
            return call, above.attr
    if isinstance(above, ir.Argument):
        call = source.parent(above)
        if isinstance(call, ir.Call) and len(call.args) == 1 and not above.star and not above.keyword:
            name = imports.resolve(call.func) or ""
            if name.startswith("jax.numpy.") and name.count(".") == 2:
                return call, name.rpartition(".")[2]
    return None
