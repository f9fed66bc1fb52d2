"""JAX112: ``jnp.where(flag, a, b)`` becomes ``a if flag else b``. Limitations: ``select`` of several conditions, keywords."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import ONE_BRANCH, unsafe
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.events.events import LibraryCall


@fixer("where-on-static")
def fix(event: LibraryCall, source: FixSource) -> Fix | None:
    call = event.at
    if event.name == "jax.numpy.select" or len(call.args) != 3 or any(a.star or a.keyword for a in call.args):
        return None
    parts = [argument.value for argument in call.args]
    if any(isinstance(part, (ir.Lambda, ir.IfExp)) for part in parts):
        return None
    if source.lost_comments(call.start, call.end, [(part.start, part.end) for part in parts]):
        return None
    condition, chosen, other = [source.argument(part) for part in parts]
    text = f"{chosen} if {condition} else {other}"
    if "\n" in text or not _stands_alone(source, call):
        text = f"({text})"
    return unsafe("Use a Python conditional", ONE_BRANCH, (Edit(call.start, call.end, text),))


def _stands_alone(source: FixSource, call: ir.Call) -> bool:
    """The call is a whole argument, or the whole right side of an assignment or a return."""
    above = source.parent(call)
    if isinstance(above, ir.Argument):
        return not above.star
    return isinstance(above, (ir.Assign, ir.AnnAssign, ir.Return))
