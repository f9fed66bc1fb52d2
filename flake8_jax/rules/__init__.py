"""The rules: one mistake a file, found by walking this package. Adding a rule adds a file; there is no list to edit."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from flake8_jax.core.registry import Rule, declared_rules


@functools.lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of their codes."""
    found: list[Rule] = []
    for info in pkgutil.iter_modules(__path__, __name__ + "."):
        if not info.name.rpartition(".")[2].startswith("_"):
            found += declared_rules(importlib.import_module(info.name))
    return tuple(sorted(found, key=lambda r: r.code))
