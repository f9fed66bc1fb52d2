"""What the rules about versions of JAX say. Limitations: see ``semantics.versions``."""

from __future__ import annotations

from flake8_jax.knowledge.history import Change, History, load_histories, show
from flake8_jax.semantics.events.events import ApiUse


def subject(event: ApiUse) -> str:
    """```jax.tree_map```, or "the argument ``a_min`` of ``jax.numpy.clip``", in backquotes."""
    callee, paren, rest = event.name.partition("(")
    if not paren:
        return f"`{event.name}`"
    if rest.startswith(")."):
        return f"the method `{rest[2:]}` of the dict that `{callee}` returns"
    if rest == ")":
        return f"the call of `{callee}` without arguments"
    return f"the argument `{rest[:-2]}` of `{callee}`"


def needed(event: ApiUse) -> str:
    """``flax.nnx.Optimizer needs the argument wrt``, where a call lacks what some release made necessary; else empty."""
    callee, mark, rest = event.name.partition("(!")
    if not mark:
        return f"`{event.name[:-2]}` needs an argument" if event.name.endswith("()") else ""
    what = rest[:-1]
    return f"`{callee}` needs " + (f"{what} positional arguments" if what.isdigit() else f"the argument `{what}`")


def history_of(event: ApiUse) -> History:
    """The table that covers the name; there is one, or no use would have been met."""
    history = load_histories().of(event.name)
    assert history is not None
    return history


def elsewhere(event: ApiUse) -> str:
    """Where JAX has the name that its user looked for in another module: then it is no newer one that the tables lack."""
    homes = load_histories().homes_of(event.name.rpartition(".")[2])
    return f"; use {homes[0]}" if homes else ""


def instead(event: ApiUse, change: Change) -> str:
    """What to write, where that is known for every supported release."""
    if not change.replacement:
        return ""
    history = history_of(event)
    name = history.replacement(change, event.support) if change.since is not None else change.replacement
    if name is not None or change.since is None:
        return f"; use {_alternatives(event, name or change.replacement)}"
    shown = _alternatives(event, change.replacement)
    return f"; use {shown} ({history.title} {show(change.since)} or newer)"


def unreplaced(event: ApiUse) -> str:
    """What to do about a name or an argument that nothing is known to replace."""
    if event.name.endswith("=)"):
        return "; leave it out"
    removed = event.change.removed if event.change is not None else None
    stay = f", or stay below {history_of(event).title} {show(removed)}" if removed is not None else ""
    return f"; no replacement is known, so rewrite the code that uses it{stay}"


def _alternatives(event: ApiUse, replacement: str) -> str:
    """``a, b or c`` for ``a / b / c``; ``min=`` for an argument."""
    if event.name.endswith("=)") and replacement.isidentifier():
        return f"`{replacement}=`"
    *others, last = replacement.split(" / ")
    return f"{', '.join(others)} or {last}" if others else last
