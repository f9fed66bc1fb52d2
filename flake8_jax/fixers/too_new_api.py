"""JAX803: what the oldest supported JAX lacks, spelled as it was before. Limitations: names without an older equivalent."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import OLDER
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.fixers._versions import renamed
from flake8_jax.knowledge.history import load_histories
from flake8_jax.semantics.events.events import ApiUse


@fixer("too-new-api")
def fix(event: ApiUse, source: FixSource) -> Fix | None:
    if event.keyword is None and isinstance(event.at, ir.Call):
        return _partial(event.at, source)
    history = load_histories().of(event.name)
    older = history.older(event.name) if history is not None else None
    return renamed(event, source, older, OLDER) if older is not None else None


def _partial(call: ir.Call, source: FixSource) -> Fix | None:
    """``jax.jit(static_argnames="n")`` becomes ``functools.partial(jax.jit, static_argnames="n")``."""
    if not call.args or source.comments(call.start, call.args[0].start):
        return None
    imports = Imports(source, call)
    partial = imports.spell("functools.partial")
    edits = (Edit(call.start, call.start, f"{partial}("), Edit(call.paren, call.paren + 1, ", "), *imports.edits)
    return Fix("Use `functools.partial`", "safe", tuple(sorted(edits)))
