"""Training steps whose code the analysis does not see, known by their names.

Vocabulary
----------
named       a function that is unknown, or of an unknown library, but called ``train_step``, ``agent.update`` and the like: most
            such functions are compiled and return arrays. What one returns is marked by ``dispatched`` below zero: minus the
            identity of the loop around.

Limitations: a step with another name, and one that brings its result to the host itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import is_named_step, path_of
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.values import Unknown, Value

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import ModuleScope
    from flake8_jax.semantics.machine.core import Machine

_OF_HOST = re.compile(r"env|sim|world|game|physics|sched|optim|metric|bar$|scaler|counter|hash")
"""In the names of objects whose ``step`` or ``update`` runs on the host, or returns no result of the device."""
_VIEWS = frozenset({"items", "values", "mean", "sum"})
"""Methods that return a part of what they belong to."""
_OTHERS = (".backward(", "tensorflow", "keras")
"""In a file that trains with another library."""


def track_named_step(m: Machine, scope: ModuleScope, node: ir.Call, func: Value, result: Value) -> None:
    """A call returned something unknown: is it the result of a training step, by its name?"""
    if m.path.mode.staged or not isinstance(result, Unknown) or result.parent is not None or result.dispatched:
        return
    *owner, name = path_of(node.func).split(".")
    if name in _VIEWS and isinstance(func, Unknown) and func.parent is not None:
        result.dispatched = min(dispatched_in(func.parent), 0)
        return
    if not is_named_step(name) or _OF_HOST.search(".".join(owner).lower()):
        return
    if "jax" in scope.text and not any(word in scope.text for word in _OTHERS):
        result.dispatched = -id(m.path.loops[-1]) if m.path.loops else -1
