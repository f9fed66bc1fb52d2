"""What the rules about versions of JAX say. Not modelled: see ``semantics.versions``."""

from __future__ import annotations

from flake8_jax.knowledge.history import Change, load_history, show
from flake8_jax.semantics.events import ApiUse


def subject(event: ApiUse) -> str:
    """``jax.tree_map`` or ``the argument a_min of jax.numpy.clip``."""
    callee, paren, rest = event.name.partition("(")
    if not paren:
        return event.name
    return f"the argument {rest[:-2]} of {callee}"


def instead(event: ApiUse, change: Change) -> str:
    """What to write, where that is known for every supported release."""
    if not change.replacement:
        return ""
    name = load_history().replacement(change, event.support) if change.since is not None else change.replacement
    if name is not None or change.since is None:
        return f"; use {name}"
    return f"; from JAX {show(change.since)} on there is {change.replacement}"
