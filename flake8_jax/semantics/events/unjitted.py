"""The events of work that no path jits, although it is worth it; ``trackers.unjitted`` finds it."""

from __future__ import annotations

from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import Site
from flake8_jax.semantics.events.context import Context


class UnjittedFunction(msgspec.Struct, frozen=True, eq=False):
    """A function runs outside of tracing, again and again, and each call does enough work for a ``jit``.

    ``at``: the place in the function that does most, or the call in the loop. home: the file of the function. kind: of what
    runs there (see ``eager_steps``; also ``gradient``, ``mapped``, ``body`` and ``leaves``, see ``unjitted``). count: of the
    operations. loop: its IR, if a loop outside of tracing calls the function; called: the call in the loop, None if the event
    is at that call. unless, given: the facts on which a report hangs.
    """

    context: Context
    at: ir.Node
    function: ir.Function
    home: ModuleScope
    kind: str
    count: int
    loop: Any
    called: Site | None
    unless: str
    given: str
