"""What ``jit`` refuses as an argument: values that surely are no arrays, and parameters whose annotations say so.

Vocabulary
----------
plain class   a class of the project whose objects are surely no pytrees: nothing registers it, and no base does.

Limitations: objects of library classes other than optimizers of optax and layers of Flax linen; annotations other than a class
of the module by its name.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.knowledge.history import load_histories
from flake8_jax.semantics.domain.classes import find_in_class, mro_of
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    ExternalMethod,
    FunctionValue,
    GeneratorValue,
    Instance,
    ListValue,
    PartialValue,
    Static,
    TransformedValue,
    TupleValue,
    UnionValue,
    Value,
    is_registered,
)
from flake8_jax.semantics.events.events import RootMet

JITS = frozenset({"jax.jit", "flax.nnx.jit"})
_STATICS = frozenset({"static_argnums", "static_argnames", "**"})
_FUNCTIONS = ("jax.numpy.", "jax.nn.", "jax.lax.", "jax.random.", "jax.scipy.", "math.", "builtins.")
"""Modules of which everything that is no known constant is a function or a class."""
HOOKS = ("__new__", "__init_subclass__", "__jax_array__", "__get__", "tree_flatten")
"""What a class that registers itself, or one that turns into an array, has."""
_OBJECTS = frozenset({"flax.linen.Module", "haiku.Module", "abc.ABC", "typing.Generic", "builtins.object"})
"""Bases that register no pytree. Modules of Equinox are pytrees; those of NNX are graphs, which nnx.jit takes apart."""
_LAYERS = "flax.linen."
"""How the names of layers begin that are no pytrees, but plain frozen objects."""
_OPTIMIZERS = frozenset({"optax.GradientTransformation", "optax.GradientTransformationExtraArgs"})
_NUMBERS = frozenset({"int", "float", "complex"})
"""JAX takes objects of their subclasses too (0.10.2, by running it)."""
_OWN_TRAITS = frozenset({"pytree", "namedtuple", "enum", "metaclass", "altered"})


def annotated_object(event: RootMet) -> tuple[ir.Parameter, ClassValue] | None:
    """``@jax.jit def forward(model: Model, params, x)``: the parameter that an object of a plain class is for."""
    operand = event.operand
    if event.name not in JITS or not _STATICS.isdisjoint(event.options) or not isinstance(operand, FunctionValue):
        return None
    for parameter in operand.fn.params:
        annotation = parameter.annotation
        cls = operand.scope.slots.get(annotation.id) if isinstance(annotation, ir.Name) else None
        if parameter.default is None and isinstance(cls, ClassValue) and _is_plain(cls) and not _has_heirs(cls):
            return parameter, cls
    return None


def _has_heirs(cls: ClassValue) -> bool:
    """An object of a subclass may arrive instead, which may be a pytree."""
    return bool(cls.subclasses) or "abc.ABC" in cls.external_bases


def is_no_array(value: Value, depth: int = 4) -> bool:
    """The value, or a leaf of it, surely is neither an array nor a number."""
    if isinstance(value, UnionValue):
        return all(is_no_array(member, depth) for member in value.members)
    if isinstance(value, Const):
        return isinstance(value.value, (str, bytes))
    if isinstance(value, Static):
        return value.kind in ("str", "dtype", "set") and not value.guess
    if isinstance(value, Instance):
        return value.exact and _is_plain(value.cls)
    if isinstance(value, ExternalInstance):
        return value.exact and value.cls.startswith(_LAYERS)
    if is_optimizer(value):
        return True
    if depth and isinstance(value, TupleValue):
        return not is_registered(value) and any(is_no_array(element, depth - 1) for element in value.elts)
    if depth and isinstance(value, ListValue):
        return any(is_no_array(element, depth - 1) for element in value.known() or ())
    if depth and isinstance(value, DictValue):
        return any(is_no_array(item, depth - 1) for _, item in value.items())
    return is_callable(value)


def refused_kind(value: Value, depth: int = 4) -> str:
    """What a result holds that JAX refuses: ``a generator``, ``a module``, ``a function``, ``a string``; empty for nothing."""
    if isinstance(value, GeneratorValue):
        return "a generator"
    if isinstance(value, External) and load_histories().is_module(value.name):
        return "a module"
    if isinstance(value, Const):
        return "a string" if isinstance(value.value, str) else ""
    if depth and isinstance(value, TupleValue) and not is_registered(value):
        return next((kind for element in value.elts if (kind := refused_kind(element, depth - 1))), "")
    if depth and isinstance(value, ListValue):
        return next((kind for element in value.known() or () if (kind := refused_kind(element, depth - 1))), "")
    if depth and isinstance(value, DictValue):
        return next((kind for _, item in value.items() if (kind := refused_kind(item, depth - 1))), "")
    is_function = isinstance(value, (FunctionValue, BoundMethod, External)) and is_callable(value)
    return "a function" if is_function else ""


def is_optimizer(value: Value) -> bool:
    """A pair of functions that an optimizer of optax is."""
    return isinstance(value, TupleValue) and isinstance(value.cls, External) and value.cls.name in _OPTIMIZERS


def is_callable(value: Value) -> bool:
    """The value surely is a function or a class, and not a pytree that can be called."""
    if isinstance(value, FunctionValue):
        return not value.altered
    if isinstance(value, PartialValue):
        return not value.pytree
    if isinstance(value, (BoundMethod, ExternalMethod)):
        receiver = value.self_value
        if isinstance(receiver, ExternalInstance):
            return receiver.exact and receiver.cls.startswith(_LAYERS)
        return isinstance(receiver, Instance) and receiver.exact and _is_plain(receiver.cls)
    if isinstance(value, TransformedValue):
        return value.name.startswith("jax.")
    if isinstance(value, BuiltinValue):
        return value.bound is None
    return isinstance(value, ClassValue) or (isinstance(value, External) and value.name.startswith(_FUNCTIONS))


def _is_plain(cls: ClassValue) -> bool:
    """Its objects are surely not registered as pytrees."""
    if cls.has_unknown_base or not _OBJECTS.issuperset(cls.external_bases) or cls.traits & _OWN_TRAITS:
        return False
    bases = [base for owner in mro_of(cls) for base in owner.bases]
    if any(isinstance(base, BuiltinValue) and base.name in _NUMBERS for base in bases):
        return False
    return not any(find_in_class(cls, name) for name in HOOKS)
