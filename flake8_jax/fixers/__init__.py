"""The fixers: one repair a file, found by walking this package."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from flake8_jax.core.registry import Fixer, declared_fixers


@functools.lru_cache(maxsize=1)
def all_fixers() -> dict[str, tuple[Fixer, ...]]:
    """Fixers by the name of the rule whose findings they repair; tried in order until one has a fix."""
    found: dict[str, list[Fixer]] = {}
    for info in pkgutil.iter_modules(__path__, __name__ + "."):
        if not info.name.rpartition(".")[2].startswith("_"):
            for made in declared_fixers(importlib.import_module(info.name)):
                found.setdefault(made.rule, []).append(made)
    return {name: tuple(fixers) for name, fixers in found.items()}
