"""A formula of the user's and the stable one that a fix would put in its place, computed on the same values.

They are evaluated where the line stands, just before it runs, from the values that its variables have there. Only formulas are:
names, numbers, operators and calls of what JAX, NumPy and ``math`` offer, so that computing them once more changes nothing.

Limitations: formulas in comprehensions and lambdas, whose variables are not the function's.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from types import CodeType, FrameType, ModuleType
from typing import Any

MOST = 20  # comparisons of one formula
_LIBRARIES = frozenset({"jax", "numpy", "math"})
_PARTS = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Call, ast.keyword, ast.Constant, ast.Name,
    ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.expr_context,
)  # fmt: skip


@dataclass(frozen=True)
class Formula:
    """Compiled text. callees: the first parts of the names that it calls."""

    code: CodeType
    callees: tuple[str, ...]


def compiled(text: str) -> Formula | None:
    """The text as a formula, if it is one."""
    try:
        tree = ast.parse(f"({text}\n)", mode="eval")
    except SyntaxError:
        return None
    if not all(isinstance(node, _PARTS) for node in ast.walk(tree)):
        return None
    callees = [_first_part(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if "" in callees:
        return None
    return Formula(compile(tree, "<formula>", "eval"), tuple(callees))


def _first_part(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def difference(one: Formula, other: Formula, frame: FrameType) -> float | None:
    """How far the two lie from each other in this frame, relatively to the other; infinity where only one is finite, or only
    one has a finite gradient where JAX differentiates the frame; None where they cannot be computed."""
    import jax

    read = set(one.code.co_names) | set(other.code.co_names)
    given = {**frame.f_globals, **frame.f_locals}
    values = {name: _primal(given[name]) for name in read & given.keys()}
    names = {"jax": jax, "jnp": jax.numpy, **values}
    if not all(_is_of_library(names.get(callee)) for callee in (*one.callees, *other.callees)):
        return None
    try:
        first, second = eval(one.code, {}, names), eval(other.code, {}, names)
    except Exception:  # the formula may raise whatever the program would: then it shows nothing
        return None
    apart = _relative(first, second)
    derived = {name: values[name] for name in values if values[name] is not given[name]}
    if derived and apart is not None and _has_finite_gradient(other, names, derived):
        return apart if _has_finite_gradient(one, names, derived) else float("inf")
    return apart


def _primal(value: Any) -> Any:
    """The value of an array that JAX differentiates by, outside of jit."""
    import jax

    while isinstance(value, jax.core.Tracer) and hasattr(value, "primal"):
        value = value.primal
    return value


def _has_finite_gradient(formula: Formula, names: Mapping[str, Any], derived: Mapping[str, Any]) -> bool:
    import jax
    import numpy

    def total(inputs: Mapping[str, Any]) -> Any:
        return jax.numpy.sum(eval(formula.code, {}, {**names, **inputs}))

    try:
        gradient = jax.grad(total)(dict(derived))
    except Exception:  # integers, say: then it shows nothing
        return False
    return all(bool(numpy.isfinite(leaf).all()) for leaf in jax.tree_util.tree_leaves(gradient))


def _is_of_library(value: Any) -> bool:
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or ""
    return name.partition(".")[0] in _LIBRARIES


def _relative(first: Any, second: Any) -> float | None:
    import jax
    import numpy

    if any(isinstance(leaf, jax.core.Tracer) for leaf in (first, second)):
        return None
    one, other = numpy.asarray(first, dtype=float), numpy.asarray(second, dtype=float)
    if one.shape != other.shape or not one.size:
        return None
    if not numpy.array_equal(numpy.isfinite(one), numpy.isfinite(other)):
        return float("inf")
    finite = numpy.isfinite(other) & (other != 0)
    apart = numpy.abs(one - other)[finite] / numpy.abs(other)[finite]
    return float(numpy.max(apart, initial=0.0))


def formula_pair(request: Mapping[str, Any]) -> tuple[Formula, Formula] | None:
    """What a watch's request says under ``formula``: the text as it is, and as a fix would have it."""
    before, after = request.get("formula") or ("", "")
    pair = compiled(before) if before else None, compiled(after) if after else None
    return (pair[0], pair[1]) if pair[0] is not None and pair[1] is not None else None
