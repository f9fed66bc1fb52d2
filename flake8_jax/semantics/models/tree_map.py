"""``jax.tree.map`` and similar functions: a function of the leaves, called where the leaves are known, else on one for all.

Vocabulary
----------
trees       the pytrees that are walked side by side; the first one says what is a leaf.
budget      so many more leaves are mapped as they are; after that each leaf is any one of its tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.stack import LoopState
from flake8_jax.semantics.domain.tracer_tests import is_answer, untraced_outcome
from flake8_jax.semantics.domain.trees import leaf_of
from flake8_jax.semantics.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    External,
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
    copy_with_new_identity,
    known_elements,
)
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.application import Transformation
from flake8_jax.semantics.models.tables import model
from flake8_jax.semantics.trackers.buffers import inherit_donations
from flake8_jax.semantics.trackers.loaders import vary_alike
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.reads import Reads

MAX_MAPPED = 4000
"""So many values of a pytree are mapped one by one."""
MAX_LEAVES = 100
"""So many leaves, and containers in place of their leaves, are mapped before further containers are not looked into."""


@dataclass(slots=True, eq=False)
class _Walk:
    """A walk over trees. at_leaf: what the function gives for leaves. custom_leaves: a predicate says what is a leaf.
    is_leaf: whether a node is one; None where the project's predicate does not tell."""

    m: Machine
    at_leaf: Callable[[list[Value]], Value]
    custom_leaves: bool
    is_leaf: Callable[[Value], bool | None] = lambda node: False
    budget: int = 10
    room: Room = field(default_factory=lambda: Room(MAX_MAPPED))


@model("tree_map", "tree_map_with_path")
def _run_tree_map(m: Machine, app: Transformation) -> Value:
    bound, star = app.bound, app.at.args.star
    function = bound.get("f", Unknown("f"))
    trees = [bound.get("tree", Unknown("tree")), *(known_elements(bound["rest"]) or () if "rest" in bound else ())]
    path: list[Value] = [Static("shape")] if app.fact.model == "tree_map_with_path" else []
    is_leaf = bound.get("is_leaf")
    custom_leaves = is_leaf is not None and not (isinstance(is_leaf, Const) and is_leaf.value is None)
    if custom_leaves and is_leaf is not None and not isinstance(is_leaf, Unknown):
        # The predicate sees every subtree on the way down, the leaves included.
        seen = leaf_of(trees[0]) if not isinstance(trees[0], Tree) else trees[0]
        call(m, app.frame, app.node, is_leaf, Arguments([seen]))

    def at_leaf(leaves: list[Value]) -> Value:
        more = Unknown("rest") if star is not None else None
        return call(m, app.frame, app.node, function, Arguments([*path, *leaves], star=more))

    def is_known_leaf(node: Value) -> bool | None:
        if not custom_leaves or is_leaf is None or isinstance(is_leaf, Unknown):
            return False
        answer = call(m, app.frame, app.node, is_leaf, Arguments([node]))
        if isinstance(answer, Const):
            return bool(answer.value)
        # A library's predicate asks for arrays and the like, which no container is.
        return False if isinstance(is_leaf, External) else None

    loop = LoopState("tree_map", app.node, app.frame.scope)
    m.path.loops.append(loop)
    m.trackers.iteration(loop)
    mapped = _map_trees(_Walk(m, at_leaf, custom_leaves, is_known_leaf), trees)
    m.path.loops.pop()
    vary_alike(m, trees[0], mapped)
    return mapped


def _map_trees(walk: _Walk, trees: list[Value]) -> Value:
    """The first tree, with what the function gives in place of its leaves."""
    first = trees[0]
    if isinstance(first, Const) and first.value is None:
        return NONE
    if isinstance(first, UnionValue):
        return joining.union_of([_map_trees(walk, [t, *trees[1:]]) for t in first.members])
    is_container = isinstance(first, Static) and first.kind not in _LEAVES
    if (isinstance(first, (Array, HostArray, Const, Static)) and not is_container) or walk.budget <= 0:
        return _map_leaf(walk, trees)
    if isinstance(first, (Tree, Unknown, Static)):
        return _map_opaque(walk, first, trees)
    if not walk.room.enter(first):
        return Unknown("mapped tree")
    is_leaf = walk.is_leaf(first) if type(first) in _NODES else False
    if is_leaf:
        return _map_leaf(walk, trees)
    if is_leaf is None:
        walk.budget -= 1
        walk.at_leaf([Unknown("leaf"), *[Unknown("leaf") for _ in trees[1:]]])
        return Unknown("mapped tree")
    node = _NODES.get(type(first))
    mapped = node(walk, first, trees) if node is not None else None
    if mapped is not None:
        return mapped
    walk.budget -= 1
    walk.at_leaf([Unknown("leaf"), *[Unknown("leaf") for _ in trees[1:]]])
    return Unknown("mapped tree")


_LEAVES = ("int", "bool", "str", "float", "complex", "dtype")
"""The kinds of host values that are leaves; one of unknown kind may be a list, whose elements the function gets."""


def _map_leaf(walk: _Walk, trees: list[Value]) -> Value:
    """The first tree is a leaf, or there is no time to look into it."""
    walk.budget -= 1
    if walk.budget < -MAX_LEAVES and isinstance(trees[0], (TupleValue, ListValue, DictValue, Instance)):
        return Unknown("mapped tree")
    if walk.budget < 0:
        return walk.at_leaf([leaf_of(t) for t in trees])
    return walk.at_leaf(trees)  # where the first tree has a leaf, the others may have a whole subtree


def _map_opaque(walk: _Walk, first: Tree | Unknown | Static, trees: list[Value]) -> Value:
    """The first tree is of unknown structure: the function is called on any one leaf of it."""
    m = walk.m
    leaf: Value = Unknown("leaf")
    if isinstance(first, Tree):
        leaf = Tree(first.level) if walk.custom_leaves else Array(first.level)
    elif isinstance(first, Static):
        leaf = Static("int" if first.kind == "shape" else "")
    leaves = [leaf, *[_leaf_like(t) for t in trees[1:]]]
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        for i, (tree, seen) in enumerate(zip(trees, leaves, strict=True)):
            presumption.leaf_of(seen, tree, is_element=i == 0 and not walk.custom_leaves)
    if m.trackers[Reads].matter:
        inherit_donations(m, trees, leaves)
    result = walk.at_leaf(leaves)
    if isinstance(result, (Array, Tree)):
        return Tree(result.level)
    if isinstance(result, TupleValue) and all(isinstance(v, (Array, Tree)) for v in result.elts):
        return Tree(max(v.level for v in result.elts))  # type: ignore[attr-defined]
    return Unknown("mapped tree", host_test=is_answer(result), untraced=untraced_outcome(result))


def _child(walk: _Walk, trees: list[Value], step: Callable[[Value], Value | None]) -> Value:
    """The walk goes on in the same part of every tree."""
    return _map_trees(walk, [step(t) or Unknown("rest") for t in trees])


def _map_tuple(walk: _Walk, first: TupleValue, trees: list[Value]) -> Value:
    mapped = tuple(_child(walk, trees, partial(_nth, i=i)) for i in range(len(first.elts)))
    return TupleValue(mapped, first.cls, first.names)


def _map_list(walk: _Walk, first: ListValue, trees: list[Value]) -> Value:
    known, trace = first.known(), walk.m.path.mode.trace
    if known is None:
        return ListValue(None, _child(walk, trees, _any_element), made_in=trace)
    return ListValue(tuple(_child(walk, trees, partial(_nth, i=i)) for i in range(len(known))), made_in=trace)


def _map_dict(walk: _Walk, first: DictValue, trees: list[Value]) -> Value:
    items = {k: _child(walk, trees, partial(_entry, key=k)) for k, _ in first.items()}
    rest = _child(walk, trees, _any_entry) if first.slots.get("*") is not None else None
    return DictValue(items, rest, is_open=first.slots["open"], made_in=walk.m.path.mode.trace)


def _map_instance(walk: _Walk, first: Instance, trees: list[Value]) -> Value | None:
    if "pytree" not in first.cls.traits:
        return None
    made = Instance(first.cls, exact=first.exact, level=first.level, made_in=walk.m.path.mode.trace)
    made.complete = first.complete
    for attribute, value in list(first.slots.items()):
        static = attribute in first.cls.static_names
        made.slots[attribute] = value if static else _child(walk, trees, partial(_field, name=attribute))
    return made


_NODES: dict[type, Callable[[_Walk, Any, list[Value]], Value | None]] = {
    TupleValue: _map_tuple,
    ListValue: _map_list,
    DictValue: _map_dict,
    Instance: _map_instance,
}
"""How the walk goes on below a node; None where the value is none."""


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


def _any_element(value: Value) -> Value | None:
    return joining.any_element(value) if isinstance(value, ListValue) else None


def _any_entry(value: Value) -> Value | None:
    return value.slots.get("*") if isinstance(value, DictValue) else None


def _field(value: Value, name: str) -> Value | None:
    return value.slots.get(name) if isinstance(value, Instance) else None


def _entry(value: Value, key: Any) -> Value | None:
    if isinstance(value, DictValue):
        return dict(value.items()).get(key)
    if isinstance(value, Tree):
        return Tree(value.level)
    return None


@model("tree_reduce")
def _run_tree_reduce(m: Machine, app: Transformation) -> Value:
    function = app.bound.get(app.fact.operands[0], Unknown("f"))
    tree = app.bound.get("tree", Unknown("tree"))
    leaf, presumption = leaf_of(tree), m.trackers[Presuming].presumption
    if presumption is not None:
        presumption.leaf_of(leaf, tree, is_element=True)
    start = app.bound.get("initializer", copy_with_new_identity(leaf))
    result = call(m, app.frame, app.node, function, Arguments([start, copy_with_new_identity(leaf)]))
    if isinstance(result, (Array, Tree)):
        return result
    return Unknown("reduced")
