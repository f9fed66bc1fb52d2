"""The fixers: one fix a file, found by walking this package. Adding a file adds the fixer; there is no list to edit.

Vocabulary
----------
fixer       a function from the event of a finding and the source to a fix, or to None where it cannot be sure.
source      the file being fixed: its text and its IR, and the other files of the program (``_source``, ``_callers``).
fix         text edits that go together or not at all, with a message.
safe        the fixed program does what the old one did or meant (``_safety``). Other fixes are unsafe, and their message
            announces what may change.
equivalent  the ``jax.numpy`` function that does the same as a NumPy function (``_equivalents``).

::

    finding, event ─ proposals ─► fixer ─► Fix ─► fixing.passes applies it and checks the result
                                    │
                                    ├─ what does the text show? _names, _flow, _references, _staging, _callers
                                    ├─ what is the new text? _expressions, _branches, _loops, _steps, _imports …
                                    ├─ is it safe? _safety, _consequences, _finite, _unchanged, _meant
                                    └─ what may it change? _announced

Files with a leading underscore hold what fixers share.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil

from flake8_jax.core.registry import Fixer, declared_fixers


@functools.lru_cache(maxsize=1)
def all_fixers() -> dict[str, tuple[Fixer, ...]]:
    """Fixers by the name of the rule whose findings they fix; tried in order until one has a fix."""
    found: dict[str, list[Fixer]] = {}
    for info in pkgutil.iter_modules(__path__, __name__ + "."):
        if not info.name.rpartition(".")[2].startswith("_"):
            for made in declared_fixers(importlib.import_module(info.name)):
                found.setdefault(made.rule, []).append(made)
    return {name: tuple(fixers) for name, fixers in found.items()}
