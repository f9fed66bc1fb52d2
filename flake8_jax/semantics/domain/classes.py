"""Questions about project classes that their values answer alone: ancestors, attributes, overriding methods.

Vocabulary
----------
ancestor    a project class in which an attribute is looked for; the class itself is the first.
override    the definition of an attribute in a subclass.
stub        a method that only says what subclasses must do.

Limitations: C3 linearization where it differs from the last place of each ancestor; ``__mro_entries__``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flake8_jax.core import ir
from flake8_jax.semantics.domain.values import ClassValue, Value

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import ModuleScope


PROTOCOLS = frozenset({"typing.Protocol", "typing_extensions.Protocol"})


def is_remade(cls: ClassValue) -> bool:
    """A metaclass of the project made the class, or an unknown base may bring one: what its body binds may
    have become anything, as the members of an enumeration do."""
    return "metaclass" in cls.traits or cls.has_unknown_base


def is_field(cls: ClassValue, name: str, *, exact: bool) -> bool:
    """A constructor that was not followed may have set the attribute; one that a decorator made, any."""
    return "altered" in cls.traits or (not exact and any(f.name == name for f in cls.fields))


MAX_ANCESTORS = 60
"""Of a class with more of them, the others are not known."""


def mro_of(cls: ClassValue) -> list[ClassValue]:
    """The project classes in which an attribute is looked for, in order."""
    if cls.mro_cache is None:
        order: dict[ClassValue, None] = {cls: None}
        for base in cls.bases:
            if isinstance(base, ClassValue):
                for ancestor in mro_of(base):
                    order.pop(ancestor, None)
                    order[ancestor] = None
        cls.mro_cache = list(order)[:MAX_ANCESTORS]
    return cls.mro_cache


def is_deep(cls: ClassValue) -> bool:
    return len(mro_of(cls)) == MAX_ANCESTORS


def find_in_class(cls: ClassValue, name: str) -> tuple[ClassValue, Value] | None:
    """The class that defines an attribute, and its value."""
    for owner in mro_of(cls):
        found = owner.namespace.get(name)
        if found is not None:
            return owner, found
    return None


_ARRAYS = re.compile(r"\b(jax|jnp|chex)\.|\b(?!ND)\w*Array(Like)?\b")
"""``jnp.ndarray``, ``Float[Array, "n"]``, ``JAXArray``; not ``np.ndarray``."""


def says_array(scope: ModuleScope, annotation: ir.Expr) -> bool:
    """By its text, an annotation mentions arrays of JAX: a sign, not a proof."""
    return _ARRAYS.search(scope.text[annotation.start : annotation.end]) is not None


def is_stub(fn: ir.Function) -> bool:
    """A method that only says what subclasses must do: ``...``, ``pass``, ``raise NotImplementedError``."""
    body = fn.body
    if fn.is_lambda and isinstance(body[0], ir.Return):
        value = body[0].value
        return isinstance(value, ir.Constant) and value.kind == "ellipsis"
    if body and isinstance(body[0], ir.ExprStmt) and isinstance(body[0].value, ir.Constant):
        body = body[1:]
    if not body:
        return True
    first = body[0]
    return len(body) == 1 and isinstance(first, (ir.Pass, ir.Raise))
