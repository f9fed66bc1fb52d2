"""The rules: one mistake a file, found by walking this package. Adding a file adds the rule; there is no list to edit.

Vocabulary
----------
event       what the interpreter saw: a truth test of a value, a call of a library function (``semantics.events``).
check       the rule itself: a function from an event to a report, to several of them, or to nothing.
report      the place and the message. It becomes a finding unless another path disproves it.
settle      a function that picks the findings from reports of several rules that show one defect.
page        the manual page of a rule: the docstring of its check. Tests run its examples.

::

    event ─ EventBus ─► check ─► Report ─ settle ─► finding ─► fixers
                          │
                          ├─ what are these values? _tracers, _variation, _changes
                          ├─ what does the library do with them? _facts, _binding, _versions
                          └─ how to say it: _keys, _fresh
    docstring of check ─► ``jaxlint rule CODE``, docs/rules.md, tests

A check looks at values and facts, never at names or syntax. Files with a leading underscore hold what rules share.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil

from flake8_jax.core.registry import Rule, declared_rules, ordered


@functools.lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of their codes. Raises ClashError where two have one code or name."""
    found: list[Rule] = []
    for info in pkgutil.iter_modules(__path__, __name__ + "."):
        if not info.name.rpartition(".")[2].startswith("_"):
            found += declared_rules(importlib.import_module(info.name))
    return ordered(found)
