"""JAX403: a list literal becomes a tuple. Not modelled: lists made elsewhere."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._source import FixSource, repair
from flake8_jax.semantics.events import TransformCall
from flake8_jax.semantics.values import ListValue


@repair("unhashable-static")
def fix(event: TransformCall, source: FixSource) -> Fix | None:
    if event.statics is None:
        return None
    positions, names = event.statics
    written = [
        *[(node, value) for i, (node, value) in enumerate(zip(event.nodes, event.args)) if i in positions],
        *[(event.keyword_nodes.get(name), value) for name, value in event.kwargs.items() if name in names],
    ]
    edits: list[Edit] = []
    for node, value in written:
        if isinstance(node, ir.List) and isinstance(value, ListValue):
            comma = "," if len(node.elts) == 1 and not source.slice(node)[:-1].rstrip().endswith(",") else ""
            edits += [Edit(node.start, node.start + 1, "("), Edit(node.end - 1, node.end, comma + ")")]
    return Fix("Pass a tuple", "safe", tuple(edits)) if edits else None
