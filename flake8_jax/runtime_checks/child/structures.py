"""Where the pytrees of two calls have different structures: the node or the static field that differs, not the whole trees.

Vocabulary
----------
node          a value that JAX flattens, with its children. static part: what a node keeps beside its children, and what JAX
              compares by ``==``: ``apply_fn`` and ``tx`` of Flax's ``TrainState``, fields with ``metadata={"static": True}``.
              In JAX it is the metadata of the node.

Static parts get the names of the attributes that hold them. Limitations: where a class computes its metadata, no attribute
holds it, and the metadata is compared as a whole.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flake8_jax.runtime_checks.child.inputs import describe

MOST = 8


@dataclass(frozen=True)
class Change:
    """One difference. kind: ``container``, ``keys``, ``length``, ``static`` or ``metadata``."""

    kind: str
    where: str
    now: Any
    before: Any


def changes(where: str, now: Any, before: Any) -> list[Change]:
    """The differences of two structures, at most ``MOST``; where: what the values are called."""
    found: list[Change] = []
    for change in _walk(where, now, before):
        if len(found) == MOST:
            break
        found.append(change)
    return found


def _walk(where: str, now: Any, before: Any) -> Iterator[Change]:
    if _is_leaf(now) and _is_leaf(before):
        return
    if type(now) is not type(before):
        yield Change("container", where, now, before)
        return
    ours, our_shape = _opened(now)
    theirs, their_shape = _opened(before)
    if our_shape != their_shape:
        yield from _at(where, now, before)
    for name in [name for name in ours if name in theirs]:
        yield from _walk(where + name, ours[name], theirs[name])


def _is_leaf(value: Any) -> bool:
    import jax

    found = jax.tree_util.tree_structure(value, is_leaf=lambda part: part is not value)
    return bool(found == jax.tree_util.tree_structure(0))


def _opened(value: Any) -> tuple[dict[str, Any], Any]:
    """The children of a node by the text that leads to them, and the structure of the node alone."""
    import jax

    pairs, shape = jax.tree_util.tree_flatten_with_path(value, is_leaf=lambda part: part is not value)
    held = _attributes(value)
    children = {}
    for path, child in pairs:
        name = jax.tree_util.keystr(path)
        if name.startswith(("[<flat index", ".flat_index", "[FlattenedIndex")):  # registered without names
            name = next((f".{known}" for known, part in held.items() if part is child), name)
        children[name] = child
    return children, shape


def _attributes(value: Any) -> Mapping[str, Any]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    return getattr(value, "__dict__", {})


def _at(where: str, now: Any, before: Any) -> Iterator[Change]:
    """What tells two nodes of one type apart, their children aside."""
    if isinstance(now, dict):
        yield Change("keys", where, now, before)
        return
    if isinstance(now, (list, tuple)) and len(now) != len(before):
        yield Change("length", where, now, before)
        return
    ours, theirs = _static(now), _static(before)
    named = [name for name in ours if name in theirs and not same(ours[name], theirs[name])]
    for name in named:
        yield Change("static", f"{where}.{name}", ours[name], theirs[name])
    if not named:
        yield Change("metadata", where, _metadata(now), _metadata(before))


def _static(value: Any) -> dict[str, Any]:
    children = {id(child) for child in _opened(value)[0].values()}
    return {name: part for name, part in _attributes(value).items() if id(part) not in children}


def _metadata(value: Any) -> Any:
    import jax

    shape = jax.tree_util.tree_structure(value, is_leaf=lambda part: part is not value)
    said = shape.node_data() if hasattr(shape, "node_data") else None
    return said[1] if said else shape


def same(now: Any, before: Any) -> bool:
    """Whether JAX takes two static values for one."""
    try:
        return now is before or (type(now) is type(before) and bool(now == before))
    except Exception:  # a class of the user's, or an array, whose comparison is no bool
        return False


def functions_in(now: Any, before: Any) -> list[str] | None:
    """Names of the functions that make two static values differ although they look the same: those of a named tuple or
    tuple, an empty list where the value itself is a function; None where that is not the reason."""
    if describe(now) != describe(before):
        return None
    if callable(now) and not isinstance(now, tuple):
        return []
    if not isinstance(now, tuple):
        return None
    names = getattr(now, "_fields", range(len(now)))
    other = [str(name) for name, a, b in zip(names, now, before) if callable(a) and not same(a, b)]
    return other or None
