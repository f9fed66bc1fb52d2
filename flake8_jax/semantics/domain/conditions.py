"""Conditions under which a path runs, and whether two of them exclude each other.

Vocabulary
----------
key         a hashable description of a test; ``("not", None, key)`` is the opposite one.
condition   a key and whether it came out true.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.values import (
    MISSING,
    Array,
    Condition,
    Const,
    DictValue,
    Instance,
    Static,
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


def are_mutually_exclusive(a: frozenset[Condition], b: frozenset[Condition]) -> bool:
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


Labels = Sequence[frozenset[Condition]]
"""What held in each of several branches."""
MAX_CHOICES = 6
MAX_NESTING = 4


def branch_condition(serial: int, number: int) -> Condition:
    """The condition of one of several branches, whatever is tested. serial: of this run of the statement."""
    return Condition(("==", ("branch", serial), ("c", "int", number)), True)


def is_of_branch(condition: Condition) -> bool:
    """The condition names a branch, and no test."""
    key = condition.key
    return bool(key[0] == "==" and key[1][0] == "branch")


def alternatives(value: Any) -> tuple[tuple[Any, frozenset[Condition]], ...]:
    """What a value may be, each with what held where it arose; nothing if that is not known."""
    if type(value) is Static:
        return value.choices
    if type(value) is UnionValue and value.conditions is not None:
        return tuple(zip(value.members, value.conditions, strict=True))
    return ()


def labelled(joined: Value, contents: list[Any], labels: Labels, depth: int = MAX_NESTING) -> Value:
    """The join with the condition under which each alternative in it arose: of itself, of an element of a tuple, or of an
    item or an attribute of what the join has made."""
    if isinstance(joined, UnionValue):
        return _labelled_union(joined, contents, labels)
    if depth == 0 or any(c is joined or type(c) is not type(joined) for c in contents):
        return _labelled_static(joined, contents, labels) if type(joined) is Static else joined
    if isinstance(joined, TupleValue):
        return _labelled_tuple(joined, contents, labels, depth)
    if isinstance(joined, (DictValue, Instance)):
        for slot, value in list(joined.slots.items()):
            parts = [c.slots.get(slot, MISSING) for c in contents]
            if isinstance(value, Value) and slot != "*" and MISSING not in parts:
                joined.slots[slot] = labelled(value, parts, labels, depth - 1)
    return _labelled_static(joined, contents, labels) if type(joined) is Static else joined


def still_labelled(joined: UnionValue, contents: list[Any]) -> UnionValue:
    """The join of branches of which nothing is known, such as the iterations of a loop, with the conditions that its
    members had before: those that hold wherever a member comes from."""
    if any(type(c) is UnionValue and c.conditions is not None for c in contents):
        return _labelled_union(joined, contents, [frozenset()] * len(contents))
    return joined


def _labelled_tuple(joined: TupleValue, contents: list[Any], labels: Labels, depth: int) -> TupleValue:
    if any(len(c.elts) != len(joined.elts) for c in contents):
        return joined
    elements = [labelled(v, [c.elts[i] for c in contents], labels, depth - 1) for i, v in enumerate(joined.elts)]
    if all(new is old for new, old in zip(elements, joined.elts, strict=True)):
        return joined
    return TupleValue(tuple(elements), joined.cls, joined.names)


def _labelled_static(joined: Static, contents: list[Any], labels: Labels) -> Static:
    """The join of host values with what it is in each branch: ``flag`` is True in one and False in the other."""
    choices: list[tuple[Value, frozenset[Condition]]] = []
    for content, label in zip(contents, labels, strict=True):
        if not isinstance(content, (Const, Static)):
            return joined
        inner = content.choices if isinstance(content, Static) else ()
        choices += [(value, held | label) for value, held in inner or ((content, frozenset()),)]
    if len(choices) > MAX_CHOICES or any(c is joined for c in contents):
        return joined
    joined.choices = tuple(choices)
    return joined


def _labelled_union(joined: UnionValue, contents: list[Any], labels: Labels) -> UnionValue:
    conditions: list[frozenset[Condition]] = []
    for member in joined.members:
        found: frozenset[Condition] | None = None
        for content, label in zip(contents, labels, strict=True):
            for i, alternative in enumerate(joining.members_of(content) if isinstance(content, Value) else ()):
                if alternative is member:
                    inner = (
                        content.conditions[i] if isinstance(content, UnionValue) and content.conditions else frozenset()
                    )
                    mine = inner | label
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
