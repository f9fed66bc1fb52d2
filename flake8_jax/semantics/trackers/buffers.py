"""Donated buffers: which arrays a compiled call has taken over, and who reads one of them afterwards.

Vocabulary
----------
donated     given to a compiled call that reuses its memory for the results: the array is deleted by the call.
read        anything that needs the contents: arithmetic, a library function, indexing, another compiled call. Shape,
            dtype, identity, and handing the array on need none.

A donation is kept among the uses of keys (``Keys.uses``) under the identity of the donated leaf: branches, loops and
remembered runs are the same for both. The first read raises, so it takes the donation back: what follows is not reached.

Limitations: aliases that ``jnp.asarray`` and the like may make, reads in staged code of what it captures, what unknown
functions do to an array.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.conditions import normal_condition
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.trees import MAX_LEAVES, leaves_of
from flake8_jax.semantics.domain.values import (
    Array,
    ListValue,
    Opaque,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    canonical_key,
    site_of,
)
from flake8_jax.semantics.events.events import DonatedUse
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.keys import DONATE, Keys, Touch, Use, current_path, link_at, may_follow, parting
from flake8_jax.semantics.trackers.steps import TrainingSteps, look_back

_READING_SPACES = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.", "jax.random.", "numpy.")
_DESCRIBING = frozenset(
    {"shape", "ndim", "size", "result_type", "promote_types", "can_cast", "iscomplexobj", "isrealobj", "isscalar",
     "issubdtype", "dtype", "iterable"}
)  # fmt: skip
_HANDING_OUT = frozenset(
    {"zeros_like", "ones_like", "full_like", "empty_like", "asarray", "reshape", "broadcast_to", "transpose",
     "concatenate", "stop_gradient", "permute_dims", "moveaxis"}
)  # fmt: skip
"""Of JAX: these only ask for the shape, or give the array itself where there is nothing to do."""
_READING = frozenset(
    {"jax.device_get", "jax.block_until_ready", "optax.apply_updates", "optax.global_norm", "builtins.float",
     "builtins.int", "builtins.bool", "builtins.complex", "builtins.abs", "builtins.round", "builtins.print",
     "builtins.str", "builtins.repr", "builtins.sum", "builtins.sorted"}
)  # fmt: skip
_QUIET_METHODS = frozenset({"is_deleted", "delete", "on_device_size_in_bytes", "__len__", "addressable_data"})
_OF_CONTAINERS = frozenset({"items", "keys", "values", "get", "pop", "update", "copy", "replace", "apply", "init"})
_DESCRIPTIONS = frozenset(
    {".shape", ".size", ".dtype", ".ndim", ".nbytes", ".itemsize", ".aval", ".weak_type", ".sharding", ".committed",
     ".format", ".is_fully_addressable", ".is_fully_replicated"}
)  # fmt: skip
"""Parts of an array that are still there when its buffer is gone."""
FROM_LOOP = frozenset({"join", "loop"})


def read(m: Machine, frame: Frame, node: Any, value: Value, *, depth: int = 1) -> None:
    """The contents of ``value`` are needed at ``node``. Call it only where reads matter (see ``reads``).

    depth: of containers around it.
    """
    if m.path.mode.staged:
        return
    if m.trackers[TrainingSteps].taken is not None:
        look_back(m, value)
    if isinstance(value, UnionValue):
        for member in value.members:
            read(m, frame, node, member, depth=depth)
    elif isinstance(value, (Array, Tree, Unknown)):
        for leaf, use in list(_donations(m, value)):
            emit_read(m, Touch(frame, node, value), leaf, use)
            return
    elif depth and isinstance(value, (TupleValue, ListValue)):
        for element in list(value.elts if isinstance(value, TupleValue) else value.known() or ()):
            read(m, frame, node, element, depth=depth - 1)


def read_by_library(m: Machine, frame: Frame, node: Any, name: str, values: list[Value]) -> None:
    """A library function is called on ``values``: does it look into them?"""
    last = name.rpartition(".")[2]
    is_harmless = last in _DESCRIBING or (last in _HANDING_OUT and name.startswith("jax."))
    if name in _READING or (not is_harmless and name.startswith(_READING_SPACES)):
        only_arrays = name.startswith("builtins.")
        for value in values:
            if not only_arrays or isinstance(value, Array):
                read(m, frame, node, value)


def read_by_method(m: Machine, frame: Frame, node: Any, value: Value, method: str) -> None:
    """A method of an array, or of what may be one, is called."""
    if method == "is_deleted":  # code that asks knows what may have become of it
        for leaf, _ in list(_donations(m, value)):
            m.journal.write(
                m.trackers[Keys].uses, leaf, tuple([use for use in m.trackers[Keys].uses[leaf] if use.effect != DONATE])
            )
        return
    facts = m.program.knowledge.class_("jax.Array")
    known = facts is not None and method in facts.methods
    if known and method not in _QUIET_METHODS and (isinstance(value, Array) or method not in _OF_CONTAINERS):
        read(m, frame, node, value)


def _donations(m: Machine, value: Value) -> Iterator[tuple[Value, Use]]:
    """How the value, or what it is a part of, was donated."""
    current: Value | None = canonical_key(value)
    while current is not None:
        for use in m.trackers[Keys].uses.get(current, ()):
            if use.effect == DONATE:
                yield current, use
        parent = current.parent if isinstance(current, Opaque) and current.step not in _DESCRIPTIONS else None
        current = canonical_key(parent) if parent is not None else None


def is_donated(m: Machine, value: Value) -> bool:
    """The value, or what it is a part of, was donated."""
    return next(_donations(m, value), None) is not None


def donated_leaves(m: Machine, value: Value) -> Iterator[tuple[Value, Value, Use]]:
    """What was donated of an argument: its leaves, or the parts of one whose structure is not known."""
    for leaf in leaves_of(value):
        todo, seen = [leaf], 0
        while todo and seen < MAX_LEAVES:
            current = todo.pop()
            seen += 1
            for owner, use in _donations(m, current):
                yield current, owner, use
                return
            whole = canonical_key(current)
            if isinstance(whole, Opaque) and whole.parts:
                todo += whole.parts.values()


def emit_read(m: Machine, touch: Touch, leaf: Value, earlier: Use, *, same_call: bool = False) -> None:
    """Tell the rules that a value is read of which ``leaf`` was donated."""
    frame, node, value = touch
    path = current_path(m, frame.scope, node)
    conditions = frozenset(m.path.conditions)
    if not may_follow(m, path, conditions, earlier):
        return
    uses = m.trackers[Keys].uses
    m.journal.write(uses, leaf, tuple([use for use in uses.get(leaf, ()) if use is not earlier]))
    level = parting(path, earlier.path)
    if level is None or not (is_array(leaf) or _may_be_array(m, leaf)):
        return
    here, there = path[level], earlier.path[level]
    if not isinstance(there.node, ir.Call) or (frame.attempts and not is_array(leaf)):
        return  # ``try: return step(x)`` once more: it is not known whether the call that failed took the buffer
    held = {normal_condition(c) for c in conditions}
    taken = is_array(leaf) and earlier.certain
    named = earlier.argument is not None and there.node is earlier.path[-1].node
    m.bus.emit(
        DonatedUse(
            context=m.path.context(here.scope),
            at=here.node,
            value=value,
            taker=site_of(there.scope, there.node.func),
            earlier=site_of(there.scope, there.node),
            argument=site_of(there.scope, earlier.argument) if named else None,
            in_loop=here.node is there.node and not same_call,
            same_call=same_call,
            through="" if level == len(path) - 1 else link_at(m, level).function,
            taken=taken,
            certain=taken and {normal_condition(c) for c in earlier.conditions} <= held,
        )
    )


def is_array(leaf: Value) -> bool:
    """A JAX array for sure, or a pytree of them."""
    return isinstance(leaf, Tree) or (isinstance(leaf, Array) and not leaf.declared)


def _may_be_array(m: Machine, leaf: Value) -> bool:
    """An argument of the function that no code is known to call, or what a loop makes of it: donating it says that it
    is a JAX array. What an unknown function or iterator has given may well come from NumPy."""
    root = leaf
    while isinstance(root, Opaque) and root.parent is not None:
        root = canonical_key(root.parent)
    if not isinstance(root, Unknown) or root.host_test:
        return False
    entry = m.path.stack[0] if m.path.stack else None
    given = entry.bound.values() if entry is not None and entry.kind == "entry" and entry.bound else ()
    return root.label in FROM_LOOP or any(canonical_key(v) is root for v in given)


def inherit_donations(m: Machine, trees: list[Value], leaves: list[Value]) -> None:
    """``tree.map`` hands a leaf that stands for all of a tree to a function: the leaf was donated if the tree was."""
    for tree, leaf in zip(trees, leaves, strict=True):
        if leaf is not tree and isinstance(tree, (Tree, Unknown)):
            uses = tuple([use for _, use in _donations(m, tree)])
            if uses:
                m.journal.write(m.trackers[Keys].uses, canonical_key(leaf), uses)
