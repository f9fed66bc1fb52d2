"""A formula of the user's and the stable one that a fix would put in its place, computed on the same values.

Only what has no effects is computed: operators and pure functions, on numbers, arrays and plain containers of them. So no code
of the user runs: not a function, a property or an operator of theirs.

Limitations: formulas in comprehensions and lambdas, whose variables are not the function's. Methods of NumPy arrays.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, MemberDescriptorType, ModuleType
from typing import Any

_OF_JAX = (
    "jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.lax", "jax.nn", "jax.scipy.special", "jax.scipy.linalg",
    "jax.scipy.stats.norm",
)  # fmt: skip
"""Modules whose functions are pure, but for those below."""
_IMPURE = frozenset({
    "save", "savez", "load", "fromfile", "from_dlpack", "set_printoptions", "printoptions", "infeed", "outfeed", "rng_uniform",
})  # fmt: skip
_OF_NUMPY = frozenset({
    "all", "allclose", "any", "argmax", "argmin", "argsort", "array", "asarray", "atleast_1d", "atleast_2d", "average",
    "broadcast_to", "clip", "concatenate", "cumprod", "cumsum", "diff", "dot", "expand_dims", "eye", "full_like", "isclose",
    "linspace", "max", "mean", "median", "min", "moveaxis", "nan_to_num", "nanmax", "nanmean", "nanmin", "nansum", "ndim",
    "ones", "ones_like", "outer", "prod", "ravel", "repeat", "reshape", "round", "shape", "size", "sort", "squeeze", "stack",
    "std", "sum", "swapaxes", "take", "tile", "transpose", "var", "where", "zeros", "zeros_like",
})  # fmt: skip
_METHODS = frozenset({
    "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "cumprod", "cumsum", "dot", "flatten", "item", "max",
    "mean", "min", "prod", "ravel", "repeat", "reshape", "round", "sort", "squeeze", "std", "sum", "swapaxes", "take",
    "transpose", "var",
})  # fmt: skip
"""Methods of arrays of JAX."""
_MOST_INPUTS = {"clip": 3, "where": 3, "nan_to_num": 1}
"""So many positional arguments of a NumPy function come before the one to write to; 2 of all others."""
_NUMBERS = (int, float, complex, bool)
_CONSTANTS = (*_NUMBERS, str, bytes, slice, type(None), type(...))
_GETTERS: tuple[Any, ...] = (
    object.__getattribute__,
    ModuleType.__getattribute__,
    type.__getattribute__,
    tuple.__getattribute__,
)
_OF_NAMED_TUPLE = type(vars(inspect.Arguments)["args"])
_PARTS = (
    ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Call, ast.keyword, ast.Constant, ast.Name, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Compare, ast.cmpop, ast.expr_context,
)  # fmt: skip


@dataclass(frozen=True)
class Call:
    """callee: its name, with dots. inputs: how many positional arguments."""

    callee: str
    inputs: int


@dataclass(frozen=True)
class Formula:
    """Compiled text. read: the names, with dots, that it reads and does not call."""

    code: CodeType
    calls: tuple[Call, ...]
    read: tuple[str, ...]


def compiled(text: str) -> Formula | None:
    """The text as a formula, if it is one."""
    try:
        return formula_of(ast.parse(f"({text}\n)", mode="eval").body)
    except SyntaxError:
        return None


def formula_of(node: ast.expr) -> Formula | None:
    """The expression as a formula, if it is one."""
    if not all(isinstance(part, _PARTS) for part in ast.walk(node)):
        return None
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
    made = tuple(Call(_dotted(call.func), len(call.args)) for call in calls)
    if any(not call.callee for call in made) or any(
        word.arg in (None, "out") for call in calls for word in call.keywords
    ):
        return None
    whole = ast.fix_missing_locations(ast.Expression(node))
    return Formula(compile(whole, "<formula>", "eval"), made, tuple(_read(node)))


def _read(node: ast.AST) -> Iterator[str]:
    """The names, with dots, that an expression reads and does not call."""
    name = _dotted(node) if isinstance(node, ast.expr) else ""
    if name:
        yield name
        return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Call) and child is node.func):
            yield from _read(child)


def _dotted(node: ast.expr) -> str:
    """A name with dots; empty for anything else."""
    if isinstance(node, ast.Attribute):
        first = _dotted(node.value)
        return f"{first}.{node.attr}" if first else ""
    return node.id if isinstance(node, ast.Name) else ""


def formula_pair(request: Mapping[str, Any]) -> tuple[Formula, Formula] | None:
    """What a watch's request says under ``formula``: the text as it is, and as a fix would have it."""
    before, after = request.get("formula") or ("", "")
    pair = compiled(before) if before else None, compiled(after) if after else None
    return (pair[0], pair[1]) if pair[0] is not None and pair[1] is not None else None


def is_pure(formula: Formula, names: Mapping[str, Any]) -> bool:
    """Whether to compute a formula with these values runs no code of the user and changes nothing."""
    try:
        return all(_is_pure_call(call, names) for call in formula.calls) and all(
            _is_plain(_resolved(name, names)) for name in formula.read
        )
    except (AttributeError, KeyError):
        return False


def _is_pure_call(call: Call, names: Mapping[str, Any]) -> bool:
    """Raises AttributeError or KeyError for what it does not know."""
    import jax
    import numpy

    owner_name, _, name = call.callee.rpartition(".")
    owner = _resolved(owner_name, names) if owner_name else None
    if isinstance(owner, jax.Array):
        return name in _METHODS
    if owner_name and not isinstance(owner, ModuleType):
        return False
    function = _resolved(call.callee, names)
    if isinstance(function, numpy.ufunc):
        return call.inputs <= function.nin
    if isinstance(function, type) and issubclass(function, numpy.generic):
        return function is not numpy.object_ and function.__module__ == "numpy"
    name = getattr(function, "__name__", name)
    if name in _IMPURE:
        return False
    modules = [sys.modules[module] for module in (*_OF_JAX, "math") if module in sys.modules]
    if any(vars(module).get(name) is function for module in modules):
        return True
    return name in _OF_NUMPY and getattr(numpy, name) is function and call.inputs <= _MOST_INPUTS.get(name, 2)


def _resolved(name: str, names: Mapping[str, Any]) -> Any:
    """What a name with dots stands for. Raises AttributeError or KeyError where only code of the user could tell."""
    first, *attributes = name.split(".")
    types = {kind.__name__: kind for kind in _NUMBERS}
    value = names[first] if first in names else types[first]
    for attribute in attributes:
        value = _attribute(value, attribute)
    return value


def _attribute(value: Any, name: str) -> Any:
    if _is_plain(value) or (isinstance(value, ModuleType) and _is_of_library(value.__name__)):
        return getattr(value, name)
    if type(value).__getattribute__ not in _GETTERS:
        raise AttributeError(name)
    found = inspect.getattr_static(value, name)
    if isinstance(found, (MemberDescriptorType, _OF_NAMED_TUPLE)):
        return getattr(value, name)
    if hasattr(type(found), "__get__") and not isinstance(value, ModuleType):
        raise AttributeError(name)
    return found


def _is_plain(value: Any) -> bool:
    """Whether operators on a value run no code of the user."""
    import jax
    import numpy

    if type(value) in _CONSTANTS or isinstance(value, (jax.Array, numpy.dtype)):
        return True
    if isinstance(value, type):
        return value in _NUMBERS or _is_of_library(value.__module__)
    if type(value) is numpy.ndarray or isinstance(value, numpy.generic):
        return not value.dtype.hasobject
    if type(value) in (list, tuple):
        return all(_is_plain(item) for item in value)
    return type(value) is dict and all(_is_plain(item) for pair in value.items() for item in pair)


def _is_of_library(module: str) -> bool:
    return module.partition(".")[0] in ("jax", "numpy")
