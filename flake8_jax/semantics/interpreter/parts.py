"""Changes of values of unknown structure: what is stored in them, and what a call may have left there.

Vocabulary
----------
part        an attribute or an item of an opaque value, which is remembered so that two reads give one value.
mutator     a method that changes what it belongs to, whatever that is: ``update``, ``pop``.

Limitations: other methods, which may change their object as well; two names for one item, ``x["a"]`` and ``x.a``.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.semantics.domain.values import Const, Opaque, Tree, Unknown, Value
from flake8_jax.semantics.machine.core import Machine

MUTATORS = frozenset({"update", "pop", "popitem", "setdefault", "clear", "__setitem__", "setitem"})


def store_part(m: Machine, base: Opaque, index: Value, value: Value) -> None:
    """``base[index] = value``: a name says which item that is; any other index may be any of them."""
    if isinstance(index, Const) and isinstance(index.value, str):
        m.journal.write(_parts_of(base), f"[{index.value!r}]", value)
    else:
        forget_parts(m, base, "[")


def forget_parts(m: Machine, base: Opaque, kinds: str = "[.") -> None:
    """The items and attributes that were read are now others."""
    parts = _parts_of(base)
    for step in [step for step in parts if step and step[0] in kinds and step[1:] not in MUTATORS]:
        m.journal.write(parts, step, Tree(base.level) if isinstance(base, Tree) else Unknown(step))


def track_method_call(m: Machine, func: Any) -> None:
    """A method of an unknown value is called."""
    if isinstance(func, Unknown) and isinstance(func.parent, Opaque) and func.step.lstrip(".") in MUTATORS:
        forget_parts(m, func.parent)


def _parts_of(base: Opaque) -> dict[str, Value]:
    if base.parts is None:
        base.parts = {}
    return base.parts
