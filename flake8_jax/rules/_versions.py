"""What the rules about versions of JAX say. Limitations: see ``semantics.versions``."""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.knowledge.history import Change, History, Version, load_histories, show
from flake8_jax.semantics.events.events import ApiUse


def subject(event: ApiUse) -> str:
    """```jax.tree_map```, or "the argument ``a_min`` of ``jax.numpy.clip``", in backquotes."""
    callee, paren, rest = event.name.partition("(")
    if not paren:
        return f"`{event.name}{member_of(event)}`"
    if rest == ").pop":
        return f"the pair that the method `pop` of the variables from `{callee}` returned"
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
    """What to write, with the release that first has it where a release in use may lack it."""
    history = history_of(event)
    moved = _of_imported(event, history)
    if moved or not change.replacement:
        return moved
    if known := history.replacement_of_member(f"{event.name}{member_of(event)}"):
        return f"; use {known}"
    name = history.replacement(change, event.support) if change.since is not None else change.replacement
    shown = _alternatives(event, name or change.replacement)
    if shown == event.name.rpartition(".")[0]:
        shown += " itself"  # ``from jax.config import config``
    if name is None or (name == change.replacement and _is_newer(event, change)):
        return f"; use {_with_release(shown, f'{history.title} {show(change.since or ())} or newer')}"
    return f"; use {shown}"


def member_of(event: ApiUse) -> str:
    """``.Optimizer``: which member of a module that is gone the code uses, if the tables know what replaces it."""
    found = _MEMBER.match(event.context.scope.text, event.end)
    member = f".{found[1]}" if found is not None else ""
    return member if history_of(event).replacement_of_member(f"{event.name}{member}") else ""


_MEMBER = re.compile(r"\.(\w+)")


def _of_imported(event: ApiUse, history: History) -> str:
    """What to import instead of the names that an import takes from a module that is gone, if that is known for each."""
    if not isinstance(event.at, ir.ImportFrom):
        return ""
    changes = [(one.name, history.change(f"{event.name}.{one.name}")) for one in event.at.names]
    known = [f"{new} for `{name}`" for name, change in changes if (new := _replacement(event, name, change, history))]
    if not known or len(known) > _MOST:
        return ""
    if len(known) < len(changes) and event.change is not None and event.change.replacement:
        known.append(f"{_alternatives(event, event.change.replacement)} for the rest")
    return f"; use {', '.join(known[:-1])} and {known[-1]}" if known[1:] else f"; use {known[0]}"


def _replacement(event: ApiUse, name: str, change: Change | None, history: History) -> str:
    member = history.replacement_of_member(f"{event.name}.{name}").partition(", which ")[0]
    return member or (change.replacement if change is not None else "")


_MOST = 3
"""So many names of one import are named."""
_NO_BOUND: Version = (0, 4, 30)
"""What this release has, a project is taken to have that does not say which it needs."""


def _is_newer(event: ApiUse, change: Change) -> bool:
    """A project that states no lower bound may have a JAX that lacks the replacement."""
    unbound = event.support.lowest is None and history_of(event).title == "JAX"
    return unbound and change.since is not None and change.since > _NO_BOUND


def _with_release(shown: str, release: str) -> str:
    """The release in parentheses; in those that the replacement ends with, if it does."""
    return shown.replace(" (", f" ({release}; ", 1) if shown.endswith(")") and " (" in shown else f"{shown} ({release})"


def unreplaced(event: ApiUse) -> str:
    """What to do about a name or an argument that nothing is known to replace."""
    if event.name.endswith("=)"):
        return "; leave it out"
    removed, history = event.change.removed if event.change is not None else None, history_of(event)
    last = removed or history.oldest
    stay = f", or stay below {history.title} {show(last)}" if removed is not None and last else ""
    return f"; no replacement is known, so rewrite the code that uses it{stay}"


def _alternatives(event: ApiUse, replacement: str) -> str:
    """``a, b or c`` for ``a / b / c``; ``min=`` for an argument."""
    if event.name.endswith("=)") and replacement.isidentifier():
        return f"`{replacement}=`"
    *others, last = replacement.split(" / ")
    return f"{', '.join(others)} or {last}" if others else last
