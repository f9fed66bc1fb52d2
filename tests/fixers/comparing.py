"""What differs between a program and the same one after its repair, where only the repair should.

A case that raised because JAX has no such operation on a tracer or an immutable array may do anything now; one that
raised for another reason raises the same. All other cases show the same, to the last bit. Text that JAX printed of a
tracer (``JitTracer(float32[3])``) may become the text of its value.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Mapping
from typing import Any

_OF_TRACERS = (
    "Tracer", "Concretization", "NonConcrete", "JAX arrays are immutable", "not available on traced array", "CpuCallback",
    "Abstract tracer", "Shapes must be 1D sequences of concrete values",
)  # fmt: skip
_PRINTED_TRACER = re.compile(r"Tracer[<(]")


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """One line for each case that shows something else, by the observations of both programs."""
    names = [*before, *(name for name in after if name not in before)]
    return [
        f"{name}: {before.get(name)} became {after.get(name)}"
        for name in names
        if not is_same(before.get(name, {}), after.get(name, {}))
    ]


def is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a case shows the same, or showed the mistake that was repaired."""
    if "raised" in one:
        of_tracer = any(word in f"{one['raised']}: {one['says']}" for word in _OF_TRACERS)
        return of_tracer or one["raised"] == other.get("raised")
    printed = _PRINTED_TRACER.search(one.get("printed", "")) or one.get("printed") == other.get("printed")
    return one.get("value") == other.get("value") and bool(printed)


def lost_comments(before: str, after: str) -> list[str]:
    """The comments of a text that another one lacks."""
    return sorted((_comments(before) - _comments(after)).elements())


def _comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)
