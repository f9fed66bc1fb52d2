"""JAX404: the parameter with the nearest name. Not modelled: names that are not written out at the transform."""

from __future__ import annotations

import difflib

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import OTHER_NAME, unsafe
from flake8_jax.fixers._source import FixSource, repair
from flake8_jax.semantics.domain.values import BoundMethod, FunctionValue
from flake8_jax.semantics.events.events import RootMet


@repair("static-arg-mismatch")
def fix(event: RootMet, source: FixSource) -> Fix | None:
    function = event.operand.func if isinstance(event.operand, BoundMethod) else event.operand
    if not isinstance(event.at, ir.Call) or not isinstance(function, FunctionValue):
        return None
    names = [p.name for p in function.fn.params if p.kind in ("positional", "kwonly")]
    for argument in event.at.args:
        if argument.keyword not in ("static_argnames", "donate_argnames"):
            continue
        written = argument.value.elts if isinstance(argument.value, (ir.Tuple, ir.List)) else [argument.value]
        for node in written:
            if not isinstance(node, ir.Constant) or not isinstance(node.value, str) or node.value in names:
                continue
            nearest = difflib.get_close_matches(node.value, names, n=1)
            text = source.slice(node)
            if nearest and text[1:-1] == node.value:
                edit = Edit(node.start, node.end, text[0] + nearest[0] + text[-1])
                return unsafe(f"Name the parameter `{nearest[0]}`", OTHER_NAME, (edit,))
    return None
