"""``jax.tree.map`` and its kin: a function of the leaves, called where the leaves are known, else on one for all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from flake8_jax.knowledge.model import TransformFact
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import LoopState
from flake8_jax.semantics.domain.trees import leaf_of
from flake8_jax.semantics.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    HostArray,
    Instance,
    ListValue,
    Room,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    freshen,
    known_elements,
)
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.buffers import inherit_donations
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.reads import Reads


def run_tree_map(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    function = bound.get("f", Unknown("f"))
    trees = [bound.get("tree", Unknown("tree")), *(known_elements(bound["rest"]) or () if "rest" in bound else ())]
    with_path = fact.model == "tree_map_with_path"
    is_leaf = bound.get("is_leaf")
    custom_leaves = is_leaf is not None and not (isinstance(is_leaf, Const) and is_leaf.value is None)
    budget, room = [10], Room(MAX_MAPPED)

    if custom_leaves and is_leaf is not None and not isinstance(is_leaf, Unknown):
        # The predicate sees every subtree on the way down, the leaves included.
        call(m, frame, node, is_leaf, Arguments([leaf_of(trees[0]) if not isinstance(trees[0], Tree) else trees[0]]))

    def at_leaf(leaves: list[Value]) -> Value:
        extra: list[Value] = [Static("shape")] if with_path else []
        more = Unknown("rest") if args.star is not None else None
        return call(m, frame, node, function, Arguments([*extra, *leaves], star=more))

    loop = LoopState("tree_map", node)
    m.path.loops.append(loop)
    m.trackers.iteration(loop)
    mapped = _map_trees(m, trees, at_leaf, budget, room, custom_leaves)
    m.path.loops.pop()
    return mapped


MAX_MAPPED = 4000
"""So many values of a pytree are mapped one by one."""
MAX_LEAVES = 100
"""So many leaves, and containers in place of their leaves, are mapped before further containers are not looked into."""


def _map_trees(
    m: Machine, trees: list[Value], at_leaf: Callable[[list[Value]], Value], budget: list[int], room: Room,
    custom_leaves: bool,
) -> Value:  # fmt: skip
    first = trees[0]
    if isinstance(first, Const) and first.value is None:
        return NONE
    if isinstance(first, UnionValue):
        return joining.union_of(
            [_map_trees(m, [t, *trees[1:]], at_leaf, budget, room, custom_leaves) for t in first.members]
        )
    if isinstance(first, (Array, HostArray, Const, Static)) or budget[0] <= 0:
        budget[0] -= 1
        if budget[0] < -MAX_LEAVES and isinstance(first, (TupleValue, ListValue, DictValue, Instance)):
            return Unknown("mapped tree")
        if budget[0] < 0:
            return at_leaf([leaf_of(t) for t in trees])
        return at_leaf(trees)  # where the first tree has a leaf, the others may have a whole subtree
    presumption = m.trackers[Presuming].presumption
    if isinstance(first, (Tree, Unknown)):
        leaf: Value = (
            Array(first.level)
            if isinstance(first, Tree) and not custom_leaves
            else Tree(first.level)
            if isinstance(first, Tree)
            else Unknown("leaf")
        )
        leaves = [leaf, *[_leaf_like(t) for t in trees[1:]]]
        if presumption is not None:
            for tree, seen in zip(trees, leaves, strict=True):
                presumption.leaf_of(seen, tree)
        if m.trackers[Reads].matter:
            inherit_donations(m, trees, leaves)
        result = at_leaf(leaves)
        if isinstance(result, (Array, Tree)):
            return Tree(result.level)
        if isinstance(result, TupleValue) and all(isinstance(v, (Array, Tree)) for v in result.elts):
            return Tree(max(v.level for v in result.elts))  # type: ignore[attr-defined]
        return Unknown("mapped tree")

    if not room.enter(first):
        return Unknown("mapped tree")

    def child(step: Callable[[Value], Value | None]) -> Value:
        children = [step(t) or Unknown("rest") for t in trees]
        return _map_trees(m, children, at_leaf, budget, room, custom_leaves)

    if isinstance(first, TupleValue):
        return TupleValue(tuple(child(partial(_nth, i=i)) for i in range(len(first.elts))), first.cls, first.names)
    if isinstance(first, ListValue):
        known = first.known()
        if known is not None:
            return ListValue(tuple(child(partial(_nth, i=i)) for i in range(len(known))), born=m.path.mode.trace)
        return ListValue(
            None, child(lambda t: joining.any_element(t) if isinstance(t, ListValue) else None), born=m.path.mode.trace
        )
    if isinstance(first, DictValue):
        items = {k: child(partial(_entry, key=k)) for k, _ in first.items()}
        rest = first.slots.get("*")
        return DictValue(
            items,
            child(lambda t: t.slots.get("*") if isinstance(t, DictValue) else None) if rest is not None else None,
            is_open=first.slots["open"],
            born=m.path.mode.trace,
        )
    if isinstance(first, Instance) and "pytree" in first.cls.traits:
        made = Instance(first.cls, exact=first.exact, level=first.level, born=m.path.mode.trace)
        made.complete = first.complete
        for attribute, value in list(first.slots.items()):
            if attribute in first.cls.static_names:
                made.slots[attribute] = value
            else:
                made.slots[attribute] = child(partial(_field, name=attribute))
        return made
    budget[0] -= 1
    at_leaf([Unknown("leaf"), *[Unknown("leaf") for _ in trees[1:]]])
    return Unknown("mapped tree")


def _leaf_like(value: Value) -> Value:
    if isinstance(value, Tree):
        return Tree(value.level)  # a leaf, or a subtree where the first tree has a leaf
    if isinstance(value, (TupleValue, ListValue, DictValue, Instance)):
        return leaf_of(value)
    return value if isinstance(value, (Array, Const, Static, HostArray)) else Unknown("leaf")


def _nth(value: Value, i: int) -> Value | None:
    known = known_elements(value)
    if known is not None:
        return known[i] if i < len(known) else None
    if isinstance(value, Tree):
        return Tree(value.level)
    return None


def _field(value: Value, name: str) -> Value | None:
    return value.slots.get(name) if isinstance(value, Instance) else None


def _entry(value: Value, key: Any) -> Value | None:
    if isinstance(value, DictValue):
        return dict(value.items()).get(key)
    if isinstance(value, Tree):
        return Tree(value.level)
    return None


def run_tree_reduce(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value], args: Arguments
) -> Value:
    function = bound.get(fact.operands[0], Unknown("f"))
    leaf = leaf_of(bound.get("tree", Unknown("tree")))
    start = bound.get("initializer", freshen(leaf))
    result = call(m, frame, node, function, Arguments([start, freshen(leaf)]))
    if isinstance(result, (Array, Tree)):
        return result
    return Unknown("reduced")
