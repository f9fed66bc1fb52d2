"""Being notified when the user's code imports JAX, before the importing line goes on."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable
from typing import Any


class OnImport:
    """Finds ``jax`` like everybody else, and hands the module over once it is executed."""

    def __init__(self, change: Callable[[Any], None]) -> None:
        self._change = change

    def install(self) -> None:
        """From now on; where JAX is imported already, at once."""
        if "jax" in sys.modules:
            self._change(sys.modules["jax"])
        else:
            sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "jax":
            return None
        sys.meta_path.remove(self)
        spec = next((s for finder in sys.meta_path if (s := finder.find_spec(name, path, target)) is not None), None)
        if isinstance(spec, importlib.machinery.ModuleSpec) and spec.loader is not None:
            loader: Any = spec.loader
            original = loader.exec_module

            def executing(module: Any) -> None:
                original(module)
                self._change(module)

            loader.exec_module = executing
        return spec
