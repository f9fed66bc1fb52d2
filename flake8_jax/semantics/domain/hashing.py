"""Which objects have no hash: those that ``jit`` cannot take as static arguments.

Vocabulary
----------
kind       what a hash is made of (``HashKind``). Python takes the hash from a class that defines ``__eq__`` alone; a dataclass
           has none unless it is frozen, and then it has that of its fields.
lack       why a value has no hash. certain: the values are known; else only annotations say that arrays are in it.

Limitations: methods ``__hash__`` of the project (they work), bases and decorators of unknown libraries, hashes of Flax
modules (they freeze their fields first).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flake8_jax.semantics.domain.classes import find_in_class, mro_of, says_array
from flake8_jax.semantics.domain.values import (
    UNKNOWN_TRACE,
    Array,
    ClassField,
    ClassValue,
    Const,
    DictValue,
    HashKind,
    HostArray,
    Instance,
    ListValue,
    Static,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    held_by,
)

_OF_LEAVES = frozenset({"equinox.Module"})
_OF_FIELDS = frozenset({"flax.struct.PyTreeNode"})
_MAKING_HASHES = frozenset({"flax.linen.Module"})
"""Bases that make a hash for every subclass, whatever its other bases have (flax/linen/module.py: ``unsafe_hash``)."""
_PLAIN_BASES = frozenset(
    {"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol"}
)
_SETTERS = ("__post_init__", "__setattr__", "__new__")
MAX_DEPTH = 4


class Lack(NamedTuple):
    """Why a value has no hash. cls: its class, None of an array or a container; field: of the class, where that is the cause;
    what: the field holds."""

    cls: ClassValue | None = None
    field: str = ""
    certain: bool = True
    what: str = ""


def hash_kind(cls: ClassValue) -> HashKind:
    """What the hash of an instance is made of."""
    if cls.traits & {"metaclass", "enum"} or cls.has_unknown_base or ("altered" in cls.traits and not cls.hashed):
        return "own"
    if _MAKING_HASHES & set(cls.external_bases):
        return "own"
    by_library = _kind_of_bases(cls)
    for owner in mro_of(cls):
        hashing = owner.namespace.get("__hash__")
        if hashing is not None:
            return "none" if isinstance(hashing, Const) and hashing.value is None else "own"
        if owner.hashed not in ("", "inherited"):
            return owner.hashed
        if by_library == "fields":
            return by_library
        if "__eq__" in owner.namespace:
            return "none"
    return by_library


def has_hash(value: Value, depth: int = MAX_DEPTH) -> bool:
    """A value certainly has a hash: a number, a string, or a tuple or frozen object of them."""
    if isinstance(value, TupleValue):
        return depth > 0 and all(has_hash(part, depth - 1) for part in value.elts)
    if isinstance(value, Instance):
        parts = [value.slots.get(f.name) for f in value.cls.fields if f.hashed]
        is_known = depth > 0 and value.exact and hash_kind(value.cls) == "fields"
        return is_known and all(part is not None and has_hash(part, depth - 1) for part in parts)
    return isinstance(value, Const) or (isinstance(value, Static) and value.kind not in ("", "set") and not value.guess)


def _kind_of_bases(cls: ClassValue) -> HashKind:
    names = set(cls.external_bases) - _PLAIN_BASES
    if not names:
        return "identity"
    return "leaves" if names <= _OF_LEAVES else "fields" if names <= _OF_FIELDS else "own"


def lack_of_hash(value: Value, depth: int = MAX_DEPTH) -> Lack | None:
    """Why hashing the value raises. What only an annotation says of a list or of an argument proves nothing: many a
    ``list[int]`` is a tuple."""
    if isinstance(value, UnionValue):
        lacks = [lack_of_hash(member, depth) for member in value.members]
        return min(lacks, key=lambda lack: lack is not None and lack.certain) if lacks and all(lacks) else None
    what = _WHAT.get(type(value))
    if what is not None:
        return Lack(what=what) if _is_unhashable(value) else None
    if depth == 0:
        return None
    if isinstance(value, TupleValue):
        return _lack_of_tuple(value, depth)
    return _lack_of_object(value, depth) if isinstance(value, Instance) else None


_WHAT: dict[type, str] = {Array: "an array", HostArray: "an array", DictValue: "a dict", ListValue: "a list"}


def _is_unhashable(value: Value) -> bool:
    """An array or a container."""
    if isinstance(value, HostArray):
        return value.ndim is not None and value.ndim > 0 and not value.declared
    if isinstance(value, DictValue):
        return "frozen" not in value.slots and not _is_hearsay(value, known=not value.slots["open"])
    if isinstance(value, ListValue):
        return not value.is_tuple and not _is_hearsay(value, known=value.slots["n"] is not None)
    return isinstance(value, Array) and not value.declared


def _is_hearsay(value: DictValue | ListValue, *, known: bool) -> bool:
    """An annotation says that it is one, or the analysis did not see where it was made."""
    return "declared" in value.slots or (not known and value.made_in == UNKNOWN_TRACE)


def _lack_of_tuple(value: TupleValue, depth: int) -> Lack | None:
    cls = value.cls if isinstance(value.cls, ClassValue) else None
    if cls is not None and (cls.traits & {"altered"} or find_in_class(cls, "__hash__") is not None):
        return None
    names = value.names or ("",) * len(value.elts)
    return _first(cls, ((name, _lack_of_part(held, depth)) for name, held in zip(names, value.elts, strict=False)))


def _lack_of_object(value: Instance, depth: int) -> Lack | None:
    cls = value.cls
    kind = hash_kind(cls)
    if kind == "none":
        return Lack(cls) if value.exact or all(hash_kind(heir) == "none" for heir in cls.subclasses) else None
    if kind == "identity" and not value.exact:
        return _lack_of_heirs(cls, depth)
    if kind not in ("fields", "leaves") or (value.exact and any(find_in_class(cls, name) for name in _SETTERS)):
        return None
    found = _first(cls, _parts_of_fields(value, depth) if kind == "fields" else _parts_of_leaves(value, depth))
    return found if found is None or value.exact else found._replace(certain=False)


def _parts_of_fields(value: Instance, depth: int) -> Iterator[tuple[str, Lack | None]]:
    return ((f.name, _lack_of_field(value, f, depth)) for f in value.cls.fields if f.hashed)


def _parts_of_leaves(value: Instance, depth: int) -> Iterator[tuple[str, Lack | None]]:
    cls = value.cls
    left_out = cls.static_names | {f.name for f in cls.fields if not value.exact and isinstance(f.default, Const)}
    leaves = ((name, part) for name, part in value.slots.items() if name not in left_out)
    return ((str(name), _lack_of_leaves(part, depth)) for name, part in leaves)


def _lack_of_field(value: Instance, field: ClassField, depth: int) -> Lack | None:
    held = value.slots.get(field.name)
    if not value.exact and isinstance(field.default, Const):
        return None  # ``weights: Array = None`` mostly is None
    if isinstance(held, Unknown) and not value.exact and field.annotation is not None:
        return Lack(certain=False, what=_WHAT[Array]) if says_array(field.scope, field.annotation) else None
    return _lack_of_part(held, depth) if held is not None else None


def _lack_of_heirs(cls: ClassValue, depth: int) -> Lack | None:
    """Of a base that has no fields of its own: most of its subclasses hold arrays. One that only holds other objects
    does not count."""
    known = [heir.generic for heir in cls.subclasses if heir.generic is not None]
    lacks = [(heir, lack_of_hash(heir, depth - 1)) for heir in known]
    lacking = [lack for _, lack in lacks if lack is not None]
    others = [heir for heir, lack in lacks if lack is None and not _holds_objects(heir)]
    return lacking[0]._replace(certain=False) if len(lacking) > len(others) else None


def _holds_objects(value: Instance) -> bool:
    return any(isinstance(part, Instance) for part in held_by(value))


def _first(cls: ClassValue | None, parts: Iterator[tuple[str, Lack | None]]) -> Lack | None:
    """The lack of the first part that has one, the certain before the others."""
    found = [
        Lack(cls, name, lack.certain, lack.what or "an unhashable value") for name, lack in parts if lack is not None
    ]
    return next((lack for lack in found if lack.certain), found[0] if found else None)


def _lack_of_part(value: Value, depth: int) -> Lack | None:
    if isinstance(value, UnionValue) and all(isinstance(member, (Array, HostArray)) for member in value.members):
        return Lack(certain=False, what=_WHAT[Array])
    if isinstance(value, Array) and value.declared:
        return Lack(certain=False, what=_WHAT[Array])
    return lack_of_hash(value, depth - 1)


def _lack_of_leaves(value: Value, depth: int) -> Lack | None:
    """An array among the leaves of a pytree: containers themselves are not hashed."""
    if isinstance(value, (TupleValue, ListValue, DictValue)) and depth:
        lacks = [_lack_of_leaves(part, depth - 1) for part in held_by(value)]
        return next((lack for lack in lacks if lack is not None), None)
    return _lack_of_part(value, depth) if isinstance(value, (Array, HostArray, Instance)) else None
