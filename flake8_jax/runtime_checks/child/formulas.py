"""A formula of the user's and the stable one that a fix would put in its place, computed on the same values.

Only formulas are computed: names, numbers, operators and calls of what JAX, NumPy and ``math`` offer. Computing them once
more changes nothing.

Limitations: formulas in comprehensions and lambdas, whose variables are not the function's.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any

_LIBRARIES = frozenset({"jax", "numpy", "math"})
_WITH_EFFECTS = frozenset({"random", "debug", "debugging", "experimental", "callback", "io_callback", "pure_callback"})
_PARTS = (
    ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Call, ast.keyword, ast.Constant, ast.Name, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Compare, ast.cmpop, ast.expr_context,
)  # fmt: skip


@dataclass(frozen=True)
class Formula:
    """Compiled text. callees: the names that it calls, with dots."""

    code: CodeType
    callees: tuple[str, ...]


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
    callees = [_dotted(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)]
    if "" in callees:
        return None
    whole = ast.fix_missing_locations(ast.Expression(node))
    return Formula(compile(whole, "<formula>", "eval"), tuple(callees))


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


def may_be_called(formula: Formula, names: Mapping[str, Any]) -> bool:
    """Whether all that a formula calls changes nothing: functions of libraries, and methods of arrays of JAX."""
    return all(_changes_nothing(callee, names) for callee in formula.callees)


def _changes_nothing(callee: str, names: Mapping[str, Any]) -> bool:
    import jax

    first, *attributes = callee.split(".")
    value = names.get(first)
    if isinstance(value, jax.Array):
        return True
    if not isinstance(value, ModuleType) and not callable(value):
        return False
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or ""
    parts = {*module.split("."), *attributes}
    return module.partition(".")[0] in _LIBRARIES and not parts & _WITH_EFFECTS
