"""Conditions under which a path runs, and whether two of them exclude each other.

Vocabulary
----------
key         a hashable description of a test; ``("not", None, key)`` is the opposite one.
condition   a key and whether it came out true.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.values import (
    Array,
    Condition,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    canonical_key,
)


def negate_key(key: Any) -> Any:
    """The key of the opposite test."""
    return key[2] if key[0] == "not" else ("not", None, key)


def contradict(a: frozenset[Condition], b: frozenset[Condition]) -> bool:
    """No path fulfils both sets of conditions."""
    only_a, only_b = a - b, b - a  # what they share cannot part them, and long paths share nearly all
    if not only_a or not only_b:
        return False
    facts = dict(normal_condition(c) for c in only_a)
    for condition in only_b:
        key, truth = normal_condition(condition)
        if key in facts and facts[key] != truth:
            return True
        if truth and key[0] == "==" and any(held and _other_constant(key, other) for other, held in facts.items()):
            return True
    return False


def _other_constant(key: Any, other: Any) -> bool:
    """Both tests compare one value, each with another constant."""
    if other[0] != "==" or other[1] != key[1] or other[2] == key[2]:
        return False
    return bool(other[2][0] == key[2][0] == "c")


def normal_condition(condition: Condition) -> Condition:
    """The condition with the negations of its key undone."""
    key, truth = condition
    if key[0] != "not":
        return condition
    while key[0] == "not":
        key, truth = key[2], not truth
    return Condition(key, truth)


def labelled(joined: Value, contents: list[Any], labels: list[Condition | None]) -> Value:
    """The join with the condition under which each member of a union in it arose: itself, or an element of a tuple."""
    if isinstance(joined, UnionValue):
        return _labelled_union(joined, contents, labels)
    if not isinstance(joined, TupleValue) or not any(isinstance(v, (UnionValue, TupleValue)) for v in joined.elts):
        return joined
    if any(not isinstance(c, TupleValue) or len(c.elts) != len(joined.elts) or c is joined for c in contents):
        return joined
    elements = [labelled(v, [c.elts[i] for c in contents], labels) for i, v in enumerate(joined.elts)]
    return TupleValue(tuple(elements), joined.cls, joined.names)


def _labelled_union(joined: UnionValue, contents: list[Any], labels: list[Condition | None]) -> UnionValue:
    conditions: list[frozenset[Condition]] = []
    for member in joined.members:
        found: frozenset[Condition] | None = None
        for content, label in zip(contents, labels, strict=True):
            for i, alternative in enumerate(joining.members_of(content) if isinstance(content, Value) else ()):
                if alternative is member:
                    inner = (
                        content.conditions[i] if isinstance(content, UnionValue) and content.conditions else frozenset()
                    )
                    mine = inner | {label} if label is not None else inner
                    found = mine if found is None else found & mine
        conditions.append(found if found is not None else frozenset())
    return UnionValue(joined.members, tuple(conditions))


def either_key(contents: list[Any], labels: list[Condition | None] | None) -> UnionValue | None:
    """One of two keys, where one test decides which: each keeps its own uses."""
    if labels is None or len(labels) != 2 or labels[0] is None or labels[1] is None or labels[0][0] != labels[1][0]:
        return None
    known = [isinstance(c, Array) and c.dtype == "key" for c in contents]
    if not any(known) or not all(k or isinstance(c, (Unknown, Tree)) for k, c in zip(known, contents, strict=True)):
        return None
    if canonical_key(contents[0]) is canonical_key(contents[1]):
        return None
    return UnionValue((contents[0], contents[1]))
