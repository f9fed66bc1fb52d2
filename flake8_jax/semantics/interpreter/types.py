"""``isinstance``, ``hasattr`` and ``callable`` on abstract values.

On a tracer ``isinstance(x, jax.Array)`` and ``isinstance(x, jax.core.Tracer)`` hold and NumPy's and Python's own
types do not; whatever is not certain is answered with None.

Vocabulary
----------
asked       the class on the right of ``isinstance``, with the name of one of a library or of Python.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flake8_jax.semantics.domain.classes import find_in_class, mro_of
from flake8_jax.semantics.domain.joining import SHAPES
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    GRAD,
    MAYBE,
    Array,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    FunctionValue,
    HostArray,
    Instance,
    ListValue,
    Static,
    StaticKind,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    known_elements,
)
from flake8_jax.semantics.interpreter.classes import generic_instance
from flake8_jax.semantics.machine.core import Machine

ARRAY_CLASSES = frozenset({"jax.Array", "jax.numpy.ndarray", "jaxtyping.Array", "chex.Array", "jax.typing.ArrayLike",
                           "jax.core.Array", "chex.ArrayDevice"})  # fmt: skip
TRACER_CLASSES = frozenset({"jax.core.Tracer", "jax.extend.core.Tracer", "jax.interpreters.partial_eval.Tracer"})
_PYTHON_TYPES = frozenset({"int", "float", "bool", "str", "bytes", "complex", "tuple", "list", "dict", "set", "frozenset",
                           "type", "slice", "range"})  # fmt: skip
_LEAF_TYPES = frozenset({"int", "float", "bool", "str", "bytes", "complex", "numpy.ndarray", "numpy.generic"})
"""What no pytree of tracers is: it is a tracer itself, or a container of them."""
_SCALARS: dict[str, StaticKind] = {"int": "int", "bool": "bool", "str": "str", "float": "float"}
_PYTHON_MODULES = (
    "builtins.",
    "numpy.",
    "collections.abc.",
    "typing.",
    "numbers.",
    "collections.",
    "enum.",
    "pathlib.",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The class in an ``isinstance`` test. name: of a class of a library or of Python, else empty."""

    cls: Value
    name: str

    @property
    def of_arrays(self) -> bool:
        """It is a class of arrays or of tracers."""
        return self.name in ARRAY_CLASSES or self.name in TRACER_CLASSES

    @property
    def of_python_or_arrays(self) -> bool:
        return self.name in _PYTHON_TYPES or self.of_arrays


def instance_test(m: Machine, value: Value, classes: Value) -> bool | None:
    """``isinstance(value, classes)`` where it is certain."""
    if isinstance(classes, (TupleValue, ListValue, UnionValue)):
        parts = classes.members if isinstance(classes, UnionValue) else known_elements(classes) or ()
        return _any_holds([instance_test(m, value, c) for c in parts])
    if isinstance(value, UnionValue):
        answers = [instance_test(m, v, classes) for v in value.members]
        return answers[0] if len(set(answers)) == 1 else None
    test = _TESTS.get(type(value))
    return test(value, Asked(classes, _class_name(classes))) if test is not None else None


def _any_holds(answers: list[bool | None]) -> bool | None:
    """One of the answers is yes; None where that is not certain."""
    if any(a is True for a in answers):
        return True
    return False if answers and all(a is False for a in answers) else None


def _class_name(classes: Value) -> str:
    if isinstance(classes, External):
        return classes.name
    if isinstance(classes, BuiltinValue):
        return classes.name
    return ""


def _test_array(value: Array, asked: Asked) -> bool | None:
    name = asked.name
    if name in ARRAY_CLASSES:
        return True
    if name in TRACER_CLASSES:
        return True if value.level in (ABSTRACT, GRAD) else None if value.level == MAYBE else False
    if name in _PYTHON_TYPES or isinstance(asked.cls, ClassValue):
        return False
    if name.startswith(_PYTHON_MODULES):
        return None if name in ("typing.Any", "typing.Hashable", "collections.abc.Hashable", "collections.abc.Iterable",
                                "collections.abc.Sized", "typing.Iterable", "numbers.Number") else False  # fmt: skip
    return None


def _test_tree(value: Tree, asked: Asked) -> bool | None:
    is_leaf = asked.name in _LEAF_TYPES or asked.name.startswith("numpy.")
    return False if value.level >= GRAD and is_leaf else None


def _test_const(value: Const, asked: Asked) -> bool | None:
    if value.value is None:
        return asked.name in ("NoneType", "types.NoneType", "object")
    if asked.name in _PYTHON_TYPES:
        actual = type(value.value).__name__
        return actual == asked.name or (actual == "bool" and asked.name == "int")
    if asked.of_arrays or isinstance(asked.cls, ClassValue):
        return asked.name == "jax.typing.ArrayLike"
    return None


def _test_static(value: Static, asked: Asked) -> bool | None:
    if asked.name == "int" and value.kind == "bool":
        return True
    if value.kind in _SCALARS and asked.name in _PYTHON_TYPES:
        return value.kind == asked.name
    return False if (value.kind in _SCALARS or value.kind == "shape") and asked.of_arrays else None


def _test_host_array(value: HostArray, asked: Asked) -> bool | None:
    return False if asked.name in TRACER_CLASSES or asked.name == "jax.Array" else None


def _test_tuple(value: TupleValue, asked: Asked) -> bool | None:
    if asked.name == "tuple":
        return True
    if isinstance(asked.cls, ClassValue):
        return value.cls is asked.cls if isinstance(value.cls, ClassValue) else False
    return False if asked.of_python_or_arrays else None


def _test_list(value: ListValue, asked: Asked) -> bool | None:
    if asked.name in ("list", "tuple"):
        return (asked.name == "tuple") == value.is_tuple
    return False if asked.of_python_or_arrays else None


def _test_dict(value: DictValue, asked: Asked) -> bool | None:
    if asked.name == "dict":
        return True
    return False if asked.of_python_or_arrays else None


def _test_function(value: FunctionValue, asked: Asked) -> bool | None:
    return False if asked.of_python_or_arrays else None


def _test_instance(value: Instance, asked: Asked) -> bool | None:
    cls = value.cls
    if isinstance(asked.cls, ClassValue):
        if asked.cls in mro_of(cls):
            return True
        return False if value.exact and not cls.has_unknown_base else None
    if asked.name in _PYTHON_TYPES and not cls.external_bases and not cls.has_unknown_base:
        return False
    if asked.name in ARRAY_CLASSES and value.exact and not cls.has_unknown_base:
        return None if cls.external_bases else False
    return True if asked.name in cls.external_bases else None


def _test_external_instance(value: ExternalInstance, asked: Asked) -> bool | None:
    return True if value.cls == asked.name else None


_TESTS: dict[type, Callable[[Any, Asked], bool | None]] = {
    Array: _test_array,
    Tree: _test_tree,
    Const: _test_const,
    Static: _test_static,
    HostArray: _test_host_array,
    TupleValue: _test_tuple,
    ListValue: _test_list,
    DictValue: _test_dict,
    FunctionValue: _test_function,
    Instance: _test_instance,
    ExternalInstance: _test_external_instance,
}
"""``isinstance`` by the type of the value; of a value of another type nothing is certain."""


def value_of_class(m: Machine, value: Unknown | Tree, classes: Value) -> Value | None:
    """What an unknown value is once it is known to be an instance of ``classes``; None if nothing more is learnt."""
    name = _class_name(classes)
    if name in TRACER_CLASSES:
        return None
    if name in ARRAY_CLASSES:
        array = Array(value.level if isinstance(value, Tree) else MAYBE)
        array.origin = value
        return array
    if name in _SCALARS and isinstance(value, Unknown):
        return Static(_SCALARS[name])
    if name in SHAPES:
        return ExternalInstance(name)
    if isinstance(classes, ClassValue):
        return generic_instance(m, classes, level=value.level if isinstance(value, Tree) else None)
    return None


_OF_ARRAYS = frozenset({"shape", "dtype", "ndim"})
"""Attributes of arrays that Python's own numbers, strings and containers lack."""


def has_attribute(m: Machine, value: Value, name: str) -> bool | None:
    """``hasattr(value, name)`` where it is certain."""
    if isinstance(value, Array):
        fact = m.program.knowledge.class_("jax.Array")
        known = fact is not None and (name in fact.fields or name in fact.methods)
        return True if known or name in _OF_ARRAYS or name == "size" else None
    if isinstance(value, HostArray):
        return True if name in _OF_ARRAYS or name == "size" else None
    if isinstance(value, Static):
        return False if name in _OF_ARRAYS and value.kind in _SCALARS else None
    if isinstance(value, (Const, TupleValue, ListValue, DictValue)):
        return False if name in _OF_ARRAYS else None
    return _object_has(value, name) if isinstance(value, Instance) else None


def _object_has(value: Instance, name: str) -> bool | None:
    cls = value.cls
    if name in value.slots or find_in_class(cls, name) is not None:
        return True
    complete = value.exact and value.complete and not cls.has_unknown_base and not cls.external_bases
    return False if complete else None


def asks_for_tracers(classes: Value) -> bool:
    """One of the classes of an ``isinstance`` test is that of tracers."""
    if isinstance(classes, (TupleValue, ListValue, UnionValue)):
        parts = classes.members if isinstance(classes, UnionValue) else known_elements(classes) or ()
        return any(asks_for_tracers(part) for part in parts)
    return _class_name(classes) in TRACER_CLASSES
