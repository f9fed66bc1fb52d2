"""Keys that start two networks of Flax: layers of equal names and shapes get equal parameters.

    actor_params = actor.init(key, x)
    critic_params = critic.init(key, x)      the first layers of both start alike

Vocabulary
----------
copy        a network that is to start as another one does: a target network, an average, a teacher. Its name says so.

Limitations: networks that an index or a loop chooses, copies whose names do not say what they are.
"""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import bound_paths, statement_at
from flake8_jax.semantics.domain.stack import Place
from flake8_jax.semantics.events.facts import STARTING
from flake8_jax.semantics.trackers.key_names import body_around

_COPY = re.compile(
    r"target|teacher|frozen|reference|baseline|online|copy|prev|dummy|shape|(?<![a-z])(targ|ema|old|ref|tmp)(?![a-z])"
)


def start_two_networks(first: Place, second: Place, parted: tuple[Place, Place]) -> bool:
    """Two calls of ``init`` start different networks, neither of which is a copy of the other. parted: where the ways to the
    two calls part."""
    if not (_is_start(first.node) and _is_start(second.node)):
        return False
    one, other = map(_made, parted)
    if one == other:
        return False
    return not any(
        _COPY.search(name.lower()) for place, text in zip(parted, (one, other)) for name in _names(place, text)
    )


def _is_start(node: object) -> bool:
    return isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.func.attr in STARTING


def _made(place: Place) -> str:
    """The network, as it is written; of a function that makes one, its call. A constructor makes another one each time."""
    node = place.node
    made = node.func.value if _is_start(node) else node
    parts = [made, *(argument.value for argument in made.args)] if isinstance(made, ir.Call) else [made]
    is_new = any(isinstance(part, ir.Call) and (part is not node) for part in parts)
    return (f"{made.start} " if is_new else "") + place.scope.text[made.start : made.end]


def _names(place: Place, made: str) -> set[str]:
    """What is made, and the variables that get its parameters."""
    statement = statement_at(body_around(place), place.node)
    return {made, *(bound_paths(statement) if statement is not None else ())}
