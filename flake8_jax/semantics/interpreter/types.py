"""``isinstance``, ``hasattr`` and ``callable`` on abstract values.

On a tracer ``isinstance(x, jax.Array)`` and ``isinstance(x, jax.core.Tracer)`` hold and NumPy's and Python's own
types do not; whatever is not certain is answered with None.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.semantics.domain.scopes import Frame
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
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import evaluate, lookup

ARRAY_CLASSES = frozenset({"jax.Array", "jax.numpy.ndarray", "jaxtyping.Array", "chex.Array", "jax.typing.ArrayLike",
                           "jax.core.Array", "chex.ArrayDevice"})  # fmt: skip
TRACER_CLASSES = frozenset({"jax.core.Tracer", "jax.extend.core.Tracer", "jax.interpreters.partial_eval.Tracer"})
_PYTHON_TYPES = frozenset({"int", "float", "bool", "str", "bytes", "complex", "tuple", "list", "dict", "set", "frozenset",
                           "type", "slice", "range"})  # fmt: skip
_LEAF_TYPES = frozenset({"int", "float", "bool", "str", "bytes", "complex", "numpy.ndarray", "numpy.generic"})
"""What no pytree of tracers is: it is a tracer itself, or a container of them."""
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


def instance_test(m: Machine, value: Value, classes: Value) -> bool | None:
    """``isinstance(value, classes)`` where it is certain."""
    if isinstance(classes, (TupleValue, ListValue)):
        parts = classes.elts if isinstance(classes, TupleValue) else (classes.known() or ())
        answers = [instance_test(m, value, c) for c in parts]
        if any(a is True for a in answers):
            return True
        return False if answers and all(a is False for a in answers) else None
    if isinstance(classes, UnionValue):
        answers = [instance_test(m, value, c) for c in classes.members]
        if any(a is True for a in answers):
            return True
        return False if all(a is False for a in answers) else None
    name = _class_name(classes)
    if isinstance(value, UnionValue):
        answers = [instance_test(m, v, classes) for v in value.members]
        return answers[0] if len(set(answers)) == 1 else None
    if isinstance(value, Array):
        return _array_test(value, name, classes)
    if isinstance(value, Tree):
        return False if value.level >= GRAD and name in _LEAF_TYPES else None
    if isinstance(value, Const):
        return _const_test(value, name, classes)
    if isinstance(value, Static):
        if name == "int" and value.kind == "bool":
            return True
        if value.kind in ("int", "bool", "str", "float") and name in _PYTHON_TYPES:
            return value.kind == name
        if value.kind in ("int", "bool", "str", "float", "shape") and (name in ARRAY_CLASSES or name in TRACER_CLASSES):
            return False
        return None
    if isinstance(value, HostArray):
        return False if name in TRACER_CLASSES or name == "jax.Array" else None
    if isinstance(value, TupleValue):
        if name == "tuple":
            return True
        if isinstance(classes, ClassValue):
            return value.cls is classes if isinstance(value.cls, ClassValue) else False
        return False if name in _PYTHON_TYPES or name in ARRAY_CLASSES or name in TRACER_CLASSES else None
    if isinstance(value, ListValue):
        if name in ("list", "tuple"):
            return (name == "tuple") == value.is_tuple
        return False if name in _PYTHON_TYPES or name in ARRAY_CLASSES or name in TRACER_CLASSES else None
    if isinstance(value, DictValue):
        if name == "dict":
            return True
        return False if name in _PYTHON_TYPES or name in ARRAY_CLASSES or name in TRACER_CLASSES else None
    if isinstance(value, FunctionValue):
        return False if name in _PYTHON_TYPES or name in ARRAY_CLASSES or name in TRACER_CLASSES else None
    if isinstance(value, Instance):
        return _instance_test(m, value, classes, name)
    if isinstance(value, ExternalInstance):
        return True if value.cls == name else None
    return None


def _class_name(classes: Value) -> str:
    if isinstance(classes, External):
        return classes.name
    if isinstance(classes, BuiltinValue):
        return classes.name
    return ""


def _array_test(value: Array, name: str, classes: Value) -> bool | None:
    if name in ARRAY_CLASSES:
        return True
    if name in TRACER_CLASSES:
        return True if value.level in (ABSTRACT, GRAD) else None if value.level == MAYBE else False
    if name in _PYTHON_TYPES or isinstance(classes, ClassValue):
        return False
    if name.startswith(_PYTHON_MODULES):
        return None if name in ("typing.Any", "typing.Hashable", "collections.abc.Hashable", "collections.abc.Iterable",
                                "collections.abc.Sized", "typing.Iterable", "numbers.Number") else False  # fmt: skip
    return None


def _const_test(value: Const, name: str, classes: Value) -> bool | None:
    if value.value is None:
        return name in ("NoneType", "types.NoneType", "object")
    if name in _PYTHON_TYPES:
        actual = type(value.value).__name__
        return actual == name or (actual == "bool" and name == "int")
    if name in ARRAY_CLASSES or name in TRACER_CLASSES or isinstance(classes, ClassValue):
        return name == "jax.typing.ArrayLike"
    return None


def _instance_test(m: Machine, value: Instance, classes: Value, name: str) -> bool | None:
    from flake8_jax.semantics.domain.classes import mro_of

    if isinstance(classes, ClassValue):
        if classes in mro_of(value.cls):
            return True
        return False if value.exact and not value.cls.has_unknown_base else None
    if name in _PYTHON_TYPES and not value.cls.external_bases and not value.cls.has_unknown_base:
        return False
    if name in ARRAY_CLASSES and value.exact and not value.cls.has_unknown_base:
        return None if value.cls.external_bases else False
    if name in value.cls.external_bases:
        return True
    return None


def value_of_class(m: Machine, value: Unknown | Tree, classes: Value) -> Value | None:
    """What an unknown value is once it is known to be an instance of ``classes``; None if nothing more is learnt."""
    name = _class_name(classes)
    made: Value | None = None
    if name in ARRAY_CLASSES or name in TRACER_CLASSES:
        level = value.level if isinstance(value, Tree) else MAYBE
        if name in TRACER_CLASSES:
            return None
        array = Array(level)
        array.origin = value
        made = array
    elif name in ("int", "bool", "str", "float") and isinstance(value, Unknown):
        made = Static(name)
    elif isinstance(classes, ClassValue):
        from flake8_jax.semantics.interpreter.classes import generic_instance

        made = generic_instance(m, classes, level=value.level if isinstance(value, Tree) else None)
    return made


def has_attribute(m: Machine, value: Value, name: str) -> bool | None:
    """``hasattr(value, name)`` where it is certain."""
    if isinstance(value, Array):
        fact = m.program.knowledge.class_("jax.Array")
        known = fact is not None and (name in fact.fields or name in fact.methods)
        return True if known or name in ("shape", "dtype", "ndim", "size") else None
    if isinstance(value, (Const, Static)) and name in ("shape", "dtype", "ndim"):
        if isinstance(value, Static) and value.kind not in ("int", "str", "bool", "float"):
            return None
        return False
    if isinstance(value, (TupleValue, ListValue, DictValue)) and name in ("shape", "dtype", "ndim"):
        return False
    if isinstance(value, HostArray) and name in ("shape", "dtype", "ndim", "size"):
        return True
    if isinstance(value, Instance):
        from flake8_jax.semantics.domain.classes import find_in_class

        if name in value.slots or find_in_class(value.cls, name) is not None:
            return True
        if value.exact and value.complete and not value.cls.has_unknown_base and not value.cls.external_bases:
            return False
    return None


def untraced_outcome(m: Machine, frame: Frame, node: ir.Call) -> bool | None:
    """The outcome of a test that says that a value is no tracer: ``isinstance(x, Tracer)`` or a function of the project
    that returns just that. None for other tests."""
    if not isinstance(node.func, ir.Name):
        return None
    func = lookup(m, frame, node.func.id)
    if not isinstance(func, FunctionValue):
        return None if func is not None or not _asks_for_tracer(m, frame, node) else False
    last = func.fn.body[-1] if len(func.fn.body) <= 2 else None
    outcome, told = False, last.value if isinstance(last, ir.Return) else None
    while isinstance(told, ir.UnaryOp) and told.op == "not":
        outcome, told = not outcome, told.operand
    inner = Frame(None, func.scope, func.closure)
    return outcome if isinstance(told, ir.Call) and _asks_for_tracer(m, inner, told) else None


def _asks_for_tracer(m: Machine, frame: Frame, node: ir.Call) -> bool:
    """``isinstance(…, Tracer)``."""
    if not isinstance(node.func, ir.Name) or node.func.id != "isinstance" or len(node.args) != 2:
        return False
    if lookup(m, frame, "isinstance") is not None:
        return False
    return _class_name(evaluate(m, frame, node.args[1].value)) in TRACER_CLASSES
