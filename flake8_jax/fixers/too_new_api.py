"""JAX803: what the oldest supported JAX lacks, spelled as it was before. Limitations: names without an older equivalent."""

from __future__ import annotations

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import OLDER, unsafe
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._newest import GUARDS
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.fixers._versions import renamed
from flake8_jax.knowledge.history import History, load_histories
from flake8_jax.semantics.events.events import ApiUse


@fixer("too-new-api")
def fix(event: ApiUse, source: FixSource) -> Fix | None:
    if event.keyword is None and isinstance(event.at, ir.Call):
        return _partial(event.at, source)
    history = load_histories().of(event.name)
    older = history.older(event.name) if history is not None else None
    if older is None or history is None or not _is_old(older, event, history):
        return None
    if not isinstance(event.at, ir.Attribute):
        return renamed(event, source, older, OLDER)
    uses = [node for node in walk(source.module) if node is event.at or _is_use(source, node, event.name)]
    fixes = [renamed(msgspec.structs.replace(event, at=node), source, older, OLDER) for node in uses]
    edits = {edit for fix in fixes if fix is not None for edit in fix.edits}
    return unsafe(f"Use `{older}`", OLDER, sorted(edits))


def _is_old(older: str, event: ApiUse, history: History) -> bool:
    """Every supported release has the older name. The table knows that of the releases since its oldest one; the names of
    ``jax.numpy`` and ``jax.tree_util`` in it are as old as these modules."""
    lowest = event.support.lowest
    return lowest is None or lowest >= history.oldest or older.rpartition(".")[0] in ("jax.numpy", "jax.tree_util")


def _is_use(source: FixSource, node: msgspec.Struct, name: str) -> bool:
    """The node reads the name, and nothing guards it: it has a finding of its own, or one that stands for it."""
    if not isinstance(node, ir.Attribute) or Imports(source, node).resolve(node) != name:
        return False
    return not any(isinstance(above, GUARDS) for above in source.ancestors(node))


def _partial(call: ir.Call, source: FixSource) -> Fix | None:
    """``jax.jit(static_argnames="n")`` becomes ``functools.partial(jax.jit, static_argnames="n")``."""
    if not call.args or source.comments(call.start, call.args[0].start):
        return None
    imports = Imports(source, call)
    partial = imports.spell("functools.partial")
    edits = (Edit(call.start, call.start, f"{partial}("), Edit(call.paren, call.paren + 1, ", "), *imports.edits)
    return Fix("Use `functools.partial`", "safe", tuple(sorted(edits)))
