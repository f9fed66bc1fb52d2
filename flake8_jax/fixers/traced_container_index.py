"""JAX108: a NumPy table, or a sequence of numbers, is made a JAX array before a tracer indexes it.

Limitations: sequences of arrays or layers, of which nothing says that they stack.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import LOOKUP, unsafe
from flake8_jax.fixers._flow import follow
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._shared_conversions import conversion, shared_conversion
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.knowledge import load
from flake8_jax.semantics.domain.values import Const, HostArray, ListValue, Static, TupleValue, Value
from flake8_jax.semantics.events.events import Indexing

_MAKERS = frozenset(
    f"numpy.{name}" for name in ("eye", "identity", "zeros", "ones", "arange", "linspace", "array", "asarray")
)


@fixer("traced-container-index")
def fix(event: Indexing, source: FixSource) -> Fix | None:
    if event.mode != "load" or not _stacks(event.base):
        return None
    imports = Imports(source, event.at)
    base = event.at.value
    if isinstance(base, ir.Tuple) and not source.is_own_parenthesised(base):
        return None
    if follow(source, event.at).inspected or _is_given_to_numpy(source, event.at):
        return None
    made = _made_by_jax(source, base, imports)
    if made is not None:
        return unsafe("Index a JAX array instead", LOOKUP, (*made, *imports.edits))
    shared = shared_conversion(source, base, indexed=True)
    edits = conversion(source, base, imports.spell("jax.numpy.asarray"), shared)
    return unsafe("Index a JAX array instead", LOOKUP, (*edits, *imports.edits))


def _made_by_jax(source: FixSource, base: ir.Expr, imports: Imports) -> list[Edit] | None:
    """``jnp.eye(n)`` for ``np.eye(n)``; None for a table that is not made on the spot."""
    if not isinstance(base, ir.Call) or source.comments(base.func.start, base.func.end):
        return None
    name = load().canonical(imports.resolve(base.func) or "")
    if name not in _MAKERS or any(a.keyword or a.star for a in base.args):
        return None
    return [Edit(base.func.start, base.func.end, imports.spell(name.replace("numpy", "jax.numpy", 1)))]


def _is_given_to_numpy(source: FixSource, node: ir.Node) -> bool:
    """``np.concatenate([table[i], …])``: NumPy would convert the item, which is a tracer after the fix."""
    statement = source.statement(node)
    calls = [above for above in source.between(node, statement) if isinstance(above, ir.Call)]
    return any((Imports(source, call).resolve(call.func) or "").startswith("numpy.") for call in calls)


def _stacks(value: Value) -> bool:
    if isinstance(value, HostArray):
        return True
    if isinstance(value, TupleValue):
        return bool(value.elts) and all(_is_number(v) for v in value.elts)
    if isinstance(value, ListValue):
        known = value.known()
        return bool(known) and all(_is_number(v) for v in known or ())
    return False


def _is_number(value: Value) -> bool:
    if isinstance(value, Static):
        return value.kind in ("int", "float", "bool")
    return isinstance(value, Const) and isinstance(value.value, (bool, int, float))
