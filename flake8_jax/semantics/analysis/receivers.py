"""Which objects of the project carry arrays through a staging boundary: what a presumed run takes ``self`` for.

A class that is registered as a pytree is made to be passed to staged functions, and its methods are called there. That
an instance then holds tracers is presumed where there is a place for arrays in it.

Vocabulary
----------
place     a field or attribute that crosses the boundary as (part of) a leaf, and is an array, a pytree of arrays, or an
          object with such a place.
heirs     subclasses; a base that lists no fields of its own is what most of them are.
abstract  a class that leaves it to its subclasses to say what their leaves are.

Limitations: which of several instances holds arrays and which Python numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_jax.semantics.domain.classes import find_in_class, is_stub
from flake8_jax.semantics.domain.values import (
    Array,
    ClassValue,
    DictValue,
    FunctionValue,
    Instance,
    ListValue,
    Tree,
    TupleValue,
    UnionValue,
    Value,
)
from flake8_jax.semantics.interpreter.classes import generic_instance

if TYPE_CHECKING:
    from flake8_jax.semantics.machine.core import Machine

_FLATTENING = ("tree_flatten", "tree_flatten_with_keys")


def carries_arrays(m: Machine, cls: ClassValue, within: tuple[ClassValue, ...] = ()) -> bool:
    """Instances have a place for arrays among their leaves."""
    if "namedtuple" in cls.traits and cls not in within:
        made = generic_instance(m, cls)
        return isinstance(made, TupleValue) and any(_has_place(m, v, (*within, cls)) for v in made.elts)
    if "pytree" not in cls.traits or cls in within or cls.childless:
        return False
    for name in _FLATTENING:
        found = find_in_class(cls, name)
        if found is not None and isinstance(found[1], FunctionValue) and is_stub(found[1].fn):
            return False  # abstract
    if cls.leaf_names and "dataclass" not in cls.traits:
        return True
    made = generic_instance(m, cls)
    if isinstance(made, Instance):
        if not made.slots and "dataclass" not in cls.traits:
            return True  # whatever it is made of, only a flatten function that is not readable knows
        places = [v for name, v in made.slots.items() if name not in cls.static_names]
        if any(_has_place(m, v, (*within, cls)) for v in places):
            return True
    if "dataclass" in cls.traits:
        return False  # it lists its own fields; those that subclasses add are not what its methods are about
    heirs = [carries_arrays(m, heir, (*within, cls)) for heir in m.program.subclasses(cls)]
    return sum(heirs) * 2 > len(heirs)


def _has_place(m: Machine, value: Value, within: tuple[ClassValue, ...], depth: int = 3) -> bool:
    """There is an array in a value, or in any of what it may be."""
    if isinstance(value, (Array, Tree)):
        return True
    if isinstance(value, Instance):
        return carries_arrays(m, value.cls, within)
    parts: list[Value] = []
    if isinstance(value, TupleValue):
        parts = list(value.elts)
    elif isinstance(value, UnionValue):
        parts = list(value.members)
    elif isinstance(value, (ListValue, DictValue)):
        parts = [v for v in value.slots.values() if isinstance(v, Value)]
    return depth > 0 and any(_has_place(m, part, within, depth - 1) for part in parts)
