"""Values as flat lists of what can be seen of them, so that those of two runs can be compared.

Vocabulary
----------
leaf      a part of a value, with its ``path`` in it. kind: ``array`` (of JAX or NumPy, or a key), ``value`` (a plain Python
          value), ``node`` (a container or an object: its type, and the names of its parts), ``opaque`` (nothing can be seen
          but its type).
of        whose an array is: ``jax``, ``numpy``, ``scalar`` (a NumPy number) or ``key`` (its data stand for it).
at        the digest of an array's contents; the contents themselves are in the store, as far as there is room.

Objects are looked into where they are dataclasses, named tuples, registered pytrees or of a class of the user's, down to
``DEPTH``. No code of theirs runs: neither properties nor ``__getattr__``; registered pytrees without attributes are flattened
the way JAX does it. Not seen: contents of iterators, files, functions and library objects.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

MOST_BYTES = 512 << 20
MOST_LEAVES = 2000  # of one snapshot
DEPTH = 8
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CODE = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_UNFLATTENABLE = (TypeError, ValueError, AttributeError, LookupError, RuntimeError, AssertionError, ArithmeticError)

Leaf = dict[str, Any]


class Store:
    """Contents of arrays by digest, each once, up to ``MOST_BYTES`` in all."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.left_out = 0
        self._bytes = 0
        self._known: dict[int, tuple[weakref.ref[Any], Leaf]] = {}

    def of_jax(self, value: Any, make: Callable[[], Leaf]) -> Leaf:
        """The leaf of an array that cannot change, made once as long as the array lives."""
        known = self._known.get(id(value))
        if known is not None and known[0]() is value:
            return known[1]
        leaf = make()
        self._known[id(value)] = weakref.ref(value), leaf
        return leaf

    def keep(self, data: bytes) -> str:
        digest = hashlib.blake2b(data, digest_size=12).hexdigest()
        if digest not in self.contents:
            if self._bytes + len(data) > MOST_BYTES:
                self.left_out += 1
            else:
                self.contents[digest] = data
                self._bytes += len(data)
        return digest

    def save(self, folder: str) -> None:
        """Write ``arrays.npz``. Raises OSError."""
        if self.contents:
            import numpy

            arrays: dict[str, Any] = {name: numpy.frombuffer(data, numpy.uint8) for name, data in self.contents.items()}
            numpy.savez(os.path.join(folder, "arrays.npz"), **arrays)


class Snapshots:
    """Takes snapshots. is_users: whether a class is the user's, by the file that it was defined in."""

    def __init__(self, store: Store, is_users: Callable[[type], bool]) -> None:
        self.store = store
        self._is_users = is_users

    def take(self, value: Any) -> list[Leaf]:
        """The leaves of a value, containers before what they hold."""
        found: list[Leaf] = []
        for path, leaf in self._walk(value, "", ()):
            if len(found) >= MOST_LEAVES:
                self.store.left_out += 1
                found.append({"path": "…", "kind": "opaque", "type": "more leaves"})
                break
            found.append({"path": path, **leaf})
        return found

    def _walk(self, value: Any, path: str, around: tuple[int, ...]) -> Iterator[tuple[str, Leaf]]:
        leaf = self._leaf(value)
        if leaf is not None:
            yield path, leaf
            return
        parts = None if id(value) in around or len(around) >= DEPTH else self._parts(value)
        if parts is None:
            yield path, {"kind": "opaque", "type": _type_name(value)}
            return
        kind, inside = parts
        yield path, {"kind": "node", "type": kind, "parts": [name for name, _ in inside[:MOST_LEAVES]]}
        for name, part in inside[:MOST_LEAVES]:
            yield from self._walk(part, path + name, (*around, id(value)))

    def _leaf(self, value: Any) -> Leaf | None:
        """The leaf of what holds no other values."""
        if type(value) in _PLAIN:
            plain = repr(value) if isinstance(value, (float, complex, bytes)) else value  # JSON has no NaN
            return {"kind": "value", "type": type(value).__name__, "value": plain}
        if isinstance(value, _CODE):
            return {"kind": "code", "type": type(value).__name__}
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            if value.dtype.hasobject:
                return None
            return self._array(numpy.asarray(value), "numpy" if isinstance(value, numpy.ndarray) else "scalar")
        jax: Any = sys.modules.get("jax")
        if jax is None or not hasattr(jax, "Array") or not hasattr(jax, "core") or not isinstance(value, jax.Array):
            return None
        if isinstance(value, jax.core.Tracer):
            return {"kind": "opaque", "type": "tracer"}
        if value.is_deleted() or not value.is_fully_addressable:
            return {"kind": "opaque", "type": "array without a buffer"}
        return self.store.of_jax(value, lambda: self._of_jax(jax, value))

    def _of_jax(self, jax: Any, value: Any) -> Leaf:
        if jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key):
            return self._array(jax.device_get(jax.random.key_data(value)), "key")
        # A copy: looking at an array on the CPU would pin its buffer, and then it could not be donated any more.
        return {**self._array(jax.device_get(value.copy()), "jax"), "weak": bool(getattr(value, "weak_type", False))}

    def _array(self, array: Any, owner: str) -> Leaf:
        import numpy

        leaf: Leaf = {"kind": "array", "of": owner, "dtype": str(array.dtype), "shape": list(array.shape)}
        return {**leaf, "at": self.store.keep(numpy.ascontiguousarray(array).tobytes())}

    def _parts(self, value: Any) -> tuple[str, list[tuple[str, Any]]] | None:
        """Type and parts of a container or an object; None of what cannot be looked into."""
        kind = _type_name(value)
        if isinstance(value, dict):
            return kind, [(f"[{_key_name(key)}]", part) for key, part in list(value.items())]
        fields = getattr(type(value), "_fields", None)
        if isinstance(value, tuple) and isinstance(fields, tuple):
            return kind, [(f".{name}", part) for name, part in zip(fields, value)]
        if isinstance(value, (list, tuple)):
            return kind, [(f"[{number}]", part) for number, part in enumerate(list(value))]
        if isinstance(value, (set, frozenset)):
            plain = sorted(repr(part) for part in value if type(part) in _PLAIN)
            return kind, [("{}", ", ".join(plain)), ("{}.len", len(value))]
        if hasattr(type(value), "__array_interface__") and type(value).__module__ == "numpy":  # an array of objects
            return f"{kind}{list(value.shape)}", [(f"[{number}]", part) for number, part in enumerate(value.flat)]
        return self._parts_of_object(value, kind)

    def _parts_of_object(self, value: Any, kind: str) -> tuple[str, list[tuple[str, Any]]] | None:
        attributes = attributes_of(value)
        flattened = _flattened(value)
        looked_into = (
            flattened is not None
            or dataclasses.is_dataclass(value)
            or self._is_users(type(value))
            or isinstance(value, types.SimpleNamespace)
        )
        if attributes and looked_into:
            return kind, [(f".{name}", part) for name, part in attributes.items()]
        if flattened is not None:
            return kind, [(f"<{number}>", part) for number, part in enumerate(flattened)]
        return (kind, []) if looked_into else None


def attributes_of(value: Any) -> dict[str, Any]:
    """The attributes that an object holds itself, in slots or not, without running any code of its class."""
    found: dict[str, Any] = {}
    for cls in type(value).__mro__:
        for name, member in vars(cls).items():
            if isinstance(member, types.MemberDescriptorType) and not name.startswith("__"):
                try:
                    found.setdefault(name, member.__get__(value))
                except AttributeError:  # a slot that is not filled
                    continue
    try:
        mine = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        return found
    return {**found, **mine} if isinstance(mine, dict) else found


def _flattened(value: Any) -> list[Any] | None:
    """The children of a registered pytree."""
    util = sys.modules.get("jax._src.tree_util")
    if util is None:
        return None
    try:
        opened = util.default_registry.flatten_one_level(value)
    except _UNFLATTENABLE:  # it refuses: a half-built instance, keys that do not sort
        return None
    return None if opened is None else list(opened[0])


def _type_name(value: Any) -> str:
    return type(value).__qualname__


def _key_name(key: Any) -> str:
    return repr(key) if type(key) in _PLAIN else _type_name(key)
