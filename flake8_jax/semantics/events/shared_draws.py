"""Events about draws from keys that a library keeps, under a transform that it does not know of."""

from __future__ import annotations

from typing import Literal

import msgspec

from flake8_jax.semantics.domain.values import Site
from flake8_jax.semantics.events.context import Context


class SharedDraw(msgspec.Struct, frozen=True, eq=False):
    """Code that a module of a library runs draws with a key of the module, for all elements of a ``vmap`` or ``pmap`` that
    JAX itself offers. ``at``: where the transform was applied. draw: the call that does. transform: canonical name."""

    context: Context
    at: Site
    draw: Site
    transform: str
    library: Literal["flax", "haiku"]
