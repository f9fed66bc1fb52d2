"""Modules that are imported when a test first uses them, not when it is collected."""

from __future__ import annotations

import importlib
from typing import Any


class Lazy:
    """``Lazy("jax.numpy").sin`` imports ``jax.numpy`` only now."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # what pytest asks of everything that it collects
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)
