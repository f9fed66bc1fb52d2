"""JAX704: ``x == jnp.nan`` becomes ``jnp.isnan(x)``. Limitations: chains of comparisons, membership.

The fix is unsafe, because the comparison gets another value, as intended. Its message says more where the value may be
something else than one array of numbers: for None, a tuple or strings, ``isnan`` raises.
"""

from __future__ import annotations

from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import FINDS_NAN, NUMBERS_ONLY, unsafe
from flake8_jax.fixers._conditions import is_surely_array, is_surely_host_array_of_numbers, may_be_tree
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.domain.values import Array, HostArray, Tree
from flake8_jax.semantics.events.events import NanComparison


@fixer("nan-comparison")
def fix(event: NanComparison, source: FixSource) -> Fix | None:
    node = event.value_node
    if node is None or event.op not in ("==", "!="):
        return None
    if isinstance(event.value, (Array, Tree)):
        function = "jax.numpy.isnan"
    elif isinstance(event.value, HostArray):
        function = "numpy.isnan"
    else:
        return None
    whole = event.at
    if source.lost_comments(whole.start, whole.end, [(node.start, node.end)]):
        return None
    imports = Imports(source, whole)
    called = imports.spell(function)
    text = f"{'~' if event.op == '!=' else ''}{called}({source.argument(node)})"
    certain = is_surely_array(source, node) and not may_be_tree(source, node)
    certain = certain or is_surely_host_array_of_numbers(source, node)
    edits = (Edit(whole.start, whole.end, text), *imports.edits)
    return unsafe(f"Use `{called}`", FINDS_NAN if certain else NUMBERS_ONLY, edits)
