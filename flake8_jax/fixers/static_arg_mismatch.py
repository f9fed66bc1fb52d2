"""JAX404: the parameters with the nearest names, all at once: JAX refuses the call until the last is right.

Limitations: names that are not written out at the transform.
"""

from __future__ import annotations

import difflib

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import OTHER_NAME, unsafe
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.semantics.domain.values import BoundMethod, FunctionValue
from flake8_jax.semantics.events.events import RootMet

_OPTIONS = ("static_argnames", "donate_argnames")


@fixer("static-arg-mismatch")
def fix(event: RootMet, source: FixSource) -> Fix | None:
    function = event.operand.func if isinstance(event.operand, BoundMethod) else event.operand
    if not isinstance(event.at, ir.Call) or not isinstance(function, FunctionValue):
        return None
    names = [p.name for p in function.fn.params if p.kind in ("positional", "kwonly")]
    edits: list[Edit] = []
    chosen: list[str] = []
    right: list[str] = []
    for node in [node for a in event.at.args if a.keyword in _OPTIONS for node in _written(a.value)]:
        if node.value in names:
            right.append(str(node.value))
            continue
        chosen.append(_nearest(source, node, names))
        edits.append(Edit(node.start + 1, node.end - 1, chosen[-1]))
    if not edits or len({*chosen, *right}) < len(chosen) + len(set(right)):
        return None  # two names for one parameter
    parameters = " and ".join(f"`{name}`" for name in chosen)
    return unsafe(f"Use the parameter{'s' if len(chosen) > 1 else ''} {parameters}", OTHER_NAME, edits)


def _written(value: ir.Expr) -> list[ir.Constant]:
    """The names that are written out in an option."""
    written = value.elts if isinstance(value, (ir.Tuple, ir.List)) else [value]
    return [node for node in written if isinstance(node, ir.Constant) and isinstance(node.value, str)]


def _nearest(source: FixSource, node: ir.Constant, names: list[str]) -> str:
    """The parameter with the nearest name.

    Raises:
        Refused: none is near, or the name is written with escapes or another prefix: then no name of the call is fixed.
    """
    nearest = difflib.get_close_matches(str(node.value), names, n=1)
    if not nearest or source.slice(node)[1:-1] != node.value:
        raise Refused
    return nearest[0]
