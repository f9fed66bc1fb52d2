"""What the rules about versions of JAX say. Not modelled: see ``semantics.versions``."""

from __future__ import annotations

from flake8_jax.knowledge.history import Change, show
from flake8_jax.semantics.events import ApiUse


def subject(event: ApiUse) -> str:
    """``jax.tree_map``, ``the argument a_min of jax.numpy.clip``, ``jax.jit without a function``."""
    callee, paren, rest = event.name.partition("(")
    if not paren:
        return event.name
    return f"the argument {rest[:-2]} of {callee}" if rest != ")" else f"calling {callee} without its function"


def instead(event: ApiUse, change: Change) -> str:
    """What to write, where that is known for every supported release."""
    if not change.replacement:
        return ""
    if event.support.all_have(change.since) or change.since is None:
        return f"; use {change.replacement}"
    return f"; from JAX {show(change.since)} on there is {change.replacement}"
