"""Masks of attention that make NaN out of minus infinity.

Vocabulary
----------
kept        the elements that a mask does not replace by minus infinity.
emptied     a row of which nothing is kept: ``softmax`` divides 0 by 0 there.
triangle    what ``tril``, ``triu`` or a comparison of two ranges keeps. *strict*: without the diagonal, so that its first or
            last row is emptied.

Limitations: masks that come from data; triangles of ``broadcasted_iota``; matrices that are not written as square.
"""

from __future__ import annotations

import math

from flake8_jax.core import ir
from flake8_jax.semantics.domain.values import SHAPED, Array, Recipe, Value
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.formulas import made_by, number, recipe_of, same

NORMALIZERS = frozenset({"softmax", "log_softmax"})


def makes_nan_where_kept(event: Computation) -> bool:
    """``(1 - mask) * -inf``, or a triangle of numbers times infinity: 0 times infinity is NaN."""
    if event.name != "*" or len(event.operands) != 2:
        return False
    a, b = event.operands
    return any(_is_infinite(scale) and _has_zeros(event, mask) for mask, scale in ((a, b), (b, a)))


def emptied_by(event: Computation) -> Recipe | None:
    """The mask of what ``softmax`` normalizes, if it surely keeps nothing in some row of the last axis."""
    if event.name not in NORMALIZERS or not event.operands or len(event.operands) > 2:
        return None  # ``where=`` may leave such rows out
    if len(event.operands) == 2 and number(event.operands[1]) != -1.0:
        return None
    values = event.operands[0]
    chosen = made_by(event, values, "where")
    total = made_by(event, values, "+") if chosen is None else None
    if total is not None:
        chosen = next((r for v in total.operands if (r := made_by(event, v, "where")) is not None), None)
    if chosen is None or len(chosen.operands) != 3:
        return None
    condition, taken, other = chosen.operands
    kept = _is_minus_infinity(other) and not _is_minus_infinity(taken)
    dropped = _is_minus_infinity(taken) and not _is_minus_infinity(other)
    mask = recipe_of(event, condition)
    return mask if (kept or dropped) and mask is not None and _empties_row(event, mask, negated=dropped) else None


def _is_infinite(value: Value) -> bool:
    known = number(value)
    return known is not None and math.isinf(known)


def _is_minus_infinity(value: Value) -> bool:
    return number(value) == -math.inf


def _has_zeros(event: Computation, mask: Value) -> bool:
    """A mask, as its formula says, of numbers: some of its elements are zero."""
    if not isinstance(mask, Array) or mask.dtype == "bool":
        return False
    rest = made_by(event, mask, "-")
    if rest is not None and len(rest.operands) == 2:
        taken = rest.operands[1]
        return number(rest.operands[0]) == 1.0 and isinstance(taken, Array) and made_by(event, taken, "**") is None
    return made_by(event, mask, "tril", "triu") is not None and mask.dtype in ("int", "float")


def _empties_row(event: Computation, mask: Recipe, *, negated: bool) -> bool:
    if mask.name == "logical_not" and mask.operands:
        inner = recipe_of(event, mask.operands[0])
        return inner is not None and _empties_row(event, inner, negated=not negated)
    if mask.name in ("tril", "triu"):
        lower, offset = mask.name == "tril", number(mask.operands[1]) if len(mask.operands) > 1 else 0.0
        if offset is None:
            return False
        if negated:  # kept is the other triangle, which begins where this one ends
            lower, offset = not lower, offset + (1.0 if lower else -1.0)
        return offset <= -1.0 if lower else offset >= 1.0 and _is_square(mask)
    if mask.name not in (_INCLUSIVE if negated else _STRICT) or len(mask.operands) != 2:
        return False
    node = mask.node
    sides = (node.left, *node.comparators) if isinstance(node, ir.Compare) else ()
    ranges = [_range_behind(event, value) for value in mask.operands]
    whole = len(sides) == 2 and all(_only_adds_axes(side) for side in sides)
    return whole and ranges[0] is not None and ranges[1] is not None and same(event, ranges[0], ranges[1])


_STRICT = frozenset({"<", ">"})
_INCLUSIVE = frozenset({"<=", ">="})


def _range_behind(event: Computation, value: Value) -> Value | None:
    """The ``arange`` that an axis was added to."""
    shaped = made_by(event, value, SHAPED)
    inner = shaped.operands[0] if shaped is not None and len(shaped.operands) == 1 else value
    return inner if made_by(event, inner, "arange") is not None else None


def _only_adds_axes(node: ir.Expr) -> bool:
    """``i[:, None]``, and no slice that leaves elements out."""
    if not isinstance(node, ir.Subscript):
        return False
    parts = node.index.elts if isinstance(node.index, ir.Tuple) else [node.index]
    return all(
        (isinstance(p, ir.Constant) and p.kind in ("none", "ellipsis"))
        or (isinstance(p, ir.Slice) and p.lower is None and p.upper is None and p.step is None)
        or (isinstance(p, ir.Attribute) and p.attr == "newaxis")
        for p in parts
    )


def _is_square(mask: Recipe) -> bool:
    """``triu(ones((n, n)))``: both dimensions are the same variable or number."""
    made = mask.node.args[0].value if isinstance(mask.node, ir.Call) and mask.node.args else None
    shape = made.args[0].value if isinstance(made, ir.Call) and made.args else None
    if not isinstance(shape, ir.Tuple) or len(shape.elts) != 2:
        return False
    a, b = shape.elts
    if isinstance(a, ir.Name) and isinstance(b, ir.Name):
        return a.id == b.id
    return isinstance(a, ir.Constant) and isinstance(b, ir.Constant) and a.value == b.value
