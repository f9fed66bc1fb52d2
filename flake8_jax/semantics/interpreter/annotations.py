"""What an annotation says of a value that no caller passes: where no call is known, ``int``, ``bool``, ``str``, ``Callable``
and configuration classes mean static; ``jax.Array``, jaxtyping and known pytree classes mean what they say.

Under a transform the boundary decides, not the annotation: ``n: int`` under plain ``jax.jit`` is traced.

Vocabulary
----------
generic     an annotation with parts in brackets: ``tuple[int, ...]``, ``Float[Array, ...]``.
described   a value of which nothing is known but what the annotation says.
"""

from __future__ import annotations

from collections.abc import Callable

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.values import (
    MAYBE,
    NONE,
    Array,
    BuiltinValue,
    ClassValue,
    DictValue,
    External,
    HostArray,
    ListValue,
    Static,
    StaticKind,
    TupleValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.interpreter.classes import generic_instance
from flake8_jax.semantics.interpreter.objects import make_instance
from flake8_jax.semantics.interpreter.operations import resolve_name, value_of_annotation
from flake8_jax.semantics.interpreter.types import ARRAY_CLASSES
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import DESCRIBE

_STATIC: dict[str, StaticKind] = {"int": "int", "bool": "bool", "str": "str", "float": "float"}
_SCALARS = frozenset({"jaxtyping.Scalar", "jaxtyping.ScalarLike"})
_KEYS = frozenset(
    {"jaxtyping.PRNGKeyArray", "chex.PRNGKey", "jax.random.PRNGKeyArray", "jax.random.KeyArray", "jaxtyping.Key"}
)
_JAXTYPING = frozenset({"Float", "Int", "Bool", "Complex", "Inexact", "Num", "Real", "Shaped", "Integer", "UInt",
                        "Float32", "Float64", "Float16", "BFloat16", "Int32", "Int64", "UInt8"})  # fmt: skip
_JAXTYPING_DTYPES = {"Bool": "bool", "Int": "int", "Integer": "int", "UInt": "int", "Int32": "int", "Float": "float",
                     "Float32": "float", "Float64": "float", "Float16": "float", "Complex": "complex"}  # fmt: skip


def _plain(m: Machine, scope: ModuleScope, frame: Frame | None, node: ir.Expr) -> Value | None:
    target = resolve_name(m, scope, frame, node)
    if isinstance(target, BuiltinValue):
        kind = _STATIC.get(target.name)
        if kind is not None:
            return Static(kind)
        if target.name == "dict":
            return DictValue({}, Unknown("item"), is_open=True)
        if target.name in ("list", "tuple"):
            return ListValue(None, Unknown("element"), is_tuple=target.name == "tuple")
        return None
    if isinstance(target, External):
        return _library_class(m, target.name)
    return generic_instance(m, target) if isinstance(target, ClassValue) else None


def _library_class(m: Machine, name: str) -> Value | None:
    if name in ("jax.typing.ArrayLike",):
        return None
    if name in _KEYS or name.rpartition(".")[2] in ("PRNGKey", "PRNGKeyArray", "KeyArray"):
        return Array(MAYBE, "key")
    if name in ARRAY_CLASSES or name in _SCALARS or name in ("jax.core.Tracer", "optax.Array", "chex.Numeric"):
        return Array(MAYBE, declared=True) if name != "chex.Numeric" else None
    if name == "numpy.ndarray":
        return HostArray(declared=True)
    if name in ("typing.Callable", "collections.abc.Callable"):
        return Unknown("function")
    fact = m.program.knowledge.class_(name)
    if fact is not None and (fact.fields or fact.methods) and not fact.decorator:
        return make_instance(m, name, MAYBE)
    return None


def _subscripted(m: Machine, scope: ModuleScope, frame: Frame | None, node: ir.Subscript) -> Value | None:
    target = resolve_name(m, scope, frame, node.value)
    parts: list[ir.Expr] = node.index.elts if isinstance(node.index, ir.Tuple) else [node.index]
    name = target.name if isinstance(target, (External, BuiltinValue)) else ""
    short = name.rpartition(".")[2]
    describe = _GENERICS.get(short)
    if describe is not None:
        return describe(m, scope, frame, parts)
    if name.startswith("jaxtyping.") and short in _JAXTYPING:
        if _JAXTYPING_DTYPES.get(short) in ("int", "bool") and last_name(parts[0]) in ("Scalar", "ScalarLike"):
            return (
                None  # ``Int[Scalar, ""]`` is written of Python's own numbers, too, which ``filter_jit`` leaves static
            )
        return Array(MAYBE, _JAXTYPING_DTYPES.get(short, ""), declared=True)
    if name.startswith("jaxtyping.") and short == "Key":
        return Array(MAYBE, "key")
    return _plain(m, scope, frame, node.value) if isinstance(target, ClassValue) else None


def _optional(m: Machine, scope: ModuleScope, frame: Frame | None, parts: list[ir.Expr]) -> Value | None:
    return _either(m, scope, frame, [*parts, ir.Constant(0, 0, "none", None)])


def _first(m: Machine, scope: ModuleScope, frame: Frame | None, parts: list[ir.Expr]) -> Value | None:
    return value_of_annotation(m, scope, frame, parts[0])


def _tuple(m: Machine, scope: ModuleScope, frame: Frame | None, parts: list[ir.Expr]) -> Value | None:
    if len(parts) == 2 and isinstance(parts[1], ir.Constant) and parts[1].kind == "ellipsis":
        return ListValue(None, _or_unknown(m, scope, frame, parts[0]), is_tuple=True)
    return TupleValue(tuple(_or_unknown(m, scope, frame, p) for p in parts))


def _list(m: Machine, scope: ModuleScope, frame: Frame | None, parts: list[ir.Expr]) -> Value | None:
    made = ListValue(None, _or_unknown(m, scope, frame, parts[0]))
    made.slots["declared"] = True
    return made


def _sequence(m: Machine, scope: ModuleScope, frame: Frame | None, parts: list[ir.Expr]) -> Value | None:
    """An annotation that is read for what it names in turn, and says nothing of the structure."""
    _or_unknown(m, scope, frame, parts[0])
    return None


def _dict(m: Machine, scope: ModuleScope, frame: Frame | None, parts: list[ir.Expr]) -> Value | None:
    if len(parts) != 2:
        return None
    made = DictValue({}, _or_unknown(m, scope, frame, parts[1]), is_open=True)
    made.slots["declared"] = True
    return made


def _callable(m: Machine, scope: ModuleScope, frame: Frame | None, parts: list[ir.Expr]) -> Value | None:
    return Unknown("function")


def _or_unknown(m: Machine, scope: ModuleScope, frame: Frame | None, node: ir.Expr) -> Value:
    return value_of_annotation(m, scope, frame, node) or Unknown("annotated")


def _either(m: Machine, scope: ModuleScope, frame: Frame | None, nodes: list[ir.Expr]) -> Value | None:
    """``A | B``: only what is known of all of them."""
    values = [value_of_annotation(m, scope, frame, n) for n in nodes]
    if any(v is None for v in values):
        return None
    return joining.union_of([v for v in values if v is not None])


_GENERICS: dict[str, Callable[[Machine, ModuleScope, Frame | None, list[ir.Expr]], Value | None]] = {
    "Optional": _optional,
    "Union": _either,
    "Callable": _callable,
    **dict.fromkeys(("Annotated", "Final", "ClassVar", "Required", "AbstractVar", "AbstractClassVar"), _first),
    **dict.fromkeys(("tuple", "Tuple"), _tuple),
    **dict.fromkeys(("list", "List"), _list),
    **dict.fromkeys(("Sequence", "Iterable", "Collection"), _sequence),
    **dict.fromkeys(("dict", "Dict", "Mapping", "MutableMapping"), _dict),
}
"""What ``X[…]`` says, by the last part of the name of ``X``."""


def _constant(m: Machine, scope: ModuleScope, frame: Frame | None, node: ir.Constant) -> Value | None:
    """None, or a name in quotes."""
    if node.kind == "none":
        return NONE
    if node.kind == "str" and isinstance(node.value, str) and node.value.isidentifier():
        return value_of_annotation(m, scope, frame, ir.Name(node.start, node.end, node.value))
    return None


def _operation(m: Machine, scope: ModuleScope, frame: Frame | None, node: ir.BinOp) -> Value | None:
    return _either(m, scope, frame, [node.left, node.right]) if node.op == "|" else None


DESCRIBE.update(
    {
        ir.Constant: _constant,
        ir.BinOp: _operation,
        ir.Subscript: _subscripted,
        ir.Name: _plain,
        ir.Attribute: _plain,
    }
)
