"""Conditions under which a path runs, and whether two of them exclude each other.

Vocabulary
----------
key         a hashable description of a test; ``("not", None, key)`` is the opposite one.
condition   a key and whether it came out true.
"""

from __future__ import annotations

from typing import Any


def negate_key(key: Any) -> Any:
    """The key of the opposite test."""
    return key[2] if key[0] == "not" else ("not", None, key)


def contradict(a: frozenset[tuple[Any, bool]], b: frozenset[tuple[Any, bool]]) -> bool:
    """No path fulfils both sets of conditions."""
    if not a or not b:
        return False
    facts = dict(normal_condition(c) for c in a)
    for condition in b:
        key, truth = normal_condition(condition)
        if key in facts and facts[key] != truth:
            return True
        if truth and key[0] == "==":
            for other, held in facts.items():
                if (
                    held
                    and other[0] == "=="
                    and other[1] == key[1]
                    and other[2] != key[2]
                    and other[2][0] == key[2][0] == "c"
                ):
                    return True
    return False


def normal_condition(condition: tuple[Any, bool]) -> tuple[Any, bool]:
    key, truth = condition
    while key[0] == "not":
        key, truth = key[2], not truth
    return key, truth
