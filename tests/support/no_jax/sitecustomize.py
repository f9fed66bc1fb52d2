"""Python runs this first in the children of tests that are not marked ``jax``: importing JAX is recorded, and fails."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from types import ModuleType

NOTES = "JAXLINT_TESTS_IMPORTS_OF_JAX"
"""The variable that names the file for notes; empty where JAX is not refused."""


class Refusal:
    """Finds JAX, so that asking whether it is installed is answered truly, and does not load it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in ("jax", "jaxlib"):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None:
            spec.loader = self  # type: ignore[assignment]
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        with open(os.environ[NOTES], "a", encoding="utf-8") as notes:
            notes.write(f"{sys.argv}\n{''.join(traceback.format_stack(limit=8))}\n")
        raise ImportError("this test is not marked `jax`", name=module.__name__)


def run_the_next() -> None:
    """Run the file of this name that this one hides."""
    here = os.path.dirname(os.path.abspath(__file__))
    spec = PathFinder.find_spec("sitecustomize", [place for place in sys.path if os.path.abspath(place) != here])
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


if __name__ == "sitecustomize" and NOTES in os.environ:
    if os.environ[NOTES]:
        sys.meta_path.insert(0, Refusal())  # type: ignore[arg-type]
    run_the_next()
