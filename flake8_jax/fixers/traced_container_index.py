"""JAX108: a NumPy table, or a sequence of numbers, is made a JAX array before a tracer indexes it.

Limitations: sequences of arrays or layers, of which nothing says that they stack.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import LOOKUP, unsafe
from flake8_jax.fixers._flow import follow
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, repair
from flake8_jax.semantics.domain.values import Const, HostArray, ListValue, Static, TupleValue, Value
from flake8_jax.semantics.events.events import Indexing


@repair("traced-container-index")
def fix(event: Indexing, source: FixSource) -> Fix | None:
    if event.mode != "load" or not _stacks(event.base):
        return None
    imports = Imports(source, event.at)
    base = event.at.value
    if isinstance(base, ir.Tuple) and not source.is_own_parenthesised(base):
        return None
    if follow(source, event.at).inspected:
        return None
    opening = f"{imports.spell('jax.numpy.asarray')}("
    edits = (Edit(base.start, base.start, opening), Edit(base.end, base.end, ")"))
    return unsafe("Index a JAX array instead", LOOKUP, (*edits, *imports.edits))


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
