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
    from collections.abc import Iterable

    from flake8_jax.semantics.machine.core import Machine

_FLATTENING = ("tree_flatten", "tree_flatten_with_keys")


def carries_arrays(m: Machine, cls: ClassValue) -> bool:
    """Instances have a place for arrays among their leaves."""
    return _carries(m, cls, ()) is True


def _carries(m: Machine, cls: ClassValue, within: tuple[ClassValue, ...]) -> bool | None:
    """The same; None where that hangs on the classes whose places are being looked at."""
    if cls in within:
        return None
    if "namedtuple" in cls.traits:
        made = generic_instance(m, cls)
        return isinstance(made, TupleValue) and _any(_has_place(m, v, (*within, cls)) for v in made.elts)
    if "pytree" not in cls.traits or cls.childless:
        return False
    for name in _FLATTENING:
        found = find_in_class(cls, name)
        if found is not None and isinstance(found[1], FunctionValue) and is_stub(found[1].fn):
            return False  # abstract
    if cls.leaf_names and "dataclass" not in cls.traits:
        return True
    made = generic_instance(m, cls)
    own: bool | None = False
    has_fields = not isinstance(made, Instance) or bool(made.slots)
    if isinstance(made, Instance):
        if not made.slots and "dataclass" not in cls.traits:
            return True  # whatever it is made of, only a flatten function that is not readable knows
        places = [v for name, v in made.slots.items() if name not in cls.static_names]
        own = _any(_has_place(m, v, (*within, cls)) for v in places)
    if own or ("dataclass" in cls.traits and has_fields):
        return own  # it lists its own fields; those that subclasses add are not what its methods are about
    known = [known for heir in m.program.subclasses(cls) if (known := _carries(m, heir, (*within, cls))) is not None]
    return sum(known) * 2 > len(known) if known else own


def _any(answers: Iterable[bool | None]) -> bool | None:
    """Whether one of them is true; None where that is not known."""
    known = list(answers)
    return True if True in known else None if None in known else False


def _has_place(m: Machine, value: Value, within: tuple[ClassValue, ...], depth: int = 3) -> bool | None:
    """There is an array in a value, or in any of what it may be."""
    if isinstance(value, (Array, Tree)):
        return True
    if isinstance(value, Instance):
        return _carries(m, value.cls, within)
    parts: list[Value] = []
    if isinstance(value, TupleValue):
        parts = list(value.elts)
    elif isinstance(value, UnionValue):
        parts = list(value.members)
    elif isinstance(value, (ListValue, DictValue)):
        parts = [v for v in value.slots.values() if isinstance(v, Value)]
    return _any(_has_place(m, part, within, depth - 1) for part in parts) if depth > 0 else False
