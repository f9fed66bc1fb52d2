"""How keys come to be: of a seed, of another key, and which of them all elements of a mapped function share.

Vocabulary
----------
literal     the seed, where it stands in the function that makes the key.
drawn       a sampler draws from the key: where it comes from a seed and nothing else, so do the draws.

Limitations: seeds that are computed from other constants.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.semantics.domain.boundary import SEED, keep_seed
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import Array, Const, Level, Recipe, Site, Static, Tree, Value, canonical_key
from flake8_jax.semantics.events.facts import DRAWN
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.repeated_seeds import RepeatedSeeds, track_seeded


def made_key(m: Machine, scope: ModuleScope, node: Any, level: Level, literal: Const | None = None) -> Array:
    """A key made of a seed. literal: the seed, if the function that runs has it as a constant."""
    made = Array(level, "key", 0)
    site = Site(scope, node.start, node.end)
    if literal is not None:
        m.trackers[RepeatedSeeds].literal.add((scope.path, node.start))
    made.recipe = Recipe(
        SEED, (literal,) if literal is not None else (), site, m.path.stack[-1].fn if m.path.stack else None
    )
    return made


def track_drawn(m: Machine, key: Value) -> None:
    """A sampler draws from a key: if it comes from a seed and nothing else, so do the draws."""
    canonical = canonical_key(key)
    recipe = canonical.recipe if isinstance(canonical, Array) else None
    if recipe is not None and recipe.name == SEED:
        m.bus.record_fact(DRAWN, recipe.node.scope, recipe.node.start)
        track_seeded(m, recipe)


def derive_key(m: Machine, key: Value, data: Value | None) -> Array:
    """``fold_in(key, data)``: another key; per element if the data may differ between elements."""
    level = key.level if isinstance(key, (Array, Tree)) else 1
    made = Array(level, "key", 0)
    if isinstance(data, Const):
        keep_seed(key, made)
    if isinstance(data, (Const, Static)):
        share_like(m, key, made)
    elif isinstance(data, Array):
        share_like(m, key, made, canonical_key(data))
    return made


def share_like(m: Machine, parent: Value, child: Value, data: Value | None = None) -> None:
    """A key made of a key that all elements share is shared as well, if ``data`` (where there is some) is."""
    canonical = canonical_key(parent)
    for axis in m.path.mode.mapped_axes:
        if canonical in axis.shared and (data is None or data in axis.shared):
            axis.shared[child] = axis.shared[canonical]
