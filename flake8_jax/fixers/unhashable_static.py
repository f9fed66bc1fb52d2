"""JAX403: a list literal becomes a tuple. Limitations: lists made elsewhere.

The fix is safe where the function is known and only does with the parameter what is the same for a list and a tuple: iterate,
count, read one element, hand it to ``tuple`` or to a library as a shape or an axis. It is not offered where the function
compares it with a list, adds a list, or calls a method of lists, and where an element has no hash itself.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import LIST_OR_TUPLE, decided
from flake8_jax.fixers._conditions import Use, use_of_list
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.semantics.domain.values import Array, DictValue, HostArray, ListValue, Value
from flake8_jax.semantics.events.events import RootMet, TransformCall


@fixer("unhashable-static")
def fix(event: TransformCall | RootMet, source: FixSource) -> Fix | None:
    if isinstance(event, RootMet) or event.statics is None:
        return None
    positions, names = event.statics
    written: list[tuple[int | str, ir.Expr | None, Value]] = [
        *[(i, node, value) for i, (node, value) in enumerate(zip(event.nodes, event.args)) if i in positions],
        *[(name, event.keyword_nodes.get(name), value) for name, value in event.kwargs.items() if name in names],
    ]
    edits: list[Edit] = []
    worst = Use.ALIKE
    for parameter, node, value in written:
        if isinstance(node, ir.List) and isinstance(value, ListValue):
            if any(_has_no_hash(element) for element in value.known() or ()):
                raise Refused
            worst = max(worst, use_of_list(event, source, parameter))
            comma = "," if len(node.elts) == 1 and not _has_comma(source, node) else ""
            edits += [Edit(node.start, node.start + 1, "("), Edit(node.end - 1, node.end, comma + ")")]
    if not edits or worst is Use.BREAKS:
        return None
    fix = Fix("Pass a tuple", "safe", tuple(edits))
    return decided(fix, safe=worst is Use.ALIKE, otherwise=LIST_OR_TUPLE)


def _has_comma(source: FixSource, node: ir.List) -> bool:
    """Whether a comma follows the last element of a list."""
    start, end = node.elts[-1].end, node.end - 1
    comments = source.comments(start, end)
    return any(source.text[i] == "," and not any(c.start <= i < c.end for c in comments) for i in range(start, end))


def _has_no_hash(value: Value) -> bool:
    if isinstance(value, HostArray):
        return value.ndim != 0
    return isinstance(value, (Array, DictValue)) or (isinstance(value, ListValue) and not value.is_tuple)
