"""Descriptions of abstract values that are equal only if a function run on the values cannot tell them apart.

Vocabulary
----------
fingerprint hashable; objects with an identity (aliases) are numbered in order of first visit.
cut         there was more to describe than the budget allows; the fingerprint then says nothing.

Not modelled: what a callable closes over beyond the values that its fingerprint visits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flake8_jax.semantics.domain.sizes import grade
from flake8_jax.semantics.domain.values import (
    MISSING,
    Array,
    AtValue,
    BoundMethod,
    BuiltinValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    FunctionValue,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    Opaque,
    PartialValue,
    Static,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    canonical_key,
)
from flake8_jax.semantics.domain.varying import VARYING

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.varying import Variation


MAX_NODES = 100


def equivalent(a: Value, b: Value, depth: int = 6) -> bool:
    """Whether a loop that brought ``b`` where ``a`` stood has reached its fixpoint there."""
    if a is b:
        return True
    if type(a) is not type(b) or depth == 0:
        return False
    return bool(fingerprint_one(a) == fingerprint_one(b))


_WITHOUT_IDENTITY = frozenset({Const, Static, External, HostArray, BuiltinValue, type(MISSING)})


class Fingerprint:
    """Numbers the objects that it visits; ``objects`` are those with an identity, in the order of first visit.
    cut: there were more than the budget allowed. trace: the innermost one, which some of the objects are older than."""

    __slots__ = ("budget", "cut", "loops", "numbers", "objects", "presumed", "trace", "uses", "variations")

    def __init__(
        self,
        uses: dict[Value, tuple[Any, ...]] | None = None,
        budget: int = MAX_NODES,
        loops: frozenset[int] = frozenset(),
        trace: int = 0,
    ) -> None:
        self.numbers: dict[int, int] = {}
        self.objects: list[Any] = []
        self.uses = uses if uses is not None else {}
        self.budget = budget
        self.loops = loops
        self.trace = trace
        self.presumed = False
        self.cut = False
        self.variations: dict[Value, Variation] = {}

    def of(self, value: Any) -> Any:
        kind = type(value)
        if self.variations and kind in VARYING and id(value) not in self.numbers:
            variation = self.variations.get(value)
            if variation is not None:
                return ("varies", variation.mark, self._described(kind, value))
        return self._described(kind, value)

    def _described(self, kind: type, value: Any) -> Any:
        if kind in _WITHOUT_IDENTITY:
            return self._plain(kind, value)
        numbers, objects = self.numbers, self.objects
        identity = id(value)
        number = numbers.get(identity)
        if number is not None:
            return ("ref", number)
        numbers[identity] = len(objects)
        objects.append(value)
        self.budget -= 1
        if self.budget < 0:
            self.cut = True
            return ("id", identity)
        if not self.uses:
            if kind is Array:
                awaited = (1 + (value.dispatched in self.loops)) if value.dispatched else 0
                awaited += 4 * grade(value.size) if value.size else 0
                return ("a", value.level, value.dtype, value.ndim, value.length, awaited)
            if kind is Unknown:
                if self.presumed and value.parts and value.origin is not None:
                    return ("?", *[(step, self.of(part)) for step, part in value.parts.items()])
                return ("?", value.host_test)
            if kind is Tree:
                return ("t", value.level)
        return self._structure(kind, value)

    def _plain(self, kind: type, value: Any) -> Any:
        """Of a value that has no identity of its own."""
        if kind is Const:
            const = value.value
            if const is None or const is True or const is False:
                return const
            if const == -1:
                const = "-1"  # Python hashes -1 and -2 alike
            return ("c", type(const).__name__, const if const == const else "nan")
        if kind is Static:
            return ("s", value.kind, value.guess, value.born < self.trace)
        if kind is External:
            return ("e", value.name)
        if kind is HostArray:
            return ("h", value.dtype, value.ndim, grade(value.size), min(len(value.readings), 2))
        if kind is BuiltinValue:
            return ("b", value.name, None if value.bound is None else self.of(value.bound))
        return "missing"

    def _structure(self, kind: type, value: Any) -> Any:
        if kind is Array:
            awaited = (1 + (value.dispatched in self.loops)) if value.dispatched else 0
            awaited += 4 * grade(value.size) if value.size else 0
            return ("a", value.level, value.dtype, value.ndim, value.length, awaited, *self._key_state(value))
        if kind is Tree:
            return ("t", value.level, *self._key_state(value))
        if kind is Unknown:
            return ("?", value.host_test, *self._key_state(value))
        if kind is TupleValue:
            return ("T", id(value.cls), *[self.of(v) for v in value.elts])
        if kind is ListValue or kind is DictValue or kind is ExternalInstance or kind is Instance:
            head: tuple[Any, ...]
            if kind is Instance:
                head = ("i", id(value.cls), value.exact, value.level, value.born < self.trace)
            elif kind is ExternalInstance:
                head = ("x", value.cls, value.level, value.born < self.trace)
            else:
                head = (kind.__name__, value.born < self.trace, getattr(value, "is_tuple", False))
            slots = value.slots.items()
            if (kind is Instance or kind is ExternalInstance) and len(slots) > 1:
                slots = sorted(slots)  # in which order attributes were set or first read makes no difference
            return (*head, *[(k, self.of(v) if isinstance(v, Value) else v) for k, v in slots])
        if kind is FunctionValue:
            return ("f", id(value.fn), id(value.closure))
        if kind is BoundMethod:
            return ("m", self.of(value.func), self.of(value.self_value))
        if kind is PartialValue:
            return ("p", self.of(value.func), *[self.of(v) for v in value.args], *self._named(value.kwargs))
        if kind is TransformedValue:
            return ("j", value.name, value.site.start, self.of(value.operand), *self._named(value.options))
        if kind is UnionValue:
            return ("u", *[self.of(v) for v in value.members])
        if kind is GeneratorValue:
            head = ("g", value.fresh, value.some, value.count, value.numbers)
            return (*head, value.born < self.trace, self.of(value.element))
        if kind is AtValue:
            return ("at", self.of(value.base), None if value.index is None else self.of(value.index))
        return ("id", id(value))

    def _named(self, values: dict[str, Value]) -> list[Any]:
        return [(k, self.of(v)) for k, v in values.items()]

    def _key_state(self, value: Any) -> tuple[Any, ...]:
        """How the key that this may be, and the parts already taken of it, have been used so far."""
        if not self.uses:
            return ()
        whole: Any = canonical_key(value)
        used = self.uses.get(whole)
        state: tuple[Any, ...] = tuple([u.summary for u in used]) if used else ()
        if value.parts or (isinstance(whole, (Array, Opaque)) and whole.parts):
            # Uses are counted outside of staging boundaries, where the parts are too.
            used_parts = [(step, self.of(part)) for step, part in self._parts(value).items() if self._is_used(part)]
            if used_parts:
                state += ("parts", *used_parts)
        return state

    def _parts(self, value: Array | Opaque) -> dict[str, Value]:
        """The parts taken of a value, here and outside of the staging boundaries around."""
        whole = canonical_key(value)
        outside = whole.parts if isinstance(whole, (Array, Opaque)) else None
        return {**(outside or {}), **(value.parts or {})}

    def _is_used(self, value: Any, depth: int = 3) -> bool:
        """The key that this may be was used, or a part of it."""
        if not isinstance(value, (Array, Tree, Unknown)):
            return False
        if canonical_key(value) in self.uses:
            return True
        return depth > 0 and any(self._is_used(p, depth - 1) for p in self._parts(value).values())


def fingerprint_one(value: Value) -> Any:
    """The fingerprint of a single value, its key state left out."""
    return Fingerprint().of(value)
