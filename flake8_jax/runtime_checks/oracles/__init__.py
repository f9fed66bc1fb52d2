"""The oracles: what has to be seen for a finding of a rule to be true, in a file of the rule's name.

Such a file sets ``ORACLE``, or ``UNPROVED``, the reason why there is none. The files are found by walking this package.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from types import ModuleType

from flake8_jax.runtime_checks.judges import Oracle


@functools.lru_cache(maxsize=1)
def _modules() -> dict[str, ModuleType]:
    """The files, by the name of the rule."""
    names = [info.name for info in pkgutil.iter_modules(__path__)]
    return {name.replace("_", "-"): importlib.import_module(f"{__name__}.{name}") for name in names}


@functools.lru_cache(maxsize=1)
def all_oracles() -> dict[str, Oracle]:
    """The oracle of each rule that has one."""
    return {rule: module.ORACLE for rule, module in _modules().items() if hasattr(module, "ORACLE")}


def unproved() -> dict[str, str]:
    """Why a rule has no oracle."""
    return {rule: module.UNPROVED for rule, module in _modules().items() if hasattr(module, "UNPROVED")}
