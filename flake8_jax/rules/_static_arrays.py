"""Static parameters of which the annotation says that they hold arrays, which have no hash.

Vocabulary
----------
record      a NamedTuple, or a dataclass whose hash is that of its fields.

Limitations: annotations in quotes, parameters with a default (``mask: Array = None``), classes that the file does not bind by
their name.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.rules._units import library_name
from flake8_jax.rules.static_arg_mismatch import named_parameters, signature
from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.hashing import hash_kind
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.signatures import underlying
from flake8_jax.semantics.domain.values import ClassField, ClassValue, FunctionValue
from flake8_jax.semantics.events.events import RootMet

_ARRAYS = frozenset({"jax.Array", "jax.numpy.ndarray", "chex.Array", "chex.ArrayDevice", "numpy.ndarray"})
_OF_ARRAYS = frozenset({"Float", "Float16", "Float32", "Float64", "BFloat16", "Complex", "Inexact", "Shaped"})
"""Types of jaxtyping that are not also written of the whole numbers of Python."""


def static_array(event: RootMet) -> tuple[ir.Parameter, str] | None:
    """The first static parameter that is annotated as an array, or as a record of arrays; with the field of the record."""
    function, known = underlying(event.operand), signature(event.operand)
    if event.name != "jax.jit" or known is None or not isinstance(function, FunctionValue):
        return None
    static = named_parameters(event, "static", known[0])
    for parameter in function.fn.params:
        if parameter.name in static and parameter.annotation is not None and parameter.default is None:
            field = _array_in(function.scope, parameter.annotation)
            if field is not None:
                return parameter, field
    return None


def _array_in(scope: ModuleScope, annotation: ir.Expr) -> str | None:
    """The field that holds an array, empty for an array itself; None where the annotation says of no array."""
    if _is_array(scope, annotation):
        return ""
    cls = scope.slots.get(annotation.id) if isinstance(annotation, ir.Name) else None
    if not isinstance(cls, ClassValue) or cls.subclasses or not _hashes_fields(cls):
        return None
    return next((f.name for f in cls.fields if _holds_array(f)), None)


def _hashes_fields(cls: ClassValue) -> bool:
    if "namedtuple" in cls.traits:
        return "altered" not in cls.traits and find_in_class(cls, "__hash__") is None
    return hash_kind(cls) == "fields"


def _holds_array(field: ClassField) -> bool:
    is_given = field.default is None and field.hashed
    return is_given and field.annotation is not None and _is_array(field.scope, field.annotation)


def _is_array(scope: ModuleScope, annotation: ir.Expr) -> bool:
    if isinstance(annotation, ir.Subscript):
        module, _, name = library_name(annotation.value, scope).rpartition(".")
        return module == "jaxtyping" and name in _OF_ARRAYS
    return library_name(annotation, scope) in _ARRAYS
