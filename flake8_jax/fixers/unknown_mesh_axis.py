"""JAX603: the axis with the nearest name. Limitations: names that are not written out in the spec itself."""

from __future__ import annotations

import difflib

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import OTHER_NAME, unsafe
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.events.events import MeshMismatch


@fixer("unknown-mesh-axis")
def fix(event: MeshMismatch, source: FixSource) -> Fix | None:
    if event.twice or not isinstance(event.at, ir.Call):
        return None
    nearest = difflib.get_close_matches(event.axis, event.axes, n=1)
    written = [
        node
        for argument in event.at.args
        for node in (argument.value.elts if isinstance(argument.value, ir.Tuple) else [argument.value])
        if isinstance(node, ir.Constant) and node.value == event.axis
    ]
    if not nearest or len(written) != 1:
        return None
    node = written[0]
    text = source.slice(node)
    if text[1:-1] != event.axis:
        return None
    edit = Edit(node.start, node.end, text[0] + nearest[0] + text[-1])
    return unsafe(f"Replace the axis with `{nearest[0]}`", OTHER_NAME, (edit,))
