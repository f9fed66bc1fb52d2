"""Which functions an analysis saw calling which.

Vocabulary
----------
name    a function by the path of its file and its qualified name. Functions of one name in one file are taken for one.
caller  a function that was running when another was called, staged, or its earlier run repeated.

Limitations: what functions tell each other through attributes, globals and closures.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

FunctionName = tuple[str, str]


@dataclass
class CallGraph:
    """``callers``: every function that was run, with those that called it."""

    callers: dict[FunctionName, set[FunctionName]] = field(default_factory=dict)

    def add_call(self, callee: FunctionName, caller: FunctionName | None) -> None:
        known = self.callers.setdefault(callee, set())
        if caller is not None:
            known.add(caller)

    def learn(self, other: CallGraph) -> None:
        """Take over what another run saw."""
        for callee, callers in other.callers.items():
            self.callers.setdefault(callee, set()).update(callers)

    def reaching(self, names: Iterable[FunctionName]) -> frozenset[FunctionName]:
        """These functions, and all that call them, directly or not."""
        found = set(names)
        left = list(found)
        while left:
            fresh = self.callers.get(left.pop(), set()) - found
            found |= fresh
            left += fresh
        return frozenset(found)
