"""JAX708: ``3`` becomes ``3.0``. Limitations: anything but a literal."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import FLOATS, unsafe
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.events.events import TransformCall


@fixer("integer-grad")
def fix(event: TransformCall, source: FixSource) -> Fix | None:
    edits = []
    for position in event.differentiated or ():
        node = event.nodes[position] if -len(event.nodes) <= position < len(event.nodes) else None
        if isinstance(node, ir.Constant) and source.slice(node).isdigit():
            edits.append(Edit(node.end, node.end, ".0"))
    return unsafe("Replace the integer with a float", FLOATS, edits) if edits else None
