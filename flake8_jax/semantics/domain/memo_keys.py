"""Descriptions of abstract values that are equal only if a function run on the values cannot tell them apart.

Vocabulary
----------
memo key    hashable; objects with an identity (aliases) are numbered in order of first visit.
cut         there was more to describe than the budget allows; the memoization key then says nothing.

Limitations: what a callable closes over beyond the values that its memoization key visits.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.sizes import grade
from flake8_jax.semantics.domain.values import (
    BATCH,
    LOADER,
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
    from collections.abc import Callable, Iterable

    from flake8_jax.semantics.domain.varying import Variation


MAX_NODES = 100


def equivalent(a: Value, b: Value, depth: int = 6) -> bool:
    """Whether a loop that brought ``b`` where ``a`` stood has reached its fixpoint there."""
    if a is b:
        return True
    if type(a) is not type(b) or depth == 0:
        return False
    return bool(memo_key_of(a) == memo_key_of(b))


_NAMED = 3
"""The mark of the result of a step that only its name shows, in a loop that runs."""
_DISTINGUISHED = frozenset({LOADER, BATCH})
"""Labels that a function could tell."""


class MemoKey:
    """Numbers the objects that it visits; ``objects`` are those with an identity, in the order of first visit.
    cut: there were more than the budget allowed. trace: the innermost one, which some of the objects are older than.
    labels: the conditions that tell alternatives of the values apart. timing: which readings of a clock they hold matters."""

    __slots__ = (
        "budget", "cut", "labels", "loops", "numbers", "objects", "presumed", "timing", "trace", "uses", "variations",
    )  # fmt: skip

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
        self.timing = False
        self.cut = False
        self.variations: dict[Value, Variation] = {}
        self.labels: set[Any] = set()

    def of(self, value: Any) -> Any:
        kind = type(value)
        if self.variations and kind in VARYING and id(value) not in self.numbers:
            variation = self.variations.get(value)
            if variation is not None:
                return ("varies", variation.mark, self._described(kind, value))
        return self._described(kind, value)

    def _described(self, kind: type, value: Any) -> Any:
        plain = _PLAIN.get(kind)
        if plain is not None:
            return plain(self, value)
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
        structure = _STRUCTURE.get(kind)
        return structure(self, value) if structure is not None else ("id", identity)

    # Of values without an identity of their own.

    def _const(self, value: Const) -> Any:
        const = value.value
        if const is None or const is True or const is False:
            return const
        if const == -1:
            const = "-1"  # Python hashes -1 and -2 alike
        return ("c", type(const).__name__, const if const == const else "nan")

    def _static(self, value: Static) -> Any:
        for _, held in value.choices:
            self.labels |= held
        head = ("s", value.kind, value.guess, value.rank, value.made_in < self.trace)
        return head if value.first is None else (*head, value.first)

    def _external(self, value: External) -> Any:
        return ("e", value.name)

    def _host_array(self, value: HostArray) -> Any:
        readings = value.readings if self.timing else min(len(value.readings), 2)
        head = ("h", value.dtype, value.ndim, grade(value.size), readings, value.declared)
        return head if value.length is None else (*head, value.length)

    def _builtin(self, value: BuiltinValue) -> Any:
        return ("b", value.name, None if value.bound is None else self.of(value.bound))

    def _missing(self, value: Any) -> Any:
        return "missing"

    # Of values with one.

    def _array(self, value: Array) -> Any:
        awaited = self._awaited(value)
        awaited += 4 * grade(value.size) if value.size else 0
        awaited += 16 * value.resized + 32 * value.declared
        head = ("a", value.level, value.dtype, value.ndim, value.length, awaited)
        return (*head, *self._key_state(value)) if self.uses else head

    def _awaited(self, value: Array | Opaque) -> int:
        """Whether the device was given the work that makes the value, and by a loop that runs."""
        dispatched = dispatched_in(value)
        if dispatched < 0:
            return _NAMED * (-dispatched in self.loops)
        return (1 + (dispatched in self.loops)) if dispatched else 0

    def _tree(self, value: Tree) -> Any:
        head = ("t", value.level, self._awaited(value))
        return (*head, *self._key_state(value)) if self.uses else head

    def _unknown(self, value: Unknown) -> Any:
        if self.uses:
            return ("?", value.host_test, value.doubt, value.untraced, self._awaited(value), *self._key_state(value))
        if self.presumed and value.parts and value.origin is not None:
            return ("?", *[(step, self.of(part)) for step, part in value.parts.items()])
        head = ("?", value.host_test, value.doubt, value.untraced, self._awaited(value))
        return (*head, value.label) if value.label in _DISTINGUISHED else head

    def _tuple(self, value: TupleValue) -> Any:
        return ("T", id(value.cls), *[self.of(v) for v in value.elts])

    def _list(self, value: ListValue) -> Any:
        return ("ListValue", value.made_in < self.trace, value.is_tuple, *self._slots(value.slots.items()))

    def _dict(self, value: DictValue) -> Any:
        return ("DictValue", value.made_in < self.trace, False, *self._slots(value.slots.items()))

    # In which order attributes were set or first read makes no difference: sorted.

    def _instance(self, value: Instance) -> Any:
        head = ("i", id(value.cls), value.exact, value.level, value.made_in < self.trace)
        return (*head, *self._slots(sorted(value.slots.items(), key=_name_of_slot)))

    def _external_instance(self, value: ExternalInstance) -> Any:
        head = ("x", value.cls, value.level, value.made_in < self.trace)
        return (*head, *self._slots(sorted(value.slots.items(), key=_name_of_slot)))

    def _slots(self, slots: Iterable[tuple[Any, Any]]) -> list[Any]:
        return [(k, self.of(v) if isinstance(v, Value) else v) for k, v in slots]

    def _function(self, value: FunctionValue) -> Any:
        return ("f", id(value.fn), id(value.closure))

    def _method(self, value: BoundMethod) -> Any:
        return ("m", self.of(value.func), self.of(value.self_value))

    def _partial(self, value: PartialValue) -> Any:
        return ("p", self.of(value.func), *[self.of(v) for v in value.args], *self._named(value.kwargs))

    def _transformed(self, value: TransformedValue) -> Any:
        return ("j", value.name, value.site.start, self.of(value.operand), *self._named(value.options))

    def _union(self, value: UnionValue) -> Any:
        for held in value.conditions or ():
            self.labels |= held
        return ("u", *[self.of(v) for v in value.members])

    def _generator(self, value: GeneratorValue) -> Any:
        head = ("g", value.fresh, value.some, value.count, value.numbers)
        return (*head, value.made_in < self.trace, self.of(value.element))

    def _at(self, value: AtValue) -> Any:
        return ("at", self.of(value.base), None if value.index is None else self.of(value.index))

    def _named(self, values: dict[str, Value]) -> list[Any]:
        return [(k, self.of(v)) for k, v in values.items()]

    def _key_state(self, value: Any) -> tuple[Any, ...]:
        """How the key that this may be, and the parts already taken of it, have been used so far."""
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


_name_of_slot = itemgetter(0)

_PLAIN: dict[type, Callable[[MemoKey, Any], Any]] = {
    Const: MemoKey._const,
    Static: MemoKey._static,
    External: MemoKey._external,
    HostArray: MemoKey._host_array,
    BuiltinValue: MemoKey._builtin,
    type(MISSING): MemoKey._missing,
}
"""Values without an identity of their own: two that are alike are one."""

_STRUCTURE: dict[type, Callable[[MemoKey, Any], Any]] = {
    Array: MemoKey._array,
    Tree: MemoKey._tree,
    Unknown: MemoKey._unknown,
    TupleValue: MemoKey._tuple,
    ListValue: MemoKey._list,
    DictValue: MemoKey._dict,
    Instance: MemoKey._instance,
    ExternalInstance: MemoKey._external_instance,
    FunctionValue: MemoKey._function,
    BoundMethod: MemoKey._method,
    PartialValue: MemoKey._partial,
    TransformedValue: MemoKey._transformed,
    UnionValue: MemoKey._union,
    GeneratorValue: MemoKey._generator,
    AtValue: MemoKey._at,
}
"""Values with an identity; of one of another type nothing but that is described."""


def memo_key_of(value: Value) -> Any:
    """The memoization key of a single value, its key state left out."""
    return MemoKey().of(value)
